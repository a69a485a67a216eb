-- Answers every request: one that meets an error, such as a key of another type, does not keep the others from theirs.
local answers, k, v, last = {at}, 2, 1, #ARGV
while v <= last do
  local verb, n, keys = ARGV[v], tonumber(ARGV[v + 1]), tonumber(ARGV[v + 2])
  local full, ok, answer = keys > n, false, nil
  v = v + 3
  if verb == 'acquire' then
    ok, answer = pcall(acquire, k, n, v, full)
    v = v + (full and 7 or 3)
  elseif verb == 'settle' then
    ok, answer = pcall(settle, k, n, v, full)
    v = v + n + (full and 6 or 3)
  else
    ok, answer = pcall(extend, k, n, v)
    v = v + 4
  end
  -- A Redis error is a table, or, before Redis 7, a text that begins with the line it comes from.
  if not ok then answer = '-' .. (match(type(answer) == 'table' and answer.err or answer, '%u[%u%d]+ .*') or 'ERR ' .. tostring(answer)) end
  answers[#answers + 1] = answer
  k = k + keys
end
return answers
