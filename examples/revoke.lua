--- A holder is asked to release the lock, and does so at its next safe point.
--
-- For long jobs that make room for a deployment or a more important job.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=revoke
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local guard = need(session:mutex("/examples/revoke"):acquire(30))

-- The holder decides when. step(), or a call that waits, runs this callback.
local asked = false
guard:on_revoke(function() asked = true end)

-- Another session plays another process, which asks and waits for its turn.
local other = need(zklock.connect(hosts))
local function ask()
  local holders = need(other:revoke "/examples/revoke")
  print("asked:     " .. holders .. " holder")
end

local parts = 0
while parts < 100 and not asked and guard:is_held() do
  io.popen("sleep 0.05"):close() -- a part of the work
  parts = parts + 1
  if parts == 3 then ask() end
  session:step()
end
print("stopped:   " .. (asked and "it was asked to" or "nobody has asked"))
guard:release()

need(other:mutex("/examples/revoke"):acquire(30)):release()
print "handed on: to who has asked"

other:close()
session:close()

-- Prints:
--   asked:     1 holder
--   stopped:   it was asked to
--   handed on: to who has asked
