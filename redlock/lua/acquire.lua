-- One vote of one node on one token for all keys of a claim: every key is looked at before any is written.
-- The client fills in the marker and the times when it joins a node, so a text and its SHA belong to one life of one node.
-- Times are in microseconds, but in whole milliseconds for PX, which takes no other.
--
-- KEYS: 1 marker  2 done  then, key by key: record, waiters
-- ARGV: 1 nonce (no colon)  2 T  3 ttl_us  4 done: ask (answer DONE), adopt (grant, and answer with it), none (no completion record)
--       5 waiter ("" is not counted)  6 visit: contention is counted once per waiter and visit  7 waiter_life_us
--
-- marker  = run_id:boot_us:config
-- record  = floor:token:state:deadline:nonce:prev_token:prev_state:prev_nonce
--           state 0 released, 1 held, 2 free but never cleaned up; prev_ is what the grant displaced
-- done    = token:kind:at_ms:hash:result   kind done or void
-- waiters = hash of waiter -> count:since_us:last_us:T:visit
--           A grant only reads it: the attempt may still fail elsewhere. Settling a won one removes it.
--
-- Returns {code, now_us, ...}:
--   REJOIN                             (alone) another life or config than the client joined, or the clock is back behind its boot
--   QUARANTINED ready_us               until then a lock that a restart forgot may still be held
--   FUTURE                             T is ahead of this node's clock by more than Bound
--   DONE    record
--   HELD    key (1..), token, deadline_us, count, since_us
--   LOW     floor                      T is not above it
--   OK      token, count, since_us, record or "", then key by key: displaced token, its state
if redis.call('GET', KEYS[1]) ~= '@MARKER@' then return {'REJOIN'} end
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
if now < @BOOT@ then return {'REJOIN'} end
local function s(x) return string.format('%.0f', x) end -- tostring would cut a 16-digit token
local at = s(now)
if now < @READY@ then return {'QUARANTINED', at, '@READY@'} end
local T = tonumber(ARGV[2])
if T > now + @BOUND@ then return {'FUTURE', at} end

local done = ARGV[4] ~= 'none' and redis.call('GET', KEYS[2]) or ''
if done ~= '' and ARGV[4] == 'ask' and not string.find(done, '^%d+:void:') then return {'DONE', at, done} end

local nonce, waiter, life, keys = ARGV[1], ARGV[5], tonumber(ARGV[7]), (#KEYS - 2) / 2
local floor, kept, token, held = math.max(@BOOTFLOOR@, now - @FENCETTL@ + @BOUND@), 0, '0', nil
local count, since, newest, visit = 0, 0, 0, ''
local reply, prev = {'OK', at, ARGV[2], '0', '0', done}, {}
for i = 1, keys do
  local pt, ps, pn = '0', '0', ''
  local r = redis.call('GET', KEYS[2 * i + 1])
  if r then
    local f, tok, st, dl, n, qt, qs, qn = string.match(r, '^(%d+):(%d+):(%d):(%d+):([^:]*):(%d+):(%d):([^:]*)$')
    floor = math.max(floor, tonumber(f))
    if st == '1' and tonumber(dl) > now then
      if n ~= nonce then held = held or {i, tok, dl}
      elseif tonumber(tok) >= T then                                 -- our own grant, its reply was lost
        kept = kept + 1
        if tonumber(tok) > tonumber(token) then token = tok end
      end
    end
    if n == nonce and st ~= '0' then pt, ps, pn = qt, qs, qn           -- a higher proposal of the same attempt
    else pt, ps, pn = tok, (st == '1' and '2' or st), n end
  end
  reply[2 * i + 5], reply[2 * i + 6], prev[i] = pt, ps, pt .. ':' .. ps .. ':' .. pn
  local w = waiter ~= '' and redis.call('HGET', KEYS[2 * i + 2], waiter)
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
    local waiters = KEYS[2 * held[1] + 2]
    redis.call('HSET', waiters, waiter, table.concat({s(count), s(since), at, ARGV[2], ARGV[6]}, ':'))
    redis.call('PEXPIRE', waiters, s(math.ceil(life / 1000)))
    for _, other in ipairs(redis.call('HRANDFIELD', waiters, 2)) do  -- the busiest hash never expires: drop who stopped trying
      local o = redis.call('HGET', waiters, other)
      if o and tonumber(string.match(o, '^%d+:%d+:(%d+):')) <= now - life then redis.call('HDEL', waiters, other) end
    end
  end
  return {'HELD', at, s(held[1]), held[2], held[3], s(count), s(since)}
end

if kept == keys then reply[3] = token
elseif T <= floor then return {'LOW', at, s(floor)}
else
  local grant = ARGV[2] .. ':' .. ARGV[2] .. ':1:' .. s(now + ARGV[3]) .. ':' .. nonce .. ':'
  for i = 1, keys do redis.call('SET', KEYS[2 * i + 1], grant .. prev[i], 'PX', '@FENCETTL_MS@') end
end
if count > 0 then reply[4], reply[5] = s(count), s(since) end
return reply
