-- What suspends a call that must wait: decided at each call.
local runners = require "loops.runners"
local frames = require "loops.frames"
local cqueues = require "cqueues"
local spawn = require "support.child".spawn
local support = require "support"
local uv = require "luv"
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

local suspending = {}
for _, name in ipairs { "luv", "cqueues", "copas" } do
  if not runners[name].missing then suspending[#suspending + 1] = name end
end

-- One test for each loop that can suspend.
local function each(it, title, fn)
  for _, name in ipairs(suspending) do
    it(("%s: %s"):format(name, title), function() fn(runners[name], name) end)
  end
end

local function acquire(session, path)
  return assert(session:mutex(path or support.path()):acquire(30))
end

-- Calls `fn` in a callback of luv's.
local function in_luv(fn)
  local timer = uv.new_timer()
  timer:start(1, 0, function()
    timer:close()
    fn()
  end)
end

describe("The loop auto", function()
  it("finds the right one at each call, with one session", function()
    local session, path = connect(), support.path()
    acquire(session, path):release()
    for _ = 1, 2 do
      for _, name in ipairs(suspending) do
        runners[name].run(function(env)
          local ticks, done = 0, false
          local guard
          env.spawn(function()
            while not done do
              env.sleep(0.001) -- others run
              ticks = ticks + (guard and 1 or 0)
              if ticks == 4 then guard:release() end
            end
          end)
          guard = acquire(connect(), path)
          acquire(session, path):release()
          done = true
          assert.is_false(guard:is_held())
          assert.is_true(ticks > 3)
        end)
      end
      acquire(session, path):release()
    end
  end)

  each(it, "loads no adapter that is not used", function(_, name)
    local child = spawn([[
      require(...)
      for _, name in ipairs { "luv", "cqueues", "copas" } do
        assert(not package.loaded["zklock.loop." .. name])
      end
    ]], name)
    assert.equal(0, child:wait(), child:output())
  end)

  it("refuses to block luv from a callback of its own", function()
    local lock = connect():mutex(support.path())
    local text
    in_luv(function() text = misuse(function() lock:acquire() end) end)
    uv.run()
    assert.matches("runs in luv, but not as a task", text)
    assert.matches("wait in a coroutine of its own", text)
    assert.matches('loop = "poll"', text)
  end)

  it("refuses before a session is opened", function()
    collectgarbage "stop"
    local threads, left = support.count_threads(), nil
    in_luv(function()
      misuse(function() zklock.connect(support.hosts) end)
      left = support.count_threads() - threads
    end)
    uv.run()
    collectgarbage "restart"
    assert.equal(0, left)
  end)

  it("refuses a coroutine inside a task of cqueues", function()
    local controller, text = cqueues.new(), nil
    local lock = connect():mutex(support.path())
    controller:wrap(function()
      coroutine.wrap(function()
        text = misuse(function() lock:acquire() end)
      end)()
    end)
    assert(controller:loop(5))
    assert.matches("runs in cqueues, but not as a task", text)
  end)

  it("serves several controllers of cqueues, and what is left of one",
    function()
      local lock, granted = connect():mutex(support.path()), 0
      local function wait()
        assert(lock:acquire { timeout = 10, owner = {} }):release()
        granted = granted + 1
      end
      local guard = assert(lock:acquire(30))
      -- This one is dropped in the middle of its wait.
      local controller = cqueues.new()
      controller:wrap(wait)
      controller:step(0.05)
      controller = nil -- luacheck: ignore
      local one, two = cqueues.new(), cqueues.new()
      one:wrap(wait)
      two:wrap(wait)
      one:step(0)
      two:step(0)
      guard:release()
      support.wait_until(function()
        collectgarbage() -- what waited in the dropped one
        one:step(0.01)
        two:step(0.01)
        return granted >= 2
      end)
      for _, each_one in ipairs { one, two } do
        assert.is_true(each_one:loop(2) and each_one:empty())
        each_one:close()
      end
    end)

  it("lets tasks of two loops take turns in one line", function()
    local session, order = connect(), {}
    local lock = session:mutex(support.path(), { local_turns = 10 })
    local guard, controller = assert(lock:acquire(30)), cqueues.new()
    local function wait(name)
      return function()
        local own = assert(lock:acquire { timeout = 10, owner = {} })
        order[#order + 1] = name .. " " .. own:turn()
        own:release()
      end
    end
    for _ = 1, 2 do
      coroutine.wrap(wait "luv")()
      controller:wrap(wait "cqueues")
      controller:step(0)
    end
    guard:release()
    support.wait_until(function()
      controller:step(0.01)
      uv.run "nowait"
      return #order == 4
    end)
    assert.same({ "luv 1", "cqueues 2", "luv 3", "cqueues 4" }, order)
    assert.equal(4, session:stats().local_turns)
    assert.is_true(controller:loop(2) and controller:empty())
    controller:close()
    uv.run()
  end)

  it("says which loop is missing when one is named", function()
    local text = misuse(function() zklock.connect("a", { loop = "skynet" }) end)
    assert.matches('option \'loop\' = "skynet" could not be loaded', text)
    text = misuse(function() zklock.connect("a", { loop = "libev" }) end)
    assert.matches('"luv"', text)
  end)
end)

describe("The loop luv, by name,", function()
  -- luv 1.44 crashes where a handle has not been closed altogether.
  it("lets a program end, whatever is open", function()
    for title, ending in pairs {
      ["its session is closed"] = "session:close()",
      ["its session is open"] = "",
      ["somebody listens to a hold"] = [[
        assert(session:mutex(path):acquire(30)):on_lost(print)
        session:close()
      ]],
      ["a wait is under way"] = [[
        local guard = assert(session:mutex(path):acquire(30))
        coroutine.wrap(function() session:mutex(path):acquire(30) end)()
        session:close()
      ]],
    } do
      local child = spawn([[
        local hosts, path = ...
        require "luv"
        local session = assert(zklock.connect(hosts, { loop = "luv" }))
        assert(session:mutex(path):acquire(30)):release { wait = true }
      ]] .. ending, support.hosts, support.path())
      assert.equal(0, child:wait(), title .. ": " .. child:output())
    end
  end)

  it("is not turned in the middle of a release", function()
    local guard, called = acquire(connect { loop = "luv" }), false
    guard:on_lost(function() end)
    in_luv(function() called = true end)
    guard:release()
    assert.is_false(called)
    uv.run()
    assert.is_true(called)
  end)
end)

describe("A loop", function()
  each(it, "ends when nobody waits, though the session is open",
    function(runner)
      local session
      runner.run(function()
        session = connect()
        acquire(session):release()
      end)
      assert.equal("connected", session:state())
    end)

  each(it, "lasts while a callback is expected", function(runner)
    local session, guard, lost = connect(), nil, nil
    runner.run(function()
      session:mutex(support.path(), { max_hold = 0.2 }):acquire_async(5,
        function(granted)
          guard = granted
          guard:on_lost(function() lost = true end)
        end)
    end)
    assert.is_false(guard:is_held())
    assert.is_true(lost)
  end)

  each(it, "gives a session back to the collector", function(runner)
    local weak = setmetatable({}, { __mode = "v" })
    runner.run(function()
      local session = assert(zklock.connect(support.hosts))
      acquire(session):release()
      weak[1] = session
    end)
    support.wait_until(function()
      runner.run(function() end) -- what the loop itself has to tidy up
      collectgarbage()
      return not weak[1]
    end)
  end)
end)

describe("The game loop of doc/loops.md", function()
  it("is that of the example, and short", function()
    assert.is_truthy(frames.example:find(frames.source, 1, true))
    local _, lines = frames.source:gsub("\n", "")
    assert.is_true(lines <= 40, lines)
  end)
end)
