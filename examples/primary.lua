--- A primary with standbys: it is killed, and one of them takes over.
--
-- Three processes want to lead.  The one that does is killed with SIGKILL: it
-- can tell nobody, so ZooKeeper must notice, when it has not heard from it for
-- the session timeout.  The next one is asked to go, and takes its leave: who
-- comes after it leads at once.
--
--     lua5.4 examples/primary.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local PATH = "/examples/primary"
local began = tonumber(arg[3]) or zklock.now() -- one clock for all of them

local function say(who, ...)
  print(("%5.2f s  %-9s "):format(zklock.now() - began, who)
    .. string.format(...))
  io.stdout:flush()
end

-- (Ctrl-C may strike what runs here, too.)
local function sleep(seconds)
  local ok = os.execute("sleep " .. seconds)
  assert(ok == true or ok == 0, "interrupted")
end

-- As short as servers allow: two of their ticks.
local session = assert(zklock.connect(hosts, { session_timeout = 2 }))
local election = session:election(PATH, { data = arg[2] })

-- One of the processes.

local function serve(guard)
  say(arg[2], "leads, with the fencing token %s", guard:token())
  guard:on_revoke(function() election:stop() end)
  while guard:is_held() and not election:is_stopping() do
    sleep(0.02) -- a piece of the primary's work
    session:step() -- runs on_revoke
  end
  say(arg[2], guard:is_held() and "leaves" or "has lost it: " .. guard:reason())
end

if arg[2] then
  say(arg[2], "stands by")
  assert(election:run(serve)) -- until stop()
  return session:close()
end

-- The director.  A shell stands between it and each process, and kills that
-- when its input ends: so nothing is left, however the director ends.
local lua = 0
while arg[lua - 1] do lua = lua - 1 end
local processes = {}
for _, name in ipairs { "anna", "berta", "clara" } do
  local command = ('"%s" "%s" "%s" %s %.3f'):format(arg[lua], arg[0], hosts,
    name, began)
  processes[name] = io.popen("trap '' HUP INT TERM; " .. command
    .. " & read _; kill -9 $! 2>&-; wait", "w")
end

-- Who leads, as this process hears it.
local leader
election:leader(function(now, message)
  assert(not message, message)
  say("observer", now and "%s leads, token %s" or "nobody leads",
    now and now.data, now and now.token)
  leader = now
end)

local function await(what, is_so)
  local deadline = zklock.now() + 30
  while not is_so() do
    assert(zklock.now() < deadline, what)
    sleep(0.005) -- or poll session:fd()
    session:step()
  end
end

await("all three are there", function()
  return leader and #assert(session:contenders(PATH)) == 3
end)

local first, killed = leader, zklock.now()
processes[first.data]:close() -- the shell's input ends: kill -9
say("director", "%s was killed; a session lasts %g s without it", first.data,
  session:timeout())
await("a standby takes over", function()
  return leader and leader.data ~= first.data
end)
say("director", "that took %.2f s", zklock.now() - killed)
assert(leader.token > first.token)

-- The others are asked to leave, one after the other.
local leaves = 0
repeat
  local last, asked = leader, zklock.now()
  assert(session:revoke(PATH))
  say("director", "%s was asked to leave", last.data)
  await("it leaves", function()
    return not leader or leader.token > last.token
  end)
  say("director", "that took %.2f s", zklock.now() - asked)
  leaves = leaves + 1
until not leader
assert(leaves >= 2)
session:close()
