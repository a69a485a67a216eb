-- Compares a client's view of this node with the marker, and writes the marker where the mode allows it. One script, so the
-- first of many clients that find a fresh node writes, and the others join what it wrote. Sent by EVAL: it belongs to no life.
--
-- KEYS: 1 marker = run_id:boot_us:config
-- ARGV: 1 run_id, "ungated" from a client that cannot tell  2 config  3 mode  4 replace only: the marker that must still be there
-- mode look:    write nothing
--      found:   write a marker for a fresh node: its boot, and so its quarantine, is now
--      drain:   put "draining" before another config, which keeps everybody out; its boot says since when
--      replace: write over that marker, or, if none was given, over any. Only to be said after a drain has outlasted every lock
--
-- Returns {code, now_us, marker}:
--   JOINED     this life, this config
--   FRESH      no marker (""), or that of another life, or one from ahead of this node's clock
--   CONFIG     another config
--   DRAINING   and began_us
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local at = string.format('%.0f', now)
local run, config, mode = ARGV[1], ARGV[2], ARGV[3]
local marker = redis.call('GET', KEYS[1]) or ''
local life, boot, text = string.match(marker, '^([^:]*):(%d+):(.*)$')
if not text then life, boot, text = '', at, marker end -- no marker, or none of ours: its text is another config

local verdict = 'FRESH'
if marker ~= '' and text ~= config then verdict = 'CONFIG'
elseif marker ~= '' and (life == run or run == 'ungated') and tonumber(boot) <= now then verdict = 'JOINED' end -- who cannot tell believes the marker
if verdict == 'JOINED' then return {verdict, at, marker} end

if (mode == 'replace' and (ARGV[4] or marker) == marker) or (mode == 'found' and verdict == 'FRESH') then
  verdict, marker = 'JOINED', run .. ':' .. (run == 'ungated' and '0' or at) .. ':' .. config
  redis.call('SET', KEYS[1], marker)
elseif mode == 'drain' and marker ~= '' then
  local old = string.gsub(text, '^draining ', '')
  if old == text or tonumber(boot) > now then -- a drain that began ahead of the clock begins again
    boot, marker = at, run .. ':' .. at .. ':draining ' .. old
    redis.call('SET', KEYS[1], marker)
  end
  return {'DRAINING', at, marker, boot}
end
return {verdict, at, marker}
