--- A multi: several locks as one, all or nothing.
--
--     lua5.4 examples/multi.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))
local other = assert(zklock.connect(hosts)) -- another process would do the same

local function account(of, name)
  return of:mutex("/examples/multi/" .. name)
end

-- In whatever order they are named: they are taken in one order, so two
-- transfers between the same accounts never wait for each other.
local transfer = session:multi { account(session, "b"), account(session, "a") }

local ok, message = transfer:with_lock(function(guard)
  for path, token in pairs(guard:tokens()) do
    print("holds:    " .. path .. " with token " .. token)
  end
  -- The parts are ordinary mutexes to everybody else.
  assert(not account(other, "a"):try_acquire())
end, { timeout = 5 })
assert(ok, message)

-- One part is taken: nothing is kept, and the one deadline is for all.
local taken = assert(account(other, "b"):acquire(5))
local _, why, code = transfer:acquire(0.2)
assert(code == zklock.errors.timeout)
print("refused:  " .. why)
assert(assert(account(other, "a"):acquire(5)):release())
print("kept:     nothing")

taken:release()
other:close()
session:close()
