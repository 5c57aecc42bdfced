--- Fencing: how a resource refuses a holder that is late.
--
-- No lock can stop a process that was paused after it looked, and goes on
-- when its hold is over.  The resource can: it remembers the largest token
-- that it has seen, and refuses smaller ones.
--
--     lua5.4 examples/fencing.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"

-- What the lock protects.  In SQL this would be: UPDATE … SET value = ?,
-- token = ? WHERE token <= ?
local resource = { token = "", value = nil }

function resource:write(token, value)
  if token < self.token then return false end
  self.token, self.value = token, value
  return true
end

local slow = assert(zklock.connect(hosts))
local quick = assert(zklock.connect(hosts))

-- The slow one takes the lock; then it is held up, here for longer than it
-- may have it.
local guard = assert(slow:mutex("/examples/fencing"):acquire {
  timeout = 5, max_hold = 0.2,
})
local late_token = guard:token()
print("slow has the lock, token  " .. late_token)

-- Meanwhile the lock goes to the quick one, which writes.
local ok = assert(quick:mutex("/examples/fencing"):with_lock(function(held)
  print("quick has the lock, token " .. held:token())
  assert(held:token() > late_token)
  return assert(resource:write(held:token(), "quick was here"))
end, { timeout = 5 }))
assert(ok)

-- The slow one wakes up and, without a look at guard:is_held(), writes.
local accepted = resource:write(late_token, "slow overwrites it")
assert(not accepted and resource.value == "quick was here")
print("slow is too late: the resource refused its token")

slow:close()
quick:close()
