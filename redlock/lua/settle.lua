-- Ends what an attempt began on this node. Idempotent; never lowers a floor; never marks another's tenure as released.
--
-- KEYS: 1 marker  2 done  then, key by key: record, waiters
-- ARGV: 1 nonce  2 T, the highest this attempt proposed  3 mode  4 completion record ("T:done:...")  5 its retention_ms
--       6 waiter ("" is not counted): once it had its turn its contention is forgotten
--       then, key by key, the channel that hears of the release
-- mode abandon: the attempt failed; what its grant displaced comes back
--      release: the tenure was won
--      finish:  it was won, and the job is done: all keys must still be ours
--
-- Returns {code, now_us}:
--   REJOIN   (alone) another life or config than the client joined
--   OK       done; also when it is said again
--   NONE     nothing of ours was there
--   STALE    finish only: not ours any more, nothing recorded; released where it was ours
if redis.call('GET', KEYS[1]) ~= '@MARKER@' then return {'REJOIN'} end
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local function s(x) return string.format('%.0f', x) end
local nonce, T, mode, all, records, freed = ARGV[1], tonumber(ARGV[2]), ARGV[3], true, {}, {}
for i = 3, #KEYS, 2 do
  local floor, tok, st, dl, n, pt, ps, pn = '0', '0', '0', '0', '', '0', '0', ''
  local r = redis.call('GET', KEYS[i])
  if r then floor, tok, st, dl, n, pt, ps, pn = string.match(r, '^(%d+):(%d+):(%d):(%d+):([^:]*):(%d+):(%d):([^:]*)$') end
  local ct = tonumber(tok)
  local ours = n == nonce and ct <= T
  local mine = ours and (st == '1' or (st == '2' and mode ~= 'abandon')) -- expired but not taken again is still ours
  local said = ours and st == '0' and ct == T
  all = all and (mine or (said and mode == 'release'))
  if mode == 'abandon' then
    if mine then tok, st, n, dl, pt, ps, pn = pt, ps, pn, '0', '0', '0', '' end
  elseif mine then tok, st, dl = ARGV[2], '0', '0' -- under T also what was an own lower grant: a late extension must find it
  elseif said then -- nothing is left to say
  elseif pn == nonce and tonumber(pt) <= T then ps = '0' -- somebody's short-lived grant stands on ours
  elseif st == '1' and (ct > T or tonumber(dl) > now) then -- another's stands where our grant was missed: ours is noted beneath,
    if tonumber(pt) < T then pt, ps, pn = ARGV[2], '0', nonce end -- for a late extension to find when that is over or undone
  elseif ct < T then tok, st, dl, n = ARGV[2], '0', '0', nonce end -- it missed our grant
  if T <= now + @BOUND@ then floor = s(math.max(tonumber(floor), T + 1)) end -- a late acquire or extension of ours must fail
  records[i] = floor .. ':' .. tok .. ':' .. st .. ':' .. dl .. ':' .. n .. ':' .. pt .. ':' .. ps .. ':' .. pn
  freed[i] = mine
end

local answer = all and 'OK' or 'NONE'
if mode == 'finish' then
  local d = redis.call('GET', KEYS[2])
  if d and string.match(d, '^%d+') == ARGV[2] then answer = 'OK' -- said twice; what is still ours is released below
  elseif all then redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
  else answer = 'STALE' end
end

for i = 3, #KEYS, 2 do
  redis.call('SET', KEYS[i], records[i], 'PX', '@FENCETTL_MS@')
  -- A user may be kept from channels, by default even: waiters poll anyway, and the other keys must be released.
  if freed[i] then redis.pcall('PUBLISH', ARGV[6 + (i - 1) / 2], ARGV[2]) end
  if mode ~= 'abandon' and ARGV[6] ~= '' then redis.call('HDEL', KEYS[i + 1], ARGV[6]) end
end
return {answer, s(now)}
