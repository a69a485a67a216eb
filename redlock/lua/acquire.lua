-- One vote of one node on one token for all keys of a claim: every key is looked at before any is written.
-- @BOUND@ and @FENCETTL@ are in microseconds, @FENCETTL_MS@ in whole milliseconds, since PX takes no other; the client
-- fills them in.
--
-- KEYS: 1 marker (not read yet)  2 done  then, key by key: record, waiters
-- ARGV: 1 nonce (no colon)  2 T  3 ttl_us  4 done: ask (answer DONE), adopt (grant, and answer with it), none (no completion record)
--       5 waiter ("" is not counted)  6 visit: contention is counted once per waiter and visit  7 waiter_life_us
--
-- record  = floor:token:state:deadline:nonce:prev_token:prev_state:prev_nonce
--           state 0 released, 1 held, 2 free but never cleaned up; prev_ is what the grant displaced
-- done    = token:kind:at_ms:hash:result   kind done or void
-- waiters = hash of waiter -> count:since_us:last_us:T:visit
--           A grant only reads it: the attempt may still fail elsewhere. Settling a won one removes it.
--
-- Returns {code, now_us, ...}:
--   FUTURE                             T is ahead of this node's clock by more than Bound
--   DONE    record
--   HELD    key (1..), token, deadline_us, count, since_us
--   LOW     floor                      T is not above it
--   OK      token, count, since_us, record or "", then key by key: displaced token, its state
-- Known to the client, and not answered yet: REJOIN, QUARANTINED.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local function s(x) return string.format('%.0f', x) end -- tostring would cut a 16-digit token
local T, waiter, life = tonumber(ARGV[2]), ARGV[5], tonumber(ARGV[7])
if T > now + @BOUND@ then return {'FUTURE', s(now)} end

local done = ''
if ARGV[4] ~= 'none' then done = redis.call('GET', KEYS[2]) or '' end
if done ~= '' and ARGV[4] == 'ask' and not string.find(done, '^%d+:void:') then return {'DONE', s(now), done} end

local floor, kept, held, displaced = now - @FENCETTL@ + @BOUND@, 0, nil, {}
local count, since, newest, visit = 0, 0, 0, ''
for i = 3, #KEYS, 2 do
  local pt, ps, pn = '0', '0', ''
  local r = redis.call('GET', KEYS[i])
  if r then
    local f, tok, st, dl, n, qt, qs, qn = string.match(r, '^(%d+):(%d+):(%d):(%d+):([^:]*):(%d+):(%d):([^:]*)$')
    floor = math.max(floor, tonumber(f))
    if st == '1' and tonumber(dl) > now then
      if n ~= ARGV[1] then held = held or {(i - 1) / 2, tok, dl}
      elseif tonumber(tok) >= T then kept = kept + 1 end           -- our own grant, its reply was lost
    end
    if n == ARGV[1] and st ~= '0' then pt, ps, pn = qt, qs, qn       -- a higher proposal of the same attempt
    else pt, ps, pn = tok, (st == '1' and '2' or st), n end
  end
  displaced[#displaced + 1] = {pt, ps, pn}
  local w = waiter ~= '' and redis.call('HGET', KEYS[i + 1], waiter)
  if w then
    local c, first, last, proposed, v = string.match(w, '^(%d+):(%d+):(%d+):(%d+):(.*)$')
    if tonumber(last) > now - life and tonumber(c) > count then
      count, since, newest, visit = tonumber(c), tonumber(first), tonumber(proposed), v
    end
  end
end

if held then
  if waiter ~= '' and T > newest then -- a try that a later one has overtaken was not counted, and is not now
    if count == 0 then since = now end
    if visit ~= ARGV[6] then count = count + 1 end
    local w = table.concat({s(count), s(since), s(now), ARGV[2], ARGV[6]}, ':')
    local waiters = KEYS[held[1] * 2 + 2]
    redis.call('HSET', waiters, waiter, w)
    redis.call('PEXPIRE', waiters, s(math.ceil(life / 1000)))
    for _, other in ipairs(redis.call('HRANDFIELD', waiters, 2)) do  -- the busiest hash never expires: drop who stopped trying
      local o = redis.call('HGET', waiters, other)
      if o and tonumber(string.match(o, '^%d+:%d+:(%d+):')) <= now - life then redis.call('HDEL', waiters, other) end
    end
  end
  return {'HELD', s(now), s(held[1]), held[2], held[3], s(count), s(since)}
end

local keys, token = (#KEYS - 2) / 2, ARGV[2]
if kept == keys then token = string.match(redis.call('GET', KEYS[3]), '^%d+:(%d+):')
elseif T <= floor then return {'LOW', s(now), s(floor)}
else
  for i = 1, keys do
    local d = displaced[i]
    redis.call('SET', KEYS[2 * i + 1], table.concat({token, token, '1', s(now + ARGV[3]), ARGV[1], d[1], d[2], d[3]}, ':'), 'PX', @FENCETTL_MS@)
  end
end
local reply = {'OK', s(now), token, s(count), s(since), done}
for i = 1, keys do
  reply[#reply + 1], reply[#reply + 2] = displaced[i][1], displaced[i][2]
end
return reply
