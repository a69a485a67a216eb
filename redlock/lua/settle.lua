-- Ends what an attempt began on this node. Idempotent; never lowers a floor; never marks another's tenure as released.
--
-- ARGV: 0 nonce  1 T, the highest this attempt proposed  2 mode  then, key by key, the channel that hears of the release
--       and of a full claim  completion record ("T:done:...")  its retention_ms  waiter ("" is not counted): once it had its
--       turn its contention is forgotten
-- mode abandon: the attempt failed; what its grant displaced comes back
--      release: the tenure was won
--      finish:  it was won, and the job is done: all keys must still be ours
--
-- Answers:
--   OK       done; also when it is said again
--   NONE     nothing of ours was there
--   STALE    finish only: not ours any more, nothing recorded; released where it was ours
local function settle(k, n, v, full)
  local nonce, text, T, mode, all, records, freed = ARGV[v], ARGV[v + 1], tonumber(ARGV[v + 1]), ARGV[v + 2], true, {}, {}
  for i = 1, n do
    local floor, tok, st, dl, owner, before = '0', '0', '0', '0', '', '0:0:'
    local r = call('GET', KEYS[k + i - 1])
    if r then floor, tok, st, dl, owner, before = match(r, '^(%d+):(%d+):(%d):(%d+):([^:]*):(%d+:%d:[^:]*)$') end
    local ct = tonumber(tok)
    local ours = owner == nonce and ct <= T
    local mine = ours and (st == '1' or (st == '2' and mode ~= 'abandon')) -- expired but not taken again is still ours
    local said = ours and st == '0' and ct == T
    all = all and (mine or (said and mode == 'release'))
    if mode == 'abandon' then
      if mine then
        tok, st, owner = match(before, '^(%d+):(%d):(.*)$')
        dl, before = '0', '0:0:'
      end
    elseif mine then tok, st, dl = text, '0', '0' -- under T also what was an own lower grant: a late extension must find it
    elseif said then -- nothing is left to say
    else
      local pt, pn = match(before, '^(%d+):%d:(.*)$')
      if pn == nonce and tonumber(pt) <= T then before = pt .. ':0:' .. pn -- somebody's short-lived grant stands on ours
      elseif st == '1' and (ct > T or tonumber(dl) > now) then -- another's stands where our grant was missed: ours is noted
        if tonumber(pt) < T then before = text .. ':0:' .. nonce end -- beneath, for a late extension to find when that is over
      elseif ct < T then tok, st, dl, owner = text, '0', '0', nonce end -- it missed our grant
    end
    if T <= now + @BOUND@ then floor = s(math.max(tonumber(floor), T + 1)) end -- a late acquire or extension of ours must fail
    records[i] = floor .. ':' .. tok .. ':' .. st .. ':' .. dl .. ':' .. owner .. ':' .. before
    freed[i] = mine
  end

  local answer = all and 'OK' or 'NONE'
  v = v + 2 -- the channels are behind it
  if mode == 'finish' then
    local done = call('GET', KEYS[k + n])
    if done and match(done, '^%d+') == text then answer = 'OK' -- said twice; what is still ours is released below
    elseif all then call('SET', KEYS[k + n], ARGV[v + n + 1], 'PX', ARGV[v + n + 2])
    else answer = 'STALE' end
  end
  local waiter = full and mode ~= 'abandon' and ARGV[v + n + 3] or ''
  for i = 1, n do
    call('SET', KEYS[k + i - 1], records[i], 'PX', '@FENCETTL_MS@')
    -- A user may be kept from channels, by default even: waiters poll anyway, and the other keys must be released.
    if freed[i] then redis.pcall('PUBLISH', ARGV[v + i], text) end
    if waiter ~= '' then call('HDEL', KEYS[k + n + i], waiter) end
  end
  return answer
end
