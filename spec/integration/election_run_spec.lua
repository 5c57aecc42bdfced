-- election:run, which campaigns, leads and campaigns again.
local new_scheduler = require "support.scheduler".new
local support = require "support"
local connect, misuse = support.connect, support.misuse

local function name_of(guard) return guard.node:sub(#guard.path + 2) end

local path, scheduler, session, election

local function start()
  support.start()
  path, scheduler = support.path(), new_scheduler()
  session = connect { loop = scheduler.adapter }
  election = session:election(path)
end

-- Runs all tasks until the condition is true.
local function turn_until(condition, what)
  support.wait_until(function()
    scheduler:turn(0)
    return condition()
  end, 10, what)
end

-- On 5.1 what run calls cannot wait in a coroutine: there is no yield across
-- pcall.
local it_yields = support.is_51 and function() end or it

-- A run in a task of its own: `{ done =, ... }` with what it has returned.
local function spawn_run(on, fn, options)
  local run = { done = false }
  scheduler:spawn(function()
    run.ok, run.message, run.code = on:run(fn, options)
    run.done = true
  end)
  return run
end

before_each(start)
after_each(support.finish)

describe("run", function()
  it("calls its function while it leads, again and again, until stop()",
    function()
      local tokens = {}
      local ok, more = election:run(function(guard)
        assert.is_true(guard:is_held())
        assert.is_false(election:is_stopping())
        tokens[#tokens + 1] = guard:token()
        if #tokens < 3 then return end
        election:stop()
        assert.is_true(election:is_stopping())
        assert.is_true(guard:is_held())
      end, { data = "me" })
      assert.same({ true, nil }, { ok, more })
      assert.is_true(tokens[1] < tokens[2] and tokens[2] < tokens[3])
      assert.is_false(election:is_stopping())
      support.wait_for_queue(path, 0)
    end)

  it("takes data and max_hold for its campaigns", function()
    local data, reason
    election:run(function(guard)
      data = support.zk():get(guard.node)
      guard:on_lost(function(_, _, why) reason = why end)
      support.wait_until(function() return not guard:is_held() end)
      election:stop()
    end, { data = "me", max_hold = 1 })
    assert.equal("me", data)
    assert.equal("max_hold", reason)
  end)

  it("lets another one lead when its function has returned", function()
    local other = connect { loop = scheduler.adapter }
    local led, leading = "", 0
    local runs = {}
    for name, on in pairs { a = election, b = other:election(path) } do
      runs[name] = spawn_run(on, function(guard)
        assert(guard:is_held())
        leading = leading + 1
        assert(leading == 1)
        led = led .. name
        if #led < 9 then
          support.wait_for_queue(path, 2) -- the other one, too
        else
          on:stop()
        end
        leading = leading - 1
      end)
    end
    turn_until(function() return runs.a.done and runs.b.done end)
    assert.is_true(runs.a.ok and runs.b.ok)
    assert.truthy(led:find "abababab" or led:find "babababa", led)
    support.wait_for_queue(path, 0)
  end)

  it("goes on beside whom it succeeds, when that one dies", function()
    local other = connect()
    assert(other:election(path):campaign(30))
    local run = spawn_run(election, function() election:stop() end)
    turn_until(function() return #support.zk():queue(path) == 2 end)
    assert.is_false(run.done)
    other:close()
    turn_until(function() return run.done end)
    assert.is_true(run.ok)
  end)

  it("is stopped at once in a campaign", function()
    local holder = support.hold(path)
    local run = spawn_run(election, print)
    turn_until(function() return #support.zk():queue(path) == 2 end)
    election:stop()
    turn_until(function() return run.done end)
    assert.same({ true, nil }, { run.ok, run.message })
    support.wait_for_queue(path, 1)
    assert.is_true(holder:is_held())
  end)

  it("does not call its function once it is stopped", function()
    local calls = 0
    for _ = 1, 30 do
      local run = spawn_run(election, function()
        calls = calls + 1
        election:stop()
      end)
      scheduler:turn(0)
      local before = calls
      support.sleep(0.001) -- its grant may be on its way
      election:stop()
      turn_until(function() return run.done end)
      assert.equal(before, calls)
    end
    support.wait_for_queue(path, 0)
  end)

  it("is stopped from a callback where a wait blocks", function()
    session = connect { loop = "poll" }
    election = session:election(path)
    support.hold(path)
    session:mutex(support.path()):acquire_async(function(guard)
      guard:release()
      election:stop()
    end)
    assert.is_true(election:run(print))
  end)

  it_yields("is stopped while its function waits, and waits for it", function()
    local begun, finished
    local run = spawn_run(election, function(guard)
      begun = true
      while not election:is_stopping() do scheduler:sleep(0.001) end
      scheduler:sleep(0.01)
      assert(guard:is_held())
      finished = true
    end)
    turn_until(function() return begun end)
    election:stop()
    assert.is_false(run.done)
    turn_until(function() return run.done end)
    assert.is_true(finished and run.ok)
  end)

  it("returns why a campaign is refused for good", function()
    local guard = assert(election:campaign(30))
    local ok, message, code = election:run(print)
    assert.is_nil(ok)
    assert.equal("deadlock", code)
    assert.matches("already held by the caller", message)
    guard:release()
    support.hold(path)
    local run = spawn_run(election, print)
    turn_until(function() return #support.zk():queue(path) == 2 end)
    election:cancel()
    turn_until(function() return run.done end)
    assert.equal("cancelled", run.code)
    run = spawn_run(election, print)
    turn_until(function() return #support.zk():queue(path) == 2 end)
    session:close()
    turn_until(function() return run.done end)
    assert.equal("closed", run.code)
  end)

  it("returns closed when its function has closed the session", function()
    local ok, message, code = election:run(function() session:close() end)
    assert.is_nil(ok)
    assert.equal("closed", code)
    assert.matches("the session was closed while waiting for " .. path, message,
      1, true)
  end)

  it("is one at a time of an object", function()
    election:run(function()
      assert.equal("run is under way for " .. path .. " already: it calls one "
        .. "function at a time", misuse(function() election:run(print) end))
      election:stop()
    end)
    assert.is_false(election:is_stopping())
    election:stop() -- there is none
    local calls = 0
    election:run(function() calls = calls + 1 election:stop() end)
    assert.equal(1, calls)
  end)

  it("has options of its own", function()
    local function refused(options)
      return misuse(function() election:run(print, options) end)
    end
    assert.equal("argument 1 of run must be a function, got nil",
      misuse(function() election:run() end))
    assert.equal('unknown option "timeout" in run options (known: backoff, '
      .. 'data, max_backoff, max_hold, on_error)',
      refused { timeout = 1 })
    assert.equal("run options must be a table, got a number", refused(5))
    assert.equal("option 'backoff' must be a number of seconds, at least "
      .. "0.001, got 0", refused { backoff = 0 })
    assert.matches("option 'max_backoff' must be a number, got a str",
      refused { max_backoff = "x" })
    assert.equal("option 'max_backoff' must be at least option 'backoff', got "
      .. "0.5", refused { max_backoff = 0.5 })
    assert.equal("option 'on_error' must be a function, got a boolean",
      refused { on_error = true })
    assert.matches("option 'data' must be a string", refused { data = 5 })
    assert.matches("option 'max_hold' must be a number",
      refused { max_hold = "x" })
    assert.matches("must be called with a colon: election:run%(fn, options%)",
      misuse(function() election.run(print) end))
  end)
end)

describe("A hold that run has lost", function()
  it_yields("does not end its function: run waits for it, and calls no other",
    function()
      local other, successor = connect { loop = "poll" }, nil
      local calls, inside, states = 0, 0, {}
      local run = spawn_run(election, function(guard)
        calls, inside = calls + 1, inside + 1
        assert(inside == 1)
        if calls == 1 then
          guard:on_lost(function(_, code) states[1] = code end)
          assert(other:evict(path, name_of(guard)))
          while guard:is_held() do scheduler:sleep(0.001) end
          successor = assert(other:mutex(path):acquire(30))
          scheduler:sleep(0.05)
          states[2] = guard:state()
        else
          election:stop()
        end
        inside = inside - 1
      end)
      turn_until(function() return states[2] end)
      assert.same({ "lost", "lost" }, states)
      turn_until(function() return #support.zk():queue(path) == 2 end)
      assert.same({ 1, 0 }, { calls, inside })
      assert.is_true(successor:release())
      turn_until(function() return run.done end)
      assert.is_true(run.ok)
      assert.equal(2, calls)
    end)

  it("is resigned: the function goes on without it", function()
    local other, calls = connect(), 0
    assert.is_true(election:run(function(guard)
      calls = calls + 1
      if calls == 2 then return election:stop() end
      assert.is_true(election:resign { wait = true })
      assert.is_false(guard:is_held())
      assert.is_false(election:resign())
      assert(other:mutex(path):try_acquire()):release()
    end))
    assert.equal(2, calls)
  end)

  it_yields("is resigned from another task", function()
    local other, calls, before = connect(), 0, nil
    local run = spawn_run(election, function(guard)
      calls = calls + 1
      if calls == 2 then return election:stop() end
      while guard:is_held() do scheduler:sleep(0.001) end
      before = guard:state()
    end)
    scheduler:spawn(function()
      while calls == 0 do scheduler:sleep(0.001) end
      assert.is_true(election:resign())
    end)
    turn_until(function() return run.done end)
    assert.equal("released", before)
    assert.equal(2, calls)
    other:close()
  end)
end)
