--- Losing a lock: how a long section learns of it.
--
-- A hold can end without our releasing it: the session expired because no
-- server was in reach, somebody deleted the node, max_hold is over.
--
--     lua5.4 examples/lost.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))

-- max_hold makes the loss happen here: after 0.5 s the lock is taken back.
local mutex = session:mutex("/examples/lost", { max_hold = 0.5 })
local guard = assert(mutex:acquire(5))

-- Called once, by whatever finds it out first: a call that waits, step() in a
-- loop, or else the release.  It stops what was begun, or tells others.
local told
guard:on_lost(function(_, _, reason)
  told = reason
  print("on_lost:   " .. reason)
end)

-- is_held() asks nobody and is cheap: it compares clocks.  Look before every
-- part that must not be done twice.
local done = 0
while done < 100 and guard:is_held() do
  os.execute "sleep 0.1" -- a part of the work
  done = done + 1
end
print(("stopped:   after %d of 100 parts"):format(done))
assert(done < 100 and not told)

-- The release says what has happened; then the lock can be had again.
local ok, message, code = guard:release()
assert(told == "max_hold" and guard:reason() == told)
assert(not ok and code == zklock.errors.lost)
print("release:   " .. message)
assert(mutex:acquire(5)):release()
print("acquired anew")

session:close()
