-- election:run, which campaigns, leads and campaigns again; whose function
-- fails, or is interrupted.
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local start_proxy = require "support.proxy".start
local support = require "support"
local waits = require "zklock.wait"
local connect, misuse = support.connect, support.misuse

-- What LuaJIT has compiled calls no hooks.
if rawget(_G, "jit") then require "jit".off() end

local path, scheduler, session, election

before_each(function()
  path, session, scheduler = support.path(), sessions.in_loop()
  election = session:election(path)
end)

-- A run in a task of its own: `{ done =, … }` with what it has returned.
local function spawn_run(on, fn, options)
  local run = { done = false }
  scheduler:spawn(function()
    run.ok, run.message, run.code = on:run(options, fn)
    run.done = true
  end)
  return run
end

local function await_queue(n)
  scheduler:run_until(function() return #support.zk():queue(path) == n end)
end

local function await_end(run)
  scheduler:run_until(function() return run.done end)
end

-- Nobody leads, and the next run works.
local function check_free()
  support.wait_for_queue(path, 0)
  assert.is_true(election:run(function() election:stop() end))
end

describe("run", function()
  it("calls its function while it leads, again and again, until stop()",
    function()
      local tokens, reason = {}, nil
      local ok, more = election:run({
        data = "me", max_hold = 1,
      }, function(guard)
        assert.is_true(guard:is_held())
        assert.is_false(election:is_stopping())
        assert.equal("me", (support.zk():get(guard.node)))
        tokens[#tokens + 1] = guard:token()
        if #tokens < 3 then return end
        guard:on_lost(function(_, why) reason = why end)
        support.wait_until(function() return not guard:is_held() end)
        election:stop()
        assert.is_true(election:is_stopping())
      end)
      assert.same({ true, nil }, { ok, more })
      assert.equal("max_hold_reached", reason)
      assert.is_true(tokens[1] < tokens[2] and tokens[2] < tokens[3])
      assert.is_false(election:is_stopping())
      support.wait_for_queue(path, 0)
    end)

  it("campaigns again if it was lost before its function is called",
    function()
      local proxy = start_proxy()
      local own, tasks = sessions.in_loop { hosts = proxy.hosts }
      local mine, held = own:election(path), nil
      local rival = assert(election:campaign(5))
      tasks:spawn(function()
        mine:run(function(guard)
          held = guard:is_held()
          mine:stop()
        end)
      end)
      tasks:run_until(function() return own:stats().waiting > 0 end)
      rival:release { wait = true }
      support.wait_until(function() return own:stats().holding > 0 end)
      proxy:refuse()
      support.advance(2 * own:timeout())
      proxy:heal()
      assert.is_true(tasks:run())
      assert.is_true(held)
    end)

  it("is stopped at once in a campaign, also from a callback", function()
    local holder = support.hold(path)
    local run = spawn_run(election, print)
    await_queue(2)
    election:stop()
    await_end(run)
    assert.same({ true, nil }, { run.ok, run.message })
    support.wait_for_queue(path, 1)
    assert.is_true(holder:is_held())
    local blocking = connect { loop = "poll" }
    local second = blocking:election(path)
    blocking:mutex(support.path()):acquire_async(function(guard)
      guard:release()
      second:stop()
    end)
    assert.is_true(second:run(print))
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
      support.advance(0.001) -- its grant may be on its way
      election:stop()
      await_end(run)
      assert.equal(before, calls)
    end
    support.wait_for_queue(path, 0)
  end)

  it("returns why a campaign is refused for good", function()
    local guard = assert(election:campaign(30))
    assert.matches("already held by the caller",
      kinds.refused("deadlock", election:run(print)))
    guard:release()
    support.hold(path)
    local run = spawn_run(election, print)
    await_queue(2)
    election:cancel()
    await_end(run)
    assert.equal("cancelled", run.code)
    local function close() session:close() end
    assert.matches("the session was closed while waiting for ",
      kinds.refused("closed", session:election(support.path()):run(close)))
  end)

  it("is one at a time of an object, and has options of its own", function()
    election:run(function()
      assert.equal("run is under way for " .. path .. " already: it calls one "
        .. "function at a time", misuse(function() election:run(print) end))
      election:stop()
    end)
    election:stop() -- there is none
    check_free()
    local function run(options) election:run(options, print) end
    for text, options in pairs {
      ["option 'backoff' must be a number of seconds from 0.001 to "
        .. "1000000000, got 0"]
        = { backoff = 0 },
      ["option 'max_backoff' must be a number, got a string"]
        = { max_backoff = "x" },
      ["option 'max_backoff' must be from option 'backoff' to 1000000000, "
        .. "got 0.5"]
        = { max_backoff = 0.5 },
      ["option 'on_error' must be a function, got a boolean"]
        = { on_error = true },
    } do
      assert.equal("zklock: " .. text,
        select(2, pcall(run, options)):match "zklock: .*")
    end
  end)

  it("waits for its function, and calls no other, when its hold is lost",
    function()
      local other, successor = connect { loop = "poll" }, nil
      local calls, inside, states = 0, 0, {}
      local run = spawn_run(election, function(guard)
        calls, inside = calls + 1, inside + 1
        assert(inside == 1)
        if calls == 1 then
          guard:on_lost(function(_, reason) states[1] = reason end)
          assert(other:evict(path, (guard.node:sub(#path + 2))))
          while guard:is_held() do scheduler:pause(0.001) end
          successor = assert(other:mutex(path):acquire(30))
          scheduler:pause(0.05)
          states[2] = guard:state()
        else
          election:stop()
        end
        inside = inside - 1
      end)
      scheduler:run_until(function() return states[2] end)
      assert.same({ "node_deleted", "lost" }, states)
      await_queue(2)
      assert.same({ 1, 0 }, { calls, inside })
      assert.is_true(successor:release())
      await_end(run)
      assert.is_true(run.ok)
      assert.equal(2, calls)
    end)
end)

describe("A function of run that raises", function()
  it("is told to on_error, when the leadership has been given back", function()
    local heard, guard, calls = {}, nil, 0
    local problem, lines = { "an error value" }, {}
    session = connect { log = function(_, line) lines[#lines + 1] = line end }
    election = session:election(path)
    assert.is_true(election:run({ backoff = 0.001, on_error = function(what)
      heard[#heard + 1] = what
      assert.equal("released", guard:state())
    end }, function(mine)
      guard, calls = mine, calls + 1
      if calls == 1 then error "ouch" end
      if calls == 2 then error(problem) end
      election:stop()
    end))
    assert.matches("election_run_spec.lua:%d+: ouch\nstack traceback:",
      heard[1])
    assert.is_true(rawequal(problem, heard[2]))
    assert.same({}, lines)
    -- Without on_error it is told to the log.
    election:run({ backoff = 0.001 }, function()
      if lines[1] then return election:stop() end
      error "ouch"
    end)
    assert.equal(1, #lines)
    assert.matches("^an error in the leader of " .. path:gsub("%p", "%%%0")
      .. ": .*ouch", lines[1])
  end)

  it("ends run with its error where nobody would hear of it", function()
    session = connect { loop = "poll" }
    election = session:election(path)
    for _, problem in ipairs { "text", { code = 42 }, false } do
      local ok, raised = pcall(election.run, election, function()
        error(problem, 0)
      end)
      assert.is_false(ok)
      assert.is_true(rawequal(problem, raised))
      check_free()
    end
    assert.same({ false, "in on_error" }, { pcall(election.run, election,
      { on_error = function() error("in on_error", 0) end }, error) })
    check_free()
    election = connect { loop = scheduler.adapter }:election(path)
    spawn_run(election, function() error("ouch", 0) end)
    assert.equal("ouch", select(2, pcall(scheduler.run, scheduler)))
    check_free()
  end)

  it("is called again after pauses that grow until it succeeds", function()
    local at, calls = {}, 0
    assert.is_true(election:run({
      backoff = 0.1, max_backoff = 0.4, on_error = function() end,
    }, function()
      calls = calls + 1
      at[calls] = support.now()
      if calls == 7 then return end
      if calls == 9 then return election:stop() end
      error "ouch"
    end))
    for i, least in ipairs { 0.05, 0.1, 0.2, 0.2, 0.2, 0.2, 0, 0.05 } do
      local gap = at[i + 1] - at[i]
      assert.is_true(gap >= least and gap <= 2 * least + 0.02, i .. ": " .. gap)
    end
  end)

  it("is no candidate in its pause, while callbacks run", function()
    session = connect { loop = "poll" }
    election = session:election(path)
    local other, free, begun = connect(), nil, support.now()
    assert.is_true(election:run({
      backoff = 60,
      on_error = function()
        session:mutex(support.path()):acquire_async(function(guard)
          guard:release()
          support.wait_for_queue(path, 0)
          free = other:mutex(path):try_acquire()
          election:stop()
        end)
      end,
    }, error))
    assert.is_true(free:is_held())
    assert.is_true(support.now() - begun < 1)
    free:release()
  end)

  it("is stopped or closed in its pause by another task", function()
    for code, fn in pairs { [false] = function() election:stop() end,
        closed = function() session:close() end } do
      session = connect { loop = scheduler.adapter }
      election = session:election(path)
      local failed
      local run = spawn_run(election, error, { backoff = 60,
        on_error = function() failed = true end })
      scheduler:run_until(function() return failed end)
      assert.is_false(run.done)
      scheduler:spawn(fn)
      await_end(run)
      assert.same({ not code or nil, code or nil }, { run.ok, run.code })
    end
  end)
end)

describe("What interrupts run", function()
  it("comes out of it, if a hook has raised it, whoever listens", function()
    local heard = 0
    session = connect { log = function() heard = heard + 1 end }
    election = session:election(path)
    for _, options in ipairs { {}, { on_error = function()
        heard = heard + 1
      end } } do
      local ok, problem = pcall(election.run, election, options, function(guard)
        assert(guard:is_held())
        debug.sethook(function()
          debug.sethook()
          error("interrupted!", 0)
        end, "", 100)
        while true do heard = heard + 0 end
      end)
      assert.same({ false, "interrupted!", 0 }, { ok, problem, heard })
      check_free()
    end
  end)

  if support.is_54 then
    it("is the end of its coroutine, wherever it waits", function()
      for _, place in ipairs { "campaign", "pause", "function" } do
        local there = false
        local holder = place == "campaign" and support.hold(path)
        local task = scheduler:spawn(function()
          election:run({ backoff = 60, on_error = function() end }, function()
            there = true
            if place == "pause" then error "ouch" end
            scheduler:pause(60)
          end)
        end)
        scheduler:run_until(function()
          return there or holder and #support.zk():queue(path) == 2
        end)
        assert.is_true(scheduler:kill(task))
        support.wait_for_queue(path, holder and 1 or 0)
        if holder then holder:release() end
        check_free()
        assert.is_nil(waits.any(session._engine.waits))
      end
    end)
  end
end)
