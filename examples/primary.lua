--- A primary with standbys: it is killed, and a standby takes over.
--
-- For services with one leader: a scheduler, a poller, a writer.
-- Lock: election. Loop: none.
-- Run: make example NAME=primary
local zklock = require "zklock"
zklock.release_on_signal("TERM", "INT", "HUP") -- releases first

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

-- A session as short as servers allow: two of their ticks.
local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts, { session_timeout = 4 }))

-- One process of the service: it leads, or waits until it does.
local function serve(name)
  local election = session:election("/examples/primary", { data = name })
  need(election:run(function(guard)
    print(name .. " leads, with the fencing token " .. guard:token())
    guard:on_revoke(function() election:stop() end)
    while guard:is_held() and not election:is_stopping() do
      io.stdout:flush()
      io.popen("sleep 0.05"):close() -- a part of the primary's work
      session:step() -- runs on_revoke
    end
  end))
  print(name .. " has left")
  session:close()
end

if arg[2] then return serve(arg[2]) end

-- Two processes. The first one is killed and sends nothing more; the servers
-- expire its session after the session timeout. Then the second one is asked to
-- leave.
local processes = dofile((arg[0]:match ".*/" or "") .. "support/processes.lua")
local first = processes.start(hosts, "anna")
print(first:read() or os.exit(1))
local second = processes.start(hosts, "bert")
first:kill "KILL"
print "anna was killed"
print(second:read() or os.exit(1))

need(session:revoke "/examples/primary")
print "bert was asked to go"
print(second:read() or os.exit(1))
session:close()

-- Prints:
--   anna leads, with the fencing token 0000000000000000042
--   anna was killed
--   bert leads, with the fencing token 0000000000000000044
--   bert was asked to go
--   bert has left
