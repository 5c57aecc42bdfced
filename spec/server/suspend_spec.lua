-- A machine that is suspended under a program that waits, in each loop: what is
-- due by the clock that has counted that is done at once.  The session timeout
-- is so long that what waits by another clock waits for a minute and more.
local each = require "support.each"
local new_suspension = require "support.suspension".new
local socket = require "socket"
local spawn_with = require "support.child".spawn_with
local start_server = require "support.server".start
local support = require "support"

-- `run(fn)`: a task of that loop, to its end.
local RUN = {
  poll = [[ local function run(fn) fn() end ]],
  luv = [[
    local uv = require "luv"
    local function run(fn)
      coroutine.wrap(function()
        local ok, problem = xpcall(fn, debug.traceback)
        if not ok then say(problem) end
      end)()
      uv.run()
    end
  ]],
  cqueues = [[
    local controller = require "cqueues".new()
    local function run(fn)
      controller:wrap(fn)
      assert(controller:loop())
    end
  ]],
  copas = [[
    local copas = require "copas"
    local function run(fn)
      copas.addthread(fn)
      copas.loop()
    end
  ]],
}

local function is_there(name)
  local ok, loop = pcall(require, name)
  return name == "poll" or ok and (name ~= "copas" or loop.wakeup)
end

-- `session`: of servers that grant so long a timeout.
local CONNECT = [[
  local path, busy, hosts, silent = ...
  run(function()
    local session = assert(zklock.connect(hosts, { session_timeout = 1200 }))
    -- What turns the session, and asks the servers nothing.
    local function sleep()
      local waits = require "zklock.wait"
      local stats
      repeat
        session:step()
        stats = session:stats()
      until stats.in_flight == 0 and (stats.holding or 0) + stats.waiting > 0
      say "ready"
      waits.take(waits.pause(session._engine, 1e6))
    end
    %s
  end)
]]

-- From now on the child says so when it has a deadline, and begins to wait.
local TELL = [[
  local waits = require "zklock.wait"
  local suspend = waits.suspend
  function waits.suspend(...)
    say "waits"
    return suspend(...)
  end
  say "ready"
]]

local HOLD = [[
  local guard = session:mutex(path, %s):acquire(60)
  guard:on_lost(function(_, reason) say("lost", reason) end)
  sleep()
]]

local LEASE = { HOLD:format "nil", "lost\tlease_expired", seconds = 2000 }

-- What a program does, and says when the machine has been suspended for as many
-- seconds, or 220; `loop`: in that one only.
local cases = {
  ["outlasts the lease: a holder is told that it is lost"] = LEASE,
  ["outlasts max_hold: a holder is told so"] = {
    HOLD:format "{ max_hold = 200 }", "lost\tmax_hold_reached", loop = "poll" },
  ["outlasts its timeout: a waiter gives up"] = { [[
    session:mutex(busy):acquire_async(200, function(_, _, code) say(code) end)
    sleep()
  ]], "timeout" },
  ["outlasts its timeout: one gives up that waits for a local turn"] = { [[
    local mutex = session:mutex(path, { local_turns = 100 })
    local guard = mutex:acquire(60)
    local other = session:mutex(path, { local_turns = 100 })
    coroutine.wrap(function() say(select(3, other:acquire(200))) end)()
    sleep()
  ]], "timeout", loop = "luv" },
  ["outlasts an election's pause: it campaigns again"] = { TELL .. [[
    local election, leads = session:election(path), 0
    election:run({
      on_error = function() end, backoff = 200, max_backoff = 200,
    }, function()
      leads = leads + 1
      if leads == 2 then return election:stop() end
      error "a failure"
    end)
    say "again"
  ]], "again", waits = true }, -- before it leads again
  ["ends a pause before its task is suspended: it is over"] = { [[
    local waits = require "zklock.wait"
    local pause = waits.pause(session._engine, 200)
    local begun = zklock.now()
    say "ready"
    while zklock.now() < begun + 220 do end
    waits.take(pause)
    say "over"
  ]], "over" },
  ["outlasts connect_timeout: a connection is given up"] = { TELL .. [[
    local nobody, _, code = zklock.connect("127.0.0.1:" .. silent, {
      connect_timeout = 200 })
    say(code)
  ]], "disconnected", waits = true },
}

describe("After a suspend #stock", function()
  local server

  setup(function()
    server = start_server(1, "--config maxSessionTimeout=1200000")
  end)
  teardown(function() server:stop() end)

  local function look(loop, case, options)
    local busy, suspension = support.path(), new_suspension(options)
    local silent = support.closing(assert(socket.bind("127.0.0.1", 0)))
    support.hold(busy, { hosts = server.hosts })
    local child = spawn_with(suspension.environment, RUN[loop]
      .. CONNECT:format(case[1]), support.path(), busy, server.hosts,
      (select(2, silent:getsockname())))
    child:expect "ready"
    if case.waits then child:expect "waits" end
    suspension:sleep(case.seconds or 220)
    child:expect(case[2], 5)
    support.close_all()
  end

  for _, loop in ipairs { "poll", "luv", "cqueues", "copas" } do
    -- (Here, for what a loop opens when it is loaded.)
    local is_here = is_there(loop)
    it("what is due is done at once, in the loop " .. loop, function()
      if not is_here then return end
      each(cases, function(case)
        if (case.loop or loop) == loop then look(loop, case) end
      end)
    end)
  end

  it("a holder is told, where the system has no timers of that clock",
    function() look("poll", LEASE, { no_timers = true }) end)
end)
