--- zklock.testing: runs code that uses locks without ZooKeeper and without real
-- waiting.  The servers run in this process, and the test moves the clock.
--
--   testing/core     loads the core for virtual time
--   testing/clock    time, timers, and waits by this clock
--   testing/loops    allows only loops that can wait by this clock
--   testing/socket   LuaSocket and copas by this clock
--   testing/hosts    names and addresses of the servers
--   testing/server   the servers, and their failures
--   testing/hold     holds of other clients
require "zklock.testing.core" -- before all modules that use the core

local check = require "zklock.check"
local clock = require "zklock.testing.clock"
local errors = require "zklock.errors"
local loops = require "zklock.testing.loops"
local servers = require "zklock.testing.server"
local socket = require "zklock.testing.socket"
require "zklock" -- zklock.connect is replaced

local testing = {
  --- Starts a server, or an ensemble: `testing.server { servers = 3 }`.
  server = servers.new,
  --- Returns the seconds of the virtual clock, by which leases are measured.
  now = clock.now,
  --- Returns the servers' time of day, in seconds since 1970.
  time = clock.time,
  --- Closes all sessions and servers that the test has opened:
  -- `after_each(testing.reset)`.
  reset = servers.reset,
  --- The module LuaSocket, whose waits take this clock's time.
  socket = socket.module,
  --- The module copas, whose waits take this clock's time.
  copas = socket.copas,
}

local function check_seconds(seconds, method)
  local name = ("argument 1 of testing.%s"):format(method)
  check.type(seconds, "number", name)
  if not (seconds >= 0 and seconds < 1e9) then
    errors.misuse("%s must be a number of seconds, not negative, got %s", name,
      tostring(seconds))
  end
end

--- Moves the clock by this number of seconds, and calls the callbacks that
-- become due.
function testing.advance(seconds)
  check_seconds(seconds, "advance")
  loops.check_outside "testing.advance"
  clock.advance(seconds)
end

--- Moves the clock by this number of seconds, but calls no callbacks, as if the
-- process had been paused.
function testing.sleep(seconds)
  check_seconds(seconds, "sleep")
  loops.check_outside "testing.sleep"
  clock.sleep(seconds)
end

--- Calls `fn()` when the clock has moved by this number of seconds.
function testing.after(seconds, fn)
  check_seconds(seconds, "after")
  check.callback(fn, "argument 2 of testing.after")
  clock.after(seconds, fn)
end

--- Restarts the random generator of the servers with this seed.
function testing.seed(number)
  check.type(number, "number", "argument 1 of testing.seed")
  if number < 0 or number > 2 ^ 31 or number ~= math.floor(number) then
    errors.misuse("argument 1 of testing.seed must be a whole number from 0 to "
      .. "2147483648, got %s", tostring(number))
  end
  servers.seed(number)
end

return testing
