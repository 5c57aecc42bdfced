-- What suspends a call that must wait: decided at each call.
local runners = require "loops.runners"
local frames = require "loops.frames"
local spawn = require "support.child".spawn
local support = require "support"
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

local suspending = { "luv", "cqueues", "copas" }

-- One test for each loop that is there and can suspend.
local function each(it, title, fn)
  for _, name in ipairs(suspending) do
    local runner = runners[name]
    if not runner.missing and not support.is_51 then
      it(("%s: %s"):format(name, title), function() fn(runner, name) end)
    end
  end
end

describe("The loop auto", function()
  before_each(support.start)
  after_each(support.finish)

  it("finds the right one at each call, with one session", function()
    local session = connect()
    local path = support.path()
    assert(session:mutex(path):acquire(30)):release()
    for _ = 1, 2 do
      for _, name in ipairs(suspending) do
        local runner = runners[name]
        if not runner.missing and not support.is_51 then
          runner.run(function(env)
            local ticks, done = 0, false
            local guard
            env.spawn(function()
              while not done do
                env.sleep(0.001)
                ticks = ticks + (guard and 1 or 0)
                if ticks == 4 then guard:release() end
              end
            end)
            guard = assert(connect():mutex(path):acquire(30))
            assert(session:mutex(path):acquire(30)):release()
            done = true
            assert.is_false(guard:is_held())
            assert.is_true(ticks > 3)
          end)
        end
      end
      assert(session:mutex(path):acquire(30)):release()
    end
  end)

  each(it, "loads no adapter that is not used", function(_, name)
    local text = ('assert(require "zklock" and require %q); '
      .. 'for _, name in ipairs { "luv", "cqueues", "copas" } do '
      .. 'assert(not package.loaded["zklock.loop." .. name]) end'):format(name)
    local path = ("LUA_PATH='%s' "):format(package.path)
    local status = os.execute(path .. support.lua .. " -e '" .. text .. "'")
    assert.is_true(status == true or status == 0)
  end)

  if not runners.luv.missing then
    it("refuses to block luv from a callback of its own", function()
      local uv = require "luv"
      local lock = connect():mutex(support.path())
      local text
      local timer = uv.new_timer()
      timer:start(1, 0, function()
        timer:close()
        text = misuse(function() lock:acquire() end)
      end)
      uv.run()
      assert.matches("runs in luv, but not as a task", text)
      assert.matches("wait in a coroutine of its own", text)
      assert.matches('loop = "poll"', text)
    end)

    it("refuses before a session is opened", function()
      local uv = require "luv"
      collectgarbage "stop"
      local threads, left = support.count_threads(), nil
      local timer = uv.new_timer()
      timer:start(1, 0, function()
        timer:close()
        misuse(function() zklock.connect(support.hosts) end)
        left = support.count_threads() - threads
      end)
      uv.run()
      collectgarbage "restart"
      assert.equal(0, left)
    end)

    it("luv, by name, turns the loop in the main chunk", function()
      local uv = require "luv"
      local session = connect { loop = "luv" }
      local lock, order = session:mutex(support.path()), {}
      coroutine.wrap(function()
        local guard = assert(lock:acquire(30))
        local timer = uv.new_timer()
        timer:start(50, 0, function()
          timer:close()
          order[#order + 1] = "first"
          guard:release()
        end)
      end)()
      local guard = assert(lock:acquire(30))
      order[#order + 1] = "second"
      assert.same({ "first", "second" }, order)
      guard:release()
    end)

    -- luv 1.44 crashes where a handle has not been closed altogether.
    for title, ending in pairs {
      ["with its session closed"] = "session:close()",
      ["with its session open"] = "",
      ["with a hold that is listened to"] = [[
        local guard = assert(session:mutex(path):acquire(30))
        guard:on_lost(print)
        session:close()
      ]],
      ["with a wait under way"] = [[
        local guard = assert(session:mutex(path):acquire(30))
        coroutine.wrap(function() session:mutex(path):acquire(30) end)()
        session:close()
      ]],
    } do
      it("luv, by name, lets a program end " .. title, function()
        local child = spawn([[
          local hosts, path = ...
          require "luv"
          local session = assert(zklock.connect(hosts, { loop = "luv" }))
          assert(session:mutex(path):acquire(30)):release { wait = true }
        ]] .. ending, support.hosts, support.path())
        assert.equal(0, child:wait(), child:output())
      end)
    end

    it("luv, by name, is not turned in the middle of a release", function()
      local uv = require "luv"
      local session = connect { loop = "luv" }
      local lock, called = session:mutex(support.path()), false
      local guard = assert(lock:acquire(30))
      guard:on_lost(function() end)
      local timer = uv.new_timer()
      timer:start(0, 0, function()
        timer:close()
        called = true
      end)
      guard:release()
      assert.is_false(called)
      uv.run()
      assert.is_true(called)
    end)

    it("luv, by name, forgets a session that nobody has any more", function()
      local weak = setmetatable({}, { __mode = "v" })
      do
        local session = zklock.connect(support.hosts, { loop = "luv" })
        assert(session:mutex(support.path()):acquire(30)):release()
        weak[1] = session
      end
      support.collect()
      assert.is_nil(weak[1])
    end)

    it("luv, by name, serves a program of callbacks only", function()
      local uv = require "luv"
      local session = connect { loop = "luv" }
      local guard
      session:mutex(support.path()):acquire_async(5, function(granted)
        guard = granted
      end)
      uv.run()
      assert.is_true(guard:is_held())
    end)
  end

  if not runners.cqueues.missing then
    it("refuses a coroutine inside a task of cqueues", function()
      local controller = require "cqueues".new()
      local lock = connect():mutex(support.path())
      local text
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
        local cqueues = require "cqueues"
        local session, path = connect(), support.path()
        local lock, granted = session:mutex(path), 0
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
        assert.is_true(one:loop(2) and one:empty())
        assert.is_true(two:loop(2) and two:empty())
        one:close()
        two:close()
      end)
  end

  it("says which loop is missing when one is named", function()
    local text = misuse(function() zklock.connect("a", { loop = "skynet" }) end)
    assert.matches('option \'loop\' = "skynet" cannot be had', text)
    text = misuse(function() zklock.connect("a", { loop = "libev" }) end)
    assert.matches('"luv"', text)
  end)
end)

describe("A loop", function()
  before_each(support.start)
  after_each(support.finish)

  each(it, "ends when nobody waits, though the session is open",
    function(runner)
      local session
      runner.run(function()
        session = connect()
        assert(session:mutex(support.path()):acquire(30)):release()
      end)
      assert.equal("connected", session:state())
    end)

  each(it, "lasts while a callback is expected", function(runner)
    local guard, lost
    local session = connect()
    runner.run(function()
      session:mutex(support.path(), { max_hold = 0.2 }):acquire_async(5,
        function(granted)
          guard = granted
          guard:on_lost(function() lost = true end)
        end)
    end)
    assert.is_table(guard)
    assert.is_true(lost)
  end)

  each(it, "does not last for the callbacks of a hold that has ended",
    function(runner)
      local session = connect()
      runner.run(function()
        local guard = assert(session:mutex(support.path()):acquire(30))
        guard:on_lost(print):on_revoke(print)
        guard:release()
      end)
    end)

  each(it, "gives a session back to the collector", function(runner)
    local weak = setmetatable({}, { __mode = "v" })
    runner.run(function()
      local session = assert(zklock.connect(support.hosts))
      assert(session:mutex(support.path()):acquire(30)):release()
      weak[1] = session
    end)
    support.wait_until(function()
      runner.run(function() end) -- what the loop itself has to tidy up
      collectgarbage()
      return not weak[1]
    end)
  end)

  each(it, "goes on after close in the middle of everything",
    function(runner)
      runner.run(function(env)
        local done, begun = 0, 0
        for i = 1, 10 do
          local session = connect()
          local lock = session:mutex(support.path())
          local guard = assert(lock:acquire(30))
          guard:on_lost(print)
          lock:acquire_async(nil, function() end)
          env.spawn(function()
            begun = i
            lock:acquire { owner = {} }
            done = done + 1
          end)
          env.until_true(function() return begun == i end)
          env.sleep(0.002)
          session:close()
        end
        env.until_true(function() return done == 10 end)
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
