--- Fencing: a store refuses a write that comes too late.
--
-- For writes that only one process may make. A lock cannot stop a process that
-- was paused between its check and its write; the store can.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=fencing
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local other = need(zklock.connect(hosts)) -- plays another process

-- The store keeps the largest token that it has seen. In SQL:
-- UPDATE … SET value = ?, token = ? WHERE id = ? AND token <= ?
local store = { token = "", value = nil }

function store:write(token, value)
  local accepted = token >= self.token -- 19 digits: texts compare as numbers do
  if accepted then self.token, self.value = token, value end
  print(("%s writes with %s: %s"):format(value, token,
    accepted and "accepted" or "REFUSED"))
end

-- Ann checks: she holds the lock. Then her machine is paused, for longer than
-- she may hold the lock.
local guard = need(session:mutex("/examples/fencing"):acquire {
  timeout = 30, max_hold = 2,
})
local token = guard:token()
print("is it ann's? " .. tostring(guard:is_held()))

need(other:mutex("/examples/fencing"):with_lock(30, function(theirs)
  store:write(theirs:token(), "bob")
end))

-- Ann's process continues.
store:write(token, "ann")
print("the store has what " .. store.value .. " wrote")

other:close()
session:close()

-- Prints:
--   is it ann's? true
--   bob writes with 0000000000000000043: accepted
--   ann writes with 0000000000000000042: REFUSED
--   the store has what bob wrote
