-- Extends a tenure on one node, on all its keys or on none. Works in quarantine: a tenure that is valid has a majority.
--
-- ARGV: 0 nonce  1 T  2 ttl_us  3 not_after_us: until when a missing grant may be set again, in this node's time (0: never)
--
-- Answers:
--   OK                 ours and alive, everywhere
--   REPAIRED           somewhere gone, expired or behind, and set again
--   LOST      token    one is newer, released, or another's
--   GONE               somewhere gone, expired or behind, and too late to repair: no definite loss
local function extend(k, n, v)
  local nonce, text, T, answer, records = ARGV[v], ARGV[v + 1], tonumber(ARGV[v + 1]), 'OK', {}
  local released = text .. ':0:' .. nonce
  local grant = ':' .. text .. ':1:' .. s(now + ARGV[v + 2]) .. ':' .. nonce .. ':'
  for i = 1, n do
    local floor, prev, kept = T, '0:0:', false
    local r = call('GET', KEYS[k + i - 1])
    if r then
      local f, tok, st, dl, owner, before = match(r, '^(%d+):(%d+):(%d):(%d+):([^:]*):(%d+:%d:[^:]*)$')
      local ct, alive = tonumber(tok), st == '1' and tonumber(dl) > now
      if ct > T or (alive and owner ~= nonce) or (ct == T and st == '0') then return 'LOST ' .. tok end
      if before == released then return 'LOST ' .. text end -- before a lower grant of another's that stood here
      floor, kept = math.max(tonumber(f), T), alive and ct == T
      if owner == nonce and st ~= '0' then prev = before
      else prev = tok .. ':' .. (st == '1' and '2' or st) .. ':' .. owner end
    end
    if not kept then answer = 'REPAIRED' end
    records[i] = s(floor) .. grant .. prev
  end
  if answer == 'REPAIRED' and (now > tonumber(ARGV[v + 3]) or T > now + @BOUND@) then return 'GONE' end
  for i = 1, n do call('SET', KEYS[k + i - 1], records[i], 'PX', '@FENCETTL_MS@') end
  return answer
end
