-- A multi in every order in which its parts can be granted, refused and lost,
-- its waits cancelled, killed and closed: support/orders.lua.
local orders = require "support.orders"
local support = require "support"
local zklock = require "zklock"

local VERBS = {
  main = { "acquire", "try_acquire", "with_lock" },
  task = { "acquire", "with_lock" },
  async = { "acquire" },
}

-- All ways of waiting and all verbs, or those in `changes`, with `changes`.
local function cases(changes)
  local list = {}
  for _, way in ipairs(changes.ways or { "main", "task", "async" }) do
    for _, verb in ipairs(changes.verbs or VERBS[way]) do
      list[#list + 1] = { budget = changes.budget or 1, timeout = 20,
        owner = way ~= "main" and "somebody" or nil, list = changes.list,
        way = way, verb = verb }
    end
  end
  return list
end

-- How many orders there are; the first that goes wrong raises.
local function explore(list)
  local stage, count = orders.stage(), 0
  for _, case in ipairs(list) do
    count = count + orders.explore(function(choose)
      orders.run(stage, zklock, case, choose)
    end)
  end
  return count
end

describe("A multi", function()
  it("of two is whole or nothing in every order", function()
    assert.is_true(explore(cases { list = "b a" }) > 300)
  end)

  it("of three, and of any that are given twice, is so, too", function()
    local n = explore(cases { list = "c a b", verbs = { "acquire" },
      ways = { "async" } })
    n = n + explore(cases { list = "b c b a", budget = 0 })
    assert.is_true(n > 60, n)
  end)
end)

describe("The guard of a multi", function()
  local session, multi, paths
  local function open(loop)
    paths = { support.path(), support.path() }
    session = support.connect { session_timeout = 6 }
    session._engine.adapters.loop = loop or session._engine.adapters.loop
    multi = session:multi { session:mutex(paths[1]), session:mutex(paths[2]) }
  end

  local function await_nodes(n)
    support.wait_until(function()
      return support.count_contenders(paths[1])
        + support.count_contenders(paths[2]) == n
    end)
  end

  -- Asks, and steps until it is answered.
  local function ask()
    local answer
    multi:acquire_async({ owner = "me" }, function(...) answer = { ... } end)
    support.step_until(session, function() return answer end)
    return answer[1], answer[3]
  end

  it("survives a release that was misspelt", function()
    open()
    local guard = ask()
    assert.is_false(pcall(guard.release, guard, { wiat = true }))
    assert.is_false(pcall(guard.release, guard, { wait = 1 }))
    assert.is_true(guard:is_held())
    assert.is_true(guard:release())
    await_nodes(0)
  end)

  it("answers lost until it is released, to every question", function()
    open()
    local guard = ask()
    support.zk():delete(guard.node:match ",(.*)")
    support.step_until(session, function() return not guard:is_held() end)
    for _ = 1, 2 do
      assert.equal("lost", select(3, multi:acquire { owner = "me" }))
      assert.equal("lost", select(2, ask()))
    end
    await_nodes(0)
    assert.equal("lost", select(3, guard:release()))
    assert.is_true(ask():release())
  end)

  it("is answered for once, if the session is closed on re-entry", function()
    open { wait = function() end, wake = function() end }
    ask()
    local answers = {}
    multi:acquire_async({ owner = "me" }, function(_, _, code)
      answers[#answers + 1] = code or "granted"
    end)
    session:close()
    assert.same({ "closed" }, answers)
  end)

  it("ends with the request of nginx that asked for it", function()
    local over = false
    local scope = {
      waits = {}, guards = {}, has_ended = function() return over end,
      add = function(_, set, thing) set[thing] = true end,
      remove = function(_, set, thing) set[thing] = nil end,
    }
    local running = scope
    open { wait = function() end, wake = function() end,
      scope = function() return running end }
    session._engine.adapters:for_waiting()
    local blocker = support.hold(paths[2])
    local called = false
    multi:acquire_async(function() called = true end)
    running = nil -- what goes on runs in nobody's name
    support.step_until(session, function()
      return support.count_contenders(paths[2]) == 2
    end)
    assert.is_truthy(next(scope.waits))
    over = true
    blocker:release { wait = true }
    support.advance(1)
    session:step()
    assert.is_false(called)
  end)

  it("is given back if nobody can have it any more", function()
    for grants = 0, 2 do
      open { wake = function() end, wait = function()
        local task, is_main = coroutine.running()
        if task and not is_main then coroutine.yield() end
      end }
      local blockers = { support.hold(paths[1]), (support.hold(paths[2])) }
      local task = coroutine.create(function() return multi:acquire() end)
      coroutine.resume(task)
      for i = 1, grants do
        blockers[i]:release { wait = true }
        support.advance(1)
        session:step()
        coroutine.resume(task)
      end
      task = nil
      for _, blocker in ipairs(blockers) do blocker:release { wait = true } end
      support.step_until(session, function()
        support.collect()
        return support.count_contenders(paths[1])
          + support.count_contenders(paths[2]) == 0
      end, nil, ("the end of what %d grants have made"):format(grants))
      assert.is_nil(task)
    end
  end)
end)
