--- A trace of each lock operation, and metrics for Prometheus.
--
-- For operators: how long are the waits, what is refused, what is lost?
-- Lock: mutex, or any other. Loop: none.
-- Run: make example NAME=metrics
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local mutex = session:mutex "/examples/metrics"

-- Each begin and end of a wait and of a hold, as it happens: for a log. ("Trace
-- events" in doc/api.md has what else stands in an event.)
session:on_trace(function(event)
  print(("trace: %-7s %s"):format(event.what, event.code or event.token
    or event.path))
end)

need(mutex:with_lock({ timeout = 30 }, function() end))

local other = need(zklock.connect(hosts)) -- plays another process
local guard = need(other:mutex("/examples/metrics"):acquire(30))
mutex:acquire(0.2) -- times out
guard:release()
other:close()

-- For Prometheus: the answer of your program at /metrics. This prints a part of
-- it.
for line in session:metrics({ service = "shop" }):gmatch "[^\n]+" do
  if line:find "^zklock_lock_wait_seconds_count"
    or line:find "^zklock_lock_refusals_total"
    or line:find "^zklock_session_up" then
    print(line)
  end
end

session:close()

-- Prints:
--   trace: wait    /examples/metrics
--   trace: grant   0000000000000000042
--   trace: release 0000000000000000042
--   trace: wait    /examples/metrics
--   trace: refuse  timeout
--   zklock_session_up{service="shop"} 1
--   zklock_lock_wait_seconds_count{mode="mutex",path="/examples/metrics",service="shop"} 1
--   zklock_lock_refusals_total{mode="mutex",path="/examples/metrics",service="shop",code="timeout"} 1
