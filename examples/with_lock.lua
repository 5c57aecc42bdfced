--- with_lock: runs a function under a lock and releases it, whatever happens.
-- It ends in one of four ways, all of which are shown here.
--
--     lua5.4 examples/with_lock.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))
local mutex = session:mutex "/examples/with_lock"

-- 1. The function ran under the lock: true, and what it returned.
local ok, sum = mutex:with_lock(function() return 20 + 22 end, { timeout = 5 })
assert(ok and sum == 42)
print("1. it ran:         " .. sum)

-- 2. The lock was not granted: nil, message, code, and the function did not
-- run.  Here another session holds it.
local other = assert(zklock.connect(hosts))
other:mutex("/examples/with_lock"):with_lock(function()
  local granted, message, code = mutex:with_lock(function()
    error "never called"
  end, { timeout = 0.2 })
  assert(granted == nil and code == zklock.errors.timeout)
  print("2. not granted:    " .. message)
end)
other:close()

-- 3. The function raised an error: the lock is released, and the very same
-- error value is raised again.
local oops = { reason = "out of cheese" }
local fine, problem = pcall(mutex.with_lock, mutex, function() error(oops) end)
assert(not fine and problem == oops)
print("3. it raised:      " .. problem.reason)

-- 4. The lock was lost while the function ran: nil, message, "lost", and what
-- the function returned.  Its work was not protected to the end.  Here the
-- lock takes itself back, after 0.2 s.
local protected, message, code, result = mutex:with_lock(function(guard)
  while guard:is_held() do os.execute "sleep 0.1" end
  return "half done"
end, { max_hold = 0.2 })
assert(protected == nil and code == zklock.errors.lost)
print("4. it lost it:     " .. message .. " (" .. result .. ")")

session:close()
