local support = require "support"
local connect, misuse = support.connect, support.misuse

-- A callback that keeps what it is called with.
local function recorder()
  local calls = {}
  return calls, function(...) calls[#calls + 1] = { ... } end
end

before_each(support.start)
after_each(support.finish)

describe("acquire_async", function()
  it("returns at once and calls back from step()", function()
    local session = connect()
    local calls, callback = recorder()
    session:mutex(support.path()):acquire_async({ timeout = 5 }, callback)
    support.sleep(0.1)
    assert.equal(0, #calls)
    support.step_until(session, function() return calls[1] end)
    local guard = calls[1][1]
    assert.is_true(guard:is_held())
    assert.is_nil(calls[1][2])
    assert.is_true(guard:release())
  end)

  it("takes every form of acquire's argument, or none", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local forms = { 5, 0, math.huge, { timeout = 5, data = "x" }, {} }
    for _, form in ipairs(forms) do
      local calls, callback = recorder()
      mutex:acquire_async(form, callback)
      support.step_until(session, function() return calls[1] end)
      calls[1][1]:release { wait = true }
    end
    local calls, callback = recorder()
    mutex:acquire_async(nil, callback)
    support.step_until(session, function() return calls[1] end)
    calls[1][1]:release()
    calls, callback = recorder()
    mutex:acquire_async(callback)
    support.step_until(session, function() return calls[1] end)
  end)

  it("calls back with nil, message, code when it is not granted", function()
    local path = support.path()
    support.hold(path)
    local session = connect()
    local calls, callback = recorder()
    local begun = support.now()
    session:mutex(path):acquire_async(0.2, callback)
    support.step_until(session, function() return calls[1] end)
    assert.is_true(support.now() - begun >= 0.2)
    assert.is_nil(calls[1][1])
    assert.matches("^zklock: timed out after 0.2 s waiting", calls[1][2])
    assert.equal("timeout", calls[1][3])
  end)

  it("calls back during other calls that wait", function()
    local session = connect()
    local calls, callback = recorder()
    session:mutex(support.path()):acquire_async(nil, callback)
    local other = session:mutex(support.path())
    for _ = 1, 100 do
      other:acquire():release { wait = true }
      if #calls == 1 then break end
    end
    assert.is_true(calls[1][1]:is_held())
  end)

  it("queues in order of the calls", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local order = {}
    for i = 1, 20 do
      mutex:acquire_async(nil, function(guard)
        order[#order + 1] = i
        guard:release()
      end)
    end
    support.step_until(session, function() return #order == 20 end)
    for i = 1, 20 do assert.equal(i, order[i]) end
  end)

  it("may acquire, release and close in its callback (T34)", function()
    local session = connect()
    local path, other = support.path(), support.path()
    local tokens = {}
    session:mutex(path):acquire_async(nil, function(guard)
      tokens[1] = guard:token()
      local inner = session:mutex(other):acquire(30)
      tokens[2] = inner:token()
      inner:release()
      guard:release { wait = true }
      session:mutex(path):acquire_async(nil, function(again)
        tokens[3] = again:token()
        session:close()
      end)
    end)
    support.wait_until(function()
      if session:state() ~= "closed" then session:step() end
      return tokens[3]
    end)
    assert.equal("closed", session:state())
  end)

  it("goes on when a callback raises, and step() raises it", function()
    local session = connect()
    local path = support.path()
    local calls, callback = recorder()
    local problem = { "an error value" }
    session:mutex(path):acquire_async(nil, function(guard)
      guard:release()
      error(problem)
    end)
    session:mutex(path):acquire_async(nil, callback)
    local raised
    support.wait_until(function()
      local ok, what = pcall(session.step, session)
      if not ok then raised = what end
      return calls[1] and raised
    end)
    assert.is_true(rawequal(problem, raised))
    assert.is_true(calls[1][1]:is_held())
  end)

  it("logs what a callback raises where there is a log", function()
    local lines = {}
    local session = connect {
      log = function(level, message)
        lines[#lines + 1] = level .. " " .. message
      end,
    }
    session:mutex(support.path()):acquire_async(nil, function(guard)
      guard:release()
      error("ouch", 0)
    end)
    support.step_until(session, function()
      for _, line in ipairs(lines) do
        if line:find "^error .*ouch" then return true end
      end
    end)
  end)

  it("tells where in a callback it was raised", function()
    local function deep() error "ouch" end
    local lines = {}
    for _, log in ipairs { function(_, line) lines[#lines + 1] = line end,
        false } do
      local session, problem = connect { log = log or nil }, nil
      session:mutex(support.path()):acquire_async(nil, function(guard)
        guard:release()
        deep()
        return guard
      end)
      support.wait_until(function()
        local ok, what = pcall(session.step, session)
        if not ok then problem = what end
        problem = problem or table.concat(lines, "\n"):match "error in a .*"
        return problem
      end)
      lines = {}
      local _, places = problem:gsub("async_spec.lua:%d+: in ", "")
      assert.is_true(places >= 2, problem)
    end
  end)

  it("is misuse without a callback", function()
    local mutex = connect():mutex(support.path())
    assert.matches("callback of acquire_async must be a function, got nil",
      misuse(function() mutex:acquire_async(5) end))
    assert.matches("callback of acquire_async must be a function, got a string",
      misuse(function() mutex:acquire_async(5, "x") end))
  end)

  it("is misuse with what acquire does not take", function()
    local mutex = connect():mutex(support.path())
    assert.matches("timeout must be a number of seconds",
      misuse(function() mutex:acquire_async(-1, print) end))
    assert.matches("unknown option",
      misuse(function() mutex:acquire_async({ timeuot = 1 }, print) end))
    assert.matches("acquire options must be a number or a table, got a str",
      misuse(function() mutex:acquire_async("x", print) end))
  end)
end)

describe("A ticket", function()
  it("cancels the wait: the callback hears cancelled, once", function()
    local path = support.path()
    support.hold(path)
    local session = connect()
    local calls, callback = recorder()
    local ticket = session:mutex(path):acquire_async(nil, callback)
    support.wait_for_queue(path, 2)
    ticket:cancel()
    ticket:cancel()
    support.step_until(session, function() return calls[1] end)
    assert.is_nil(calls[1][1])
    assert.equal("zklock: the wait for " .. path .. " was cancelled",
      calls[1][2])
    assert.equal("cancelled", calls[1][3])
    support.wait_for_queue(path, 1)
    ticket:cancel()
    session:step()
    assert.equal(1, #calls)
  end)

  it("cancels before the node is made, too", function()
    local session, path = connect(), support.path()
    local calls, callback = recorder()
    for _ = 1, 50 do
      session:mutex(path):acquire_async(nil, callback):cancel()
    end
    support.step_until(session, function() return #calls == 50 end)
    for _, call in ipairs(calls) do
      if call[1] then
        call[1]:release()
      else
        assert.equal("cancelled", call[3])
      end
    end
    support.wait_for_queue(path, 0)
  end)

  it("races with the grant, and one of them wins (T17)", function()
    local session, path = connect(), support.path()
    local granted, cancelled = 0, 0
    for i = 1, 200 do
      local done
      local ticket = session:mutex(path):acquire_async(nil,
        function(guard, _, code)
          done = true
          if guard then
            granted = granted + 1
            guard:release()
          else
            assert.equal("cancelled", code)
            cancelled = cancelled + 1
          end
        end)
      support.sleep(i % 20 * 0.0001)
      ticket:cancel()
      support.step_until(session, function() return done end)
    end
    assert.equal(200, granted + cancelled)
    assert.is_true(cancelled > 0)
    support.wait_for_queue(path, 0)
  end)

  it("is of no use after the grant", function()
    local session = connect()
    local calls, callback = recorder()
    local ticket = session:mutex(support.path()):acquire_async(nil, callback)
    support.step_until(session, function() return calls[1] end)
    ticket:cancel()
    session:step()
    assert.is_true(calls[1][1]:is_held())
    assert.equal(1, #calls)
  end)

  it("may be dropped", function()
    local session, path = connect(), support.path()
    local calls, callback = recorder()
    session:mutex(path):acquire_async(nil, callback)
    collectgarbage()
    collectgarbage()
    support.step_until(session, function() return calls[1] end)
    assert.is_true(calls[1][1]:is_held())
  end)

  it("does nothing after close", function()
    local path = support.path()
    support.hold(path)
    local session = connect()
    local calls, callback = recorder()
    local ticket = session:mutex(path):acquire_async(nil, callback)
    session:close()
    ticket:cancel()
    assert.equal(1, #calls)
    assert.equal("closed", calls[1][3])
  end)
end)

describe("mutex:cancel", function()
  it("ends every wait begun through this object, and no other", function()
    local path = support.path()
    local holder = support.hold(path)
    local session = connect()
    local mutex, other = session:mutex(path), session:mutex(path)
    local mine, my_callback = recorder()
    local others, other_callback = recorder()
    for _ = 1, 3 do mutex:acquire_async(nil, my_callback) end
    other:acquire_async(nil, other_callback)
    support.wait_for_queue(path, 5)
    mutex:cancel()
    support.step_until(session, function() return #mine == 3 end)
    for _, call in ipairs(mine) do assert.equal("cancelled", call[3]) end
    support.wait_for_queue(path, 2)
    assert.equal(0, #others)
    holder:release()
    support.step_until(session, function() return #others == 1 end)
    assert.is_true(others[1][1]:is_held())
  end)

  it("wakes a coroutine that waits", function()
    local path = support.path()
    support.hold(path)
    local scheduler = require "support.scheduler".new()
    local session = connect { loop = scheduler.adapter }
    local mutex = session:mutex(path)
    local code, message
    scheduler:spawn(function() message, code = select(2, mutex:acquire()) end)
    scheduler:spawn(function()
      scheduler:sleep(0.05)
      mutex:cancel()
    end)
    assert.is_true(scheduler:run())
    assert.equal("cancelled", code)
    assert.matches("was cancelled$", message)
    support.wait_for_queue(path, 1)
  end)

  it("leaves holds alone, and the object usable", function()
    local session, path = connect(), support.path()
    local mutex = session:mutex(path)
    local guard = mutex:acquire()
    mutex:cancel()
    mutex:cancel()
    assert.is_true(guard:is_held())
    assert.is_true(guard:release())
    assert.is_true(mutex:acquire(30):release())
  end)
end)
