-- One vote of one node on one token for all keys of a claim: every key is looked at before any is written.
--
-- ARGV: 0 nonce (no colon)  1 T  2 ttl_us  and of a full claim  3 done: ask (answer DONE), adopt (grant, and answer with it),
--       none (no completion record)  4 waiter ("" is not counted)  5 visit: contention is counted once per waiter and visit
--       6 waiter_life_us
--
-- Answers:
--   REJOIN                             the clock is back behind the node's boot
--   QUARANTINED ready_us               until then a lock that a restart forgot may still be held
--   FUTURE                             T is ahead of this node's clock by more than Bound
--   DONE        record
--   HELD        key (1..), token, deadline_us, count, since_us
--   LOW         floor                  T is not above it
--   OK          token, count, since_us, then key by key: displaced token, its state; and the record, if there is one
-- A grant only reads the waiters: the attempt may still fail elsewhere. Settling a won one removes its own.
local lowest = math.max(@BOOTFLOOR@, now - @FENCETTL@ + @BOUND@)

local function waited(k, n, waiter, life)
  local count, since, newest, visit = 0, 0, 0, ''
  for i = 1, n do
    local w = call('HGET', KEYS[k + n + i], waiter)
    if w then
      local c, first, last, proposed, v = match(w, '^(%d+):(%d+):(%d+):(%d+):(.*)$')
      if tonumber(last) > now - life and tonumber(c) > count then
        count, since, newest, visit = tonumber(c), tonumber(first), tonumber(proposed), v
      end
    end
  end
  return count, since, newest, visit
end

local function contend(waiters, life, waiter, entry)
  call('HSET', waiters, waiter, entry)
  call('PEXPIRE', waiters, s(math.ceil(life / 1000)))
  for _, other in ipairs(call('HRANDFIELD', waiters, 2)) do -- the busiest hash never expires: drop who stopped trying
    local o = call('HGET', waiters, other)
    if o and tonumber(match(o, '^%d+:%d+:(%d+):')) <= now - life then call('HDEL', waiters, other) end
  end
end

local function acquire(k, n, v, full)
  if now < @BOOT@ then return 'REJOIN' end
  if now < @READY@ then return 'QUARANTINED @READY@' end
  local nonce, T = ARGV[v], tonumber(ARGV[v + 1])
  if T > now + @BOUND@ then return 'FUTURE' end
  local done = full and ARGV[v + 3] ~= 'none' and call('GET', KEYS[k + n]) or ''
  if done ~= '' and ARGV[v + 3] == 'ask' and not match(done, '^%d+:void:') then return 'DONE\n' .. done end

  local floor, kept, token, held, displaced, prev = lowest, 0, '0', nil, '', {}
  for i = 1, n do
    local pt, ps = '0', '0'
    prev[i] = '0:0:'
    local r = call('GET', KEYS[k + i - 1])
    if r then
      local f, tok, st, dl, owner, before = match(r, '^(%d+):(%d+):(%d):(%d+):([^:]*):(%d+:%d:[^:]*)$')
      floor = math.max(floor, tonumber(f))
      if st == '1' and tonumber(dl) > now then
        if owner ~= nonce then held = held or {i, tok, dl}
        elseif tonumber(tok) >= T then                               -- our own grant, its reply was lost
          kept = kept + 1
          if tonumber(tok) > tonumber(token) then token = tok end
        end
      end
      if owner == nonce and st ~= '0' then                            -- a higher proposal of the same attempt
        prev[i], pt, ps = before, match(before, '^(%d+):(%d)')
      else
        pt, ps = tok, st == '1' and '2' or st
        prev[i] = pt .. ':' .. ps .. ':' .. owner
      end
    end
    displaced = displaced .. ' ' .. pt .. ' ' .. ps
  end

  local waiter, life = full and ARGV[v + 4] or '', nil
  local count, since, newest, visit = 0, 0, 0, ''
  if waiter ~= '' then
    life = tonumber(ARGV[v + 6])
    count, since, newest, visit = waited(k, n, waiter, life)
  end
  if held then
    if waiter ~= '' and T > newest then -- a try that a later one has overtaken was not counted, and is not now
      if count == 0 then since = now end
      if visit ~= ARGV[v + 5] then count = count + 1 end
      contend(KEYS[k + n + held[1]], life, waiter, table.concat({s(count), s(since), at, ARGV[v + 1], ARGV[v + 5]}, ':'))
    end
    return table.concat({'HELD', s(held[1]), held[2], held[3], s(count), s(since)}, ' ')
  end
  if kept < n then
    if T <= floor then return 'LOW ' .. s(floor) end
    token = ARGV[v + 1]
    local grant = token .. ':' .. token .. ':1:' .. s(now + ARGV[v + 2]) .. ':' .. nonce .. ':'
    for i = 1, n do call('SET', KEYS[k + i - 1], grant .. prev[i], 'PX', '@FENCETTL_MS@') end
  end
  if done ~= '' then displaced = displaced .. '\n' .. done end
  return 'OK ' .. token .. ' ' .. s(count) .. ' ' .. s(since) .. displaced
end
