-- A machine that is suspended under a program that waits, in each loop: what is
-- due by the clock that has counted that is done at once.  The session timeout
-- is so long that what waits by another clock waits for a minute and more.
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
  local path, busy, hosts = ...
  run(function()
    local session = assert(zklock.connect(hosts, { session_timeout = 1200 }))
    -- What turns the session, and asks the servers nothing.
    local function sleep()
      local pauses = require "zklock.pause"
      local stats
      repeat
        session:step()
        stats = session:stats()
      until stats.in_flight == 0 and (stats.holding or 0) + stats.waiting > 0
      say "ready"
      pauses.take(pauses.new(session._engine, 1e6))
    end
    %s
  end)
]]

describe("After a suspend #stock #once", function()
  local server, this

  setup(function()
    server = start_server(1, "--config maxSessionTimeout=1200000")
  end)
  teardown(function() server:stop() end)

  before_each(function()
    support.start()
    this = { path = support.path(), busy = support.path() }
  end)
  after_each(support.finish)

  -- It says "ready" when it is about to wait.
  local function spawn(loop, code, options)
    support.hold(this.busy, { hosts = server.hosts })
    this.suspension = new_suspension(options)
    this.child = spawn_with(this.suspension.environment, RUN[loop]
      .. CONNECT:format(code), this.path, this.busy, server.hosts)
    this.child:expect "ready"
  end

  local function sleep_and_expect(seconds, line)
    this.suspension:sleep(seconds)
    this.child:expect(line, 5)
  end

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
    guard:on_lost(function(_, _, reason) say("lost", reason) end)
    sleep()
  ]]

  for _, loop in ipairs { "poll", "luv", "cqueues", "copas" } do
    local function test(title, fn)
      if not is_there(loop) then return end
      it(("%s, in the loop %s"):format(title, loop), fn)
    end

    test("that outlasts the lease a holder is told that it is lost", function()
      spawn(loop, HOLD:format "nil")
      sleep_and_expect(2000, "lost\tsilence")
    end)

    test("that outlasts its timeout a waiter gives up", function()
      spawn(loop, [[
        session:mutex(busy):acquire_async(200, function(_, _, code)
          say(code)
        end)
        sleep()
      ]])
      sleep_and_expect(220, "timeout")
    end)

    test("that outlasts an election's pause it campaigns again", function()
      spawn(loop, TELL .. [[
        local election, leads = session:election(path), 0
        election:run(function()
          leads = leads + 1
          if leads == 2 then return election:stop() end
          error "a failure"
        end, { on_error = function() end, backoff = 200, max_backoff = 200 })
        say "again"
      ]])
      this.child:expect "waits" -- before it leads again
      sleep_and_expect(220, "again")
    end)

    test("that a pause ends in before its task is suspended it is over",
      function()
        spawn(loop, [[
          local pauses = require "zklock.pause"
          local pause = pauses.new(session._engine, 200)
          local begun = zklock.now()
          say "ready"
          while zklock.now() < begun + 220 do end
          pauses.take(pause)
          say "over"
        ]])
        sleep_and_expect(220, "over")
      end)

    test("that outlasts connect_timeout a connection is given up", function()
      local silent = support.closing(assert(socket.bind("127.0.0.1", 0)))
      local _, port = silent:getsockname()
      spawn(loop, (TELL .. [[
        local nobody, _, code = zklock.connect("127.0.0.1:%d", {
          connect_timeout = 200 })
        say(code)
      ]]):format(port))
      this.child:expect "waits"
      sleep_and_expect(220, "disconnected")
    end)
  end

  it("that outlasts max_hold a holder is told so", function()
    spawn("poll", HOLD:format "{ max_hold = 200 }")
    sleep_and_expect(220, "lost\tmax_hold")
  end)

  it("that outlasts its timeout one gives up that waits for a local turn",
    function()
      spawn("luv", [[
        local mutex = session:mutex(path, { handoffs = 100 })
        local guard = mutex:acquire(60)
        local other = session:mutex(path, { handoffs = 100 })
        coroutine.wrap(function()
          say(select(3, other:acquire(200)))
        end)()
        sleep()
      ]])
      sleep_and_expect(220, "timeout")
    end)

  it("that outlasts the lease a holder is told, where the system has no timers "
    .. "of that clock", function()
    spawn("poll", HOLD:format "nil", { no_timers = true })
    sleep_and_expect(2000, "lost\tsilence")
  end)
end)
