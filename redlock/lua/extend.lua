-- Extends a tenure on one node, on all its keys or on none.
--
-- KEYS: 1 marker (not read yet)  then the record of each key
-- ARGV: 1 nonce  2 T  3 ttl_us  4 not_after_us: until when a missing grant may be set again, in this node's time (not read yet)
--
-- Returns {code, now_us}:
--   OK        ours and alive, everywhere
--   LOST      one is newer, released, or another's; and its token
--   GONE      one is missing, expired or behind: no definite loss
-- Known to the client, and not answered yet: REPAIRED, REJOIN.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local function s(x) return string.format('%.0f', x) end
local T, gone, records = tonumber(ARGV[2]), false, {}
for i = 2, #KEYS do
  local r = redis.call('GET', KEYS[i])
  if not r then gone = true
  else
    local f, tok, st, dl, n, prev = string.match(r, '^(%d+):(%d+):(%d):(%d+):([^:]*):(%d+:%d:[^:]*)$')
    local ct, alive = tonumber(tok), st == '1' and tonumber(dl) > now
    if ct > T or (alive and n ~= ARGV[1]) or (ct == T and st == '0') then return {'LOST', s(now), tok} end
    if alive and ct == T then records[i] = table.concat({s(math.max(tonumber(f), T)), ARGV[2], '1', s(now + ARGV[3]), ARGV[1], prev}, ':')
    else gone = true end
  end
end
if gone then return {'GONE', s(now)} end
for i = 2, #KEYS do redis.call('SET', KEYS[i], records[i], 'PX', @FENCETTL_MS@) end
return {'OK', s(now)}
