-- election:run, whose function fails, or is interrupted, or killed.
local new_scheduler = require "support.scheduler".new
local support = require "support"
local connect = support.connect

-- What LuaJIT has compiled calls no hooks.
if rawget(_G, "jit") then require "jit".off() end

local path

local function start()
  support.start()
  path = support.path()
end

-- An error of the value `problem` in each of the first `n` calls.
local function failing(election, n, problem, at)
  local calls = 0
  return function()
    calls = calls + 1
    at[calls] = support.now()
    if calls > n then return election:stop() end
    error(problem, 0)
  end
end

before_each(start)
after_each(support.finish)

describe("A function of run that raises", function()
  it("is told to on_error, when the leadership has been given back", function()
    local lines, heard, states, at = {}, {}, {}, {}
    local session = connect { log = function(_, line) lines[#lines + 1] = line
      end }
    local election = session:election(path)
    local problem = { "an error value" }
    local fn = failing(election, 2, problem, at)
    local guards = {}
    assert.is_true(election:run(function(guard)
      guards[#guards + 1] = guard
      fn()
    end, { backoff = 0.001, on_error = function(what)
      heard[#heard + 1] = what
      states[#states + 1] = guards[#guards]:state()
    end }))
    assert.equal(2, #heard)
    assert.is_true(rawequal(problem, heard[1]) and rawequal(problem, heard[2]))
    assert.same({ "released", "released" }, states)
    assert.same({}, lines)
    support.wait_for_queue(path, 0)
  end)

  it("is told with where it was raised", function()
    local election, heard = connect():election(path), nil
    election:run(function() error "ouch" end, { on_error = function(problem)
      heard = problem
      election:stop()
    end })
    assert.matches("election_failure_spec.lua:%d+: ouch\nstack traceback:",
      heard)
  end)

  it("is told to the log", function()
    local lines = {}
    local session = connect { log = function(level, line)
      lines[#lines + 1] = level .. " " .. line
    end }
    local election = session:election(path)
    assert.is_true(election:run(failing(election, 1, "ouch", {}),
      { backoff = 0.001 }))
    assert.equal(1, #lines)
    assert.equal(1, lines[1]:find("error an error in the leader of " .. path
      .. ": ouch", 1, true), lines[1])
  end)

  it("ends run with its error where nobody would hear of it", function()
    local election = connect():election(path)
    for _, problem in ipairs { "text", { code = 42 }, false } do
      local ok, raised = pcall(election.run, election, function()
        error(problem, 0)
      end)
      assert.is_false(ok)
      assert.is_true(rawequal(problem, raised))
      support.wait_for_queue(path, 0)
    end
    assert.is_true(election:run(function() election:stop() end))
  end)

  it("ends run in a coroutine, too", function()
    local scheduler = new_scheduler()
    local election = connect { loop = scheduler.adapter }:election(path)
    scheduler:spawn(function() election:run(function() error("ouch", 0) end)
      end)
    assert.equal("ouch", select(2, pcall(scheduler.run, scheduler)))
    support.wait_for_queue(path, 0)
    scheduler:spawn(function()
      election:run(function() election:stop() end)
    end)
    assert.is_true(scheduler:run())
  end)

  it("ends run with what on_error raises", function()
    local election = connect():election(path)
    local ok, raised = pcall(election.run, election, error, {
      on_error = function() error("in on_error", 0) end,
    })
    assert.same({ false, "in on_error" }, { ok, raised })
    support.wait_for_queue(path, 0)
  end)

  it("is called again after pauses that grow, up to max_backoff", function()
    local election, at = connect():election(path), {}
    assert.is_true(election:run(failing(election, 5, "ouch", at),
      { backoff = 0.1, max_backoff = 0.4, on_error = function() end }))
    for i, least in ipairs { 0.05, 0.1, 0.2, 0.2, 0.2 } do
      local gap = at[i + 1] - at[i]
      assert.is_true(gap >= least, i .. ": " .. gap)
      assert.is_true(gap <= 2 * least + support.slack, i .. ": " .. gap)
    end
  end)

  it("is called soon again when it has succeeded meanwhile", function()
    local election, calls, at = connect():election(path), 0, {}
    assert.is_true(election:run(function()
      calls = calls + 1
      at[calls] = support.now()
      if calls == 4 then return end
      if calls == 6 then return election:stop() end
      error "ouch"
    end, { backoff = 0.1, on_error = function() end }))
    assert.is_true(at[4] - at[3] >= 0.2)
    assert.is_true(at[6] - at[5] >= 0.05)
    assert.is_true(at[6] - at[5] <= 0.1 + support.slack)
  end)

  it("is no candidate in its pause, while callbacks run", function()
    local session, path_of_callback = connect { loop = "poll" }, support.path()
    local election = session:election(path)
    local other, free = connect(), nil
    local begun = support.now()
    assert.is_true(election:run(function() error "ouch" end, {
      backoff = 60,
      on_error = function()
        session:mutex(path_of_callback):acquire_async(function(guard)
          guard:release()
          support.wait_for_queue(path, 0)
          free = other:mutex(path):try_acquire()
          election:stop()
        end)
      end,
    }))
    assert.is_true(free:is_held())
    assert.is_true(support.now() - begun < 29)
    free:release()
  end)

  it("is stopped in its pause by another task", function()
    local scheduler = new_scheduler()
    local election = connect { loop = scheduler.adapter }:election(path)
    local failed, ended = false, nil
    scheduler:spawn(function()
      ended = election:run(error, {
        backoff = 60,
        on_error = function() failed = true end,
      })
    end)
    scheduler:spawn(function()
      while not failed do scheduler:sleep(0.001) end
      scheduler:sleep(0.02)
      assert.is_nil(ended)
      election:stop()
    end)
    assert.is_true(scheduler:run(20))
    assert.is_true(ended)
  end)

  it("hears that the session was closed in its pause", function()
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local election, code = session:election(path), nil
    scheduler:spawn(function()
      code = select(3, election:run(error, {
        backoff = 60,
        on_error = function()
          scheduler:spawn(function() session:close() end)
        end,
      }))
    end)
    assert.is_true(scheduler:run(20))
    assert.equal("closed", code)
  end)
end)

describe("What interrupts run", function()
  it("comes out of it, if a hook has raised it, whoever listens", function()
    local heard = 0
    local session = connect { log = function() heard = heard + 1 end }
    local election = session:election(path)
    for _, options in ipairs { {}, { on_error = function()
        heard = heard + 1
      end } } do
      local ok, problem = pcall(election.run, election, function(guard)
        assert(guard:is_held())
        debug.sethook(function()
          debug.sethook()
          error("interrupted!", 0)
        end, "", 100)
        while true do heard = heard + 0 end
      end, options)
      assert.same({ false, "interrupted!", 0 }, { ok, problem, heard })
      support.wait_for_queue(path, 0)
    end
    assert.is_true(election:run(function() election:stop() end))
  end)

  for _, place in ipairs { "campaign", "pause", "function" } do
    if support.is_54 then
      it("is the end of its coroutine, in its " .. place, function()
        local scheduler = new_scheduler()
        local session = connect { loop = scheduler.adapter }
        local election, there = session:election(path), false
        local holder = place == "campaign" and support.hold(path)
        local task = scheduler:spawn(function()
          election:run(function()
            there = true
            if place == "pause" then error "ouch" end
            scheduler:sleep(60)
          end, { backoff = 60, on_error = function() end })
        end)
        support.wait_until(function()
          scheduler:turn(0)
          return there or holder and #support.zk():queue(path) == 2
        end)
        assert.is_true(scheduler:kill(task))
        support.wait_for_queue(path, holder and 1 or 0)
        if holder then holder:release() end
        scheduler:spawn(function()
          election:run(function() election:stop() end)
        end)
        assert.is_true(scheduler:run(20))
        assert.is_nil(next(session._engine.waits.pauses))
      end)
    end
  end
end)
