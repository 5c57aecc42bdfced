-- A multi between two of its parts, and after their losses: it is whole, or
-- nothing is left of it.
local kinds = require "integration.family.kinds"
local new_scheduler = require "support.scheduler".new
local start_proxy = require "support.proxy".start
local support = require "support"
local wait_in, await, refused = kinds.wait_in, kinds.await, kinds.refused
local unpack = unpack or table.unpack

local path, session, multi, zk
before_each(function() path, zk = support.path(), support.zk() end)

local function open(options)
  options = options or {}
  options.session_timeout = 6
  session = support.connect(options)
  multi = session:multi { session:mutex(path .. "/a"),
    session:mutex(path .. "/b") }
end

local function hold(name) return support.hold(path .. "/" .. name) end
local function queue(name) return zk:queue(path .. "/" .. name) end

-- Each part has so many contenders, in the end.
local function are_left(a, b)
  support.wait_for_queue(path .. "/a", a)
  support.wait_for_queue(path .. "/b", b)
end

-- Between the grants of its parts.
describe("A multi", function()
  -- What the I/O thread has done for it, its session has not told it yet.
  it("can be cancelled just after the grant of a part", function()
    open()
    local first = hold "a"
    local waiter = wait_in(multi)
    support.wait_for_queue(path .. "/a", 2)
    first:release { wait = true }
    support.advance(1)
    multi:cancel()
    refused("cancelled", await(waiter))
    are_left(0, 0)
  end)

  it("returns closed if its session is closed just after the grant of a "
    .. "part", function()
    local scheduler, said = new_scheduler(), nil
    open { loop = scheduler.adapter }
    local first = hold "a"
    scheduler:spawn(function() said = { multi:acquire() } end)
    scheduler:turn()
    support.wait_for_queue(path .. "/a", 2)
    first:release { wait = true }
    support.step_until(session, function() return scheduler.ready[1] end)
    session:close()
    assert.is_true(scheduler:run())
    assert.matches("the session was closed while waiting for ",
      refused("closed", unpack(said, 1, 3)))
    are_left(0, 0)
  end)

  it("is lost if a part is lost, before it waits for the last part or in that "
    .. "wait",
    function()
      for _, is_last in ipairs { false, true } do
        open()
        local second = hold "b"
        local waiter = wait_in(multi)
        support.step_until(session, function() return #queue "b" == 2 end)
        if is_last then
          second:release { wait = true }
          support.advance(0.1)
        end
        zk:delete(path .. "/a/" .. queue "a"[1])
        support.advance(3)
        assert.matches("the hold of " .. path .. "/a was lost while the rest",
          refused("lost", await(waiter)), 1, true)
        are_left(0, is_last and 0 or 1)
        second:release { wait = true }
      end
    end)

  -- Of any lock: a coroutine that an error has ended is not collected yet.
  it("releases its parts when its task ends in the wait", function()
    for _, way in ipairs { "error", support.is_54 and "kill" or nil } do
      local scheduler, second = new_scheduler(), hold "b"
      open { loop = scheduler.adapter }
      for _, lock in ipairs { multi, session:mutex(path .. "/b") } do
        collectgarbage "stop"
        local task = scheduler:spawn(function() lock:acquire() end)
        scheduler:run_until(function() return #queue "b" == 2 end)
        if way == "kill" then
          assert.is_true(scheduler:kill(task))
        else
          scheduler.problem = "an error of the loop"
          scheduler:resume(task)
          assert.is_false(pcall(scheduler.turn, scheduler))
          scheduler.problem = nil
        end
        are_left(0, 1)
        collectgarbage "restart"
      end
      second:release { wait = true }
    end
  end)

  it("is given back if nobody can have it any more", function()
    for grants = 0, 2 do
      local scheduler = new_scheduler()
      open { loop = scheduler.adapter }
      local blockers = { hold "a", (hold "b") }
      local task = scheduler:spawn(function() return multi:acquire() end)
      scheduler:turn()
      for i = 1, grants do
        blockers[i]:release { wait = true }
        support.advance(1)
        scheduler:turn()
      end
      scheduler:forget(task)
      task = nil
      for _, blocker in ipairs(blockers) do blocker:release { wait = true } end
      support.step_until(session, function()
        support.collect()
        return #queue "a" + #queue "b" == 0
      end, nil, ("the end of what %d grants have made"):format(grants))
      assert.is_nil(task)
    end
  end)

  it("ends with the request of nginx that asked for it", function()
    local over = false
    local scope = {
      waits = {}, guards = {}, has_ended = function() return over end,
      add = function(_, set, thing) set[thing] = true end,
      remove = function(_, set, thing) set[thing] = nil end,
    }
    local running = scope
    open()
    session._engine.adapters.loop = { wait = function() end,
      wake = function() end, scope = function() return running end }
    session._engine.adapters:for_waiting()
    local blocker, called = hold "b", false
    multi:acquire_async(function() called = true end)
    running = nil -- what goes on runs in nobody's name
    support.step_until(session, function() return #queue "b" == 2 end)
    assert.is_truthy(next(scope.waits))
    over = true
    blocker:release { wait = true }
    support.advance(1)
    session:step()
    assert.is_false(called)
  end)
end)

describe("A multi's guard", function()
  it("can be released after a call with a misspelt option", function()
    open()
    local guard = assert(multi:acquire(30))
    assert.is_false(pcall(guard.release, guard, { wiat = true }))
    assert.is_false(pcall(guard.release, guard, { wait = 1 }))
    assert.is_true(guard:is_held())
    assert.is_true(guard:release())
    are_left(0, 0)
  end)

  it("calls each on_lost callback once, even if one raises an error", function()
    open()
    local guard, told = assert(multi:acquire(30)), 0
    guard:on_lost(function() error "ouch" end)
    guard:on_lost(function() told = told + 1 end)
    zk:delete(path .. "/b/" .. queue "b"[1])
    support.wait_until(function()
      pcall(session.step, session)
      return told > 0
    end)
    are_left(0, 0)
    refused("lost", guard:release())
    pcall(session.step, session)
    assert.equal(1, told)
  end)

  it("answers lost until it is released, to every question", function()
    open()
    local guard = await(wait_in(multi, { owner = "me" }))
    zk:delete(guard.node:match ",(.*)")
    support.step_until(session, function() return not guard:is_held() end)
    for _ = 1, 2 do
      refused("lost", multi:acquire { owner = "me" })
      refused("lost", await(wait_in(multi, { owner = "me" })))
    end
    are_left(0, 0)
    refused("lost", guard:release())
    assert.is_true(await(wait_in(multi, { owner = "me" })):release())
  end)

  it("is released if the function of with_lock ends its coroutine, as any "
    .. "guard",
    function()
      open { loop = "poll" }
      for _, lock in ipairs { multi, session:mutex(path .. "/b") } do
        collectgarbage "stop"
        local task = coroutine.create(function()
          lock:with_lock(function() error "ouch" end)
        end)
        assert.is_false(coroutine.resume(task))
        are_left(0, 0)
        collectgarbage "restart"
      end
    end)

  it("reports no confirmed release if its session is closed, or its task "
    .. "killed",
    function()
      for _, way in ipairs { "session", support.is_54 and "task" or nil } do
        local proxy, scheduler = start_proxy(), new_scheduler()
        open { hosts = proxy.hosts, loop = scheduler.adapter }
        local guard, code
        scheduler:spawn(function() guard = assert(multi:acquire(30)) end)
        assert.is_true(scheduler:run())
        proxy:freeze()
        local task = scheduler:spawn(function()
          code = select(3, guard:release { wait = true })
        end)
        scheduler:turn()
        if way == "session" then
          session:close()
          assert.is_true(scheduler:run())
          assert.equal("closed", code)
        else
          assert.is_true(scheduler:kill(task))
        end
        proxy:heal()
        are_left(0, 0)
        assert.equal("released", guard:state())
      end
    end)

  it("is answered for once, if the session is closed on re-entry", function()
    open()
    assert(await(wait_in(multi, { owner = "me" })))
    local answers = {}
    multi:acquire_async({ owner = "me" }, function(_, _, code)
      answers[#answers + 1] = code or "granted"
    end)
    session:close()
    assert.same({ "closed" }, answers)
  end)
end)
