--- Fencing: a store refuses the write that comes too late.
--
-- For work that must not be done by two, not even by one that was paused between
-- its look at the lock and its write: no lock can stop that, the store can.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=fencing
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C gives back what is held, at once

local function need(result, message) -- or the program ends, and says why
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local other = need(zklock.connect(hosts)) -- as another process would be

-- The store remembers the largest token that it has seen. In SQL this would be:
-- UPDATE … SET value = ?, token = ? WHERE id = ? AND token <= ?
local store = { token = "", value = nil }

function store:write(token, value)
  local accepted = token >= self.token -- 19 digits: as texts, too
  if accepted then self.token, self.value = token, value end
  print(("%s writes with %s: %s"):format(value, token,
    accepted and "accepted" or "REFUSED"))
end

-- Ann looks: she holds the lock. Then her machine stands still, for longer than
-- she may have the lock.
local guard = need(session:mutex("/examples/fencing"):acquire {
  timeout = 5, max_hold = 2,
})
local token = guard:token()
print("is it ann's? " .. tostring(guard:is_held()))

need(other:mutex("/examples/fencing"):with_lock(function(theirs)
  store:write(theirs:token(), "bob")
end, { timeout = 5 }))

-- Ann goes on where she was.
store:write(token, "ann")
print("the store has what " .. store.value .. " wrote")

other:close()
session:close()

-- Prints:
--   is it ann's? true
--   bob writes with 0000000000000000043: accepted
--   ann writes with 0000000000000000042: REFUSED
--   the store has what bob wrote
