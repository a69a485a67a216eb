-- Ends what an attempt began on this node. Idempotent; never lowers a floor; never marks another's tenure as released.
--
-- KEYS: 1 marker (not read yet)  2 done  then, key by key: record, waiters
-- ARGV: 1 nonce  2 T, the highest this attempt proposed  3 mode  4 completion record ("T:done:...")  5 its retention_ms
--       6 waiter ("" is not counted): once it had its turn its contention is forgotten
--       then, key by key, the channel that hears of the release
-- mode abandon: the attempt failed; what its grant displaced comes back
--      release: the tenure was won
--      finish:  it was won, and the job is done: all keys must still be ours
--
-- Returns {code, now_us}:
--   OK       done; also when it is said again
--   NONE     nothing of ours was there
--   STALE    finish only: not ours any more, nothing recorded; released where it was ours
-- Known to the client, and not answered yet: REJOIN.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local function s(x) return string.format('%.0f', x) end
local T, mode, all, records = tonumber(ARGV[2]), ARGV[3], true, {}
for i = 3, #KEYS, 2 do
  local floor, tok, st, dl, n, pt, ps, pn = '0', '0', '0', '0', '', '0', '0', ''
  local r = redis.call('GET', KEYS[i])
  if r then floor, tok, st, dl, n, pt, ps, pn = string.match(r, '^(%d+):(%d+):(%d):(%d+):([^:]*):(%d+):(%d):([^:]*)$') end
  local ours = n == ARGV[1] and tonumber(tok) <= T
  local mine = ours and (st == '1' or (st == '2' and mode ~= 'abandon')) -- expired but not taken again is still ours
  local said = ours and st == '0' and tonumber(tok) == T
  all = all and (mine or (said and mode == 'release'))
  records[i] = {floor = tonumber(floor), tok = tok, st = st, dl = dl, n = n, pt = pt, ps = ps, pn = pn, mine = mine, said = said}
end

local answer = all and 'OK' or 'NONE'
if mode == 'finish' then
  local d = redis.call('GET', KEYS[2])
  if d and string.match(d, '^%d+') == ARGV[2] then answer = 'OK' -- said twice; what is still ours is released below
  elseif all then redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
  else answer = 'STALE' end
end

for i = 3, #KEYS, 2 do
  local r = records[i]
  local alive = r.st == '1' and tonumber(r.dl) > now
  if mode == 'abandon' then
    if r.mine then r.tok, r.st, r.n, r.dl, r.pt, r.ps, r.pn = r.pt, r.ps, r.pn, '0', '0', '0', '' end
  elseif r.mine then r.st, r.dl = '0', '0'
  elseif r.said then -- nothing is left to say
  elseif r.pn == ARGV[1] and tonumber(r.pt) <= T then r.ps = '0' -- somebody's short-lived grant stands on ours
  elseif tonumber(r.tok) < T and not alive then r.tok, r.st, r.dl, r.n = ARGV[2], '0', '0', ARGV[1] end -- it missed our grant
  if T <= now + @BOUND@ then r.floor = math.max(r.floor, T + 1) end -- a late acquire or extension of ours must fail
  redis.call('SET', KEYS[i], table.concat({s(r.floor), r.tok, r.st, r.dl, r.n, r.pt, r.ps, r.pn}, ':'), 'PX', @FENCETTL_MS@)
  -- A user may be kept from channels, by default even: waiters poll anyway, and the other keys must be released.
  if r.mine then redis.pcall('PUBLISH', ARGV[6 + (i - 1) / 2], ARGV[2]) end
  if mode ~= 'abandon' and ARGV[6] ~= '' then redis.call('HDEL', KEYS[i + 1], ARGV[6]) end
end
return {answer, s(now)}
