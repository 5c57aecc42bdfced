--- Revocation: to ask a holder to let go.
--
--     lua5.4 examples/revoke.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))
local other = assert(zklock.connect(hosts)) -- another process would do the same

local guard = assert(session:mutex("/examples/revoke"):acquire(5))

-- The holder decides: it stops at the next safe point, and releases.
local asked = false
guard:on_revoke(function() asked = true end)

assert(other:revoke("/examples/revoke") == 1)
print("asked:    one holder")

local items = 0
while not asked do
  items = items + 1 -- one piece of a long piece of work
  session:mutex("/examples/revoke/tick"):with_lock(function() end)
end
print("stopped:  after item " .. items)
guard:release()

assert(assert(other:mutex("/examples/revoke"):acquire(5)):release())
print("got it:   the one who asked")

other:close()
session:close()
