-- One call carries what a client has for this node: acquires, extensions and settlements, each answered for itself, in their
-- order. All of them see one time, and one look at the marker: the client fills in the marker and the times when it joins a
-- node, so this text and its SHA belong to one life of one node.
-- Times are in microseconds, but in whole milliseconds for PX, which takes no other.
--
-- KEYS: 1 marker = run_id:boot_us:config  then, request by request: the record of each key of its claim, and of a full one
--       done  then the waiters of each key
-- ARGV: request by request: verb  how many keys its claim has  how many KEYS are its own: a claim is full (it has a completion
--       record, or its contention is counted) if they are more  then what the verb takes
--
-- record  = floor:token:state:deadline:nonce:prev_token:prev_state:prev_nonce
--           state 0 released, 1 held, 2 free but never cleaned up; prev_ is what the grant displaced
-- done    = token:kind:at_ms:until_ms:hash:result   kind done or void
-- waiters = hash of waiter -> count:since_us:last_us:T:visit
--
-- Returns {now_us, answer...}, or, from another life or config than the client joined, {REJOIN}. An answer is a code and its
-- fields, with spaces between, and after a newline what may hold any bytes; or "-" and the error that the request met.
local call, format, match = redis.call, string.format, string.match
if call('GET', KEYS[1]) ~= '@MARKER@' then return {'REJOIN'} end
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local function s(x) return format('%.0f', x) end -- tostring would cut a 16-digit token
local at = s(now)
