-- Extends a tenure on one node, on all its keys or on none. Works in quarantine: a tenure that is valid has a majority.
--
-- KEYS: 1 marker  then the record of each key
-- ARGV: 1 nonce  2 T  3 ttl_us  4 not_after_us: until when a missing grant may be set again, in this node's time (0: never)
--
-- Returns {code, now_us, ...}:
--   REJOIN             (alone) another life or config than the client joined
--   OK                 ours and alive, everywhere
--   REPAIRED           somewhere gone, expired or behind, and set again
--   LOST      token    one is newer, released, or another's
--   GONE               somewhere gone, expired or behind, and too late to repair: no definite loss
if redis.call('GET', KEYS[1]) ~= '@MARKER@' then return {'REJOIN'} end
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local function s(x) return string.format('%.0f', x) end
local at, nonce, T, answer, records = s(now), ARGV[1], tonumber(ARGV[2]), 'OK', {}
local released = ARGV[2] .. ':0:' .. nonce
local grant = ':' .. ARGV[2] .. ':1:' .. s(now + ARGV[3]) .. ':' .. nonce .. ':'
for i = 2, #KEYS do
  local floor, prev, kept = T, '0:0:', false
  local r = redis.call('GET', KEYS[i])
  if r then
    local f, tok, st, dl, n, before = string.match(r, '^(%d+):(%d+):(%d):(%d+):([^:]*):(%d+:%d:[^:]*)$')
    local ct, alive = tonumber(tok), st == '1' and tonumber(dl) > now
    if ct > T or (alive and n ~= nonce) or (ct == T and st == '0') then return {'LOST', at, tok} end
    if before == released then return {'LOST', at, ARGV[2]} end -- before a lower grant of another's that stood here
    floor, kept = math.max(tonumber(f), T), alive and ct == T
    if n == nonce and st ~= '0' then prev = before
    else prev = tok .. ':' .. (st == '1' and '2' or st) .. ':' .. n end
  end
  if not kept then answer = 'REPAIRED' end
  records[i] = s(floor) .. grant .. prev
end
if answer == 'REPAIRED' and (now > tonumber(ARGV[4]) or T > now + @BOUND@) then return {'GONE', at} end
for i = 2, #KEYS do redis.call('SET', KEYS[i], records[i], 'PX', '@FENCETTL_MS@') end
return {answer, at}
