-- A multi in every order in which its parts can be granted, refused and lost,
-- its waits cancelled, killed and closed: support/orders.lua.
local files = require "support.files"
local orders = require "support.orders"
local reference = require "support.reference"
local support = require "support"
local zklock = require "zklock"

local VERBS = {
  main = { "acquire", "try_acquire", "with_lock" },
  task = { "acquire", "try_acquire", "with_lock" },
  async = { "acquire" },
}

-- All ways of waiting and all verbs, or those in `changes`, with `changes`.
local function cases(changes)
  local list = {}
  for _, way in ipairs(changes.ways or { "main", "task", "async" }) do
    for _, verb in ipairs(changes.verbs or VERBS[way]) do
      local case = { budget = 1, timeout = 20,
        owner = way ~= "main" and "somebody" or nil }
      for key, value in pairs(changes) do case[key] = value end
      case.way, case.verb = way, verb
      if changes.timeout == false then case.timeout = nil end
      list[#list + 1] = case
    end
  end
  return list
end

-- How many orders there are; the first that goes wrong raises.
local function explore(library, list)
  local stage, count = orders.stage(), 0
  for _, case in ipairs(list) do
    count = count + orders.explore(function(choose)
      orders.run(stage, library, case, choose)
    end)
  end
  return count
end

local ACQUIRE = { "acquire" }

describe("A multi", function()
  local function whole_in_every_order(which, least, ...)
    local lists = { ... }
    it(which .. " is whole or nothing in every order", function()
      local count = 0
      for _, changes in ipairs(lists) do
        count = count + explore(zklock, cases(changes))
      end
      assert.is_true(count > least, count)
    end)
  end

  whole_in_every_order("of two", 700, { list = "b a" },
    { list = "b a", timeout = 0, verbs = ACQUIRE },
    { list = "a b", timeout = false, verbs = ACQUIRE })
  whole_in_every_order("of two, when two things go wrong,", 500,
    { list = "b a", budget = 2, verbs = ACQUIRE, ways = { "task" } })
  whole_in_every_order("of three, and of any that are given twice,", 200,
    { list = "c a b", verbs = ACQUIRE, ways = { "task", "async" } },
    { list = "b c b a", budget = 0 })
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

-- What a multi must not do: each of these is noticed in some order.
local BREAKAGES = { multi = {
  { "asks in the wrong order", "bytes.less(a.path, b.path)",
    "bytes.less(b.path, a.path)" },
  { "takes a lock twice", "if not seen[name_of(part)] then", "do" },
  { "gives every part the whole timeout",
    "if deadline then return", "if nil then return" },
  { "is granted with its first part",
    "multi_guards.count(guard) == #multi._parts",
    "multi_guards.count(guard) >= 1" },
  { "keeps the rest when its task is killed",
    "function Ending:finish()\n", "function Ending:finish()\n  do return end" },
  { "cannot be cancelled between two parts",
    "taking.cancelled and not is_complete", "nil" },
  { "cannot be cancelled while it waits",
    "if taking.wait then waits.cancel(taking.wait) end", "" },
  { "does not say what was tried", "request.busy = true", "" },
}, multi_guard = {
  { "keeps what it has when it is refused",
    "self._outcome = self._outcome or \"released\"\n  give_back(self)", "" },
  { "keeps the rest when a part is lost",
    "give_back(self)\n  local wait", "local wait" },
  { "waits on when a part is lost",
    "if wait then waits.cancel(wait) end", "" },
  { "does not look at what it has when it is complete",
    "if not part:is_held() then return", "if nil then return" },
  { "never says lost", "if weak[1] then", "if nil then" },
  { "says the wrong code", "errors.code_of_loss(reason)\n  for",
    "\"timeout\"\n  for" },
  { "lets one listener silence the others",
    "events:call(listener, self, code, reason)",
    "listener.fn(self, code, reason)" },
  { "believes in its first part alone",
    "least = math.min(least, part:lease())",
    "least = self._parts[1]:lease()" },
  { "is released, whatever was lost",
    "self._outcome = lost_part and \"lost\" or \"released\"",
    "self._outcome = \"released\"" },
  { "releases all but one",
    "for i = #self._parts, 1, -1 do\n    local part",
    "for i = #self._parts, 2, -1 do\n    local part" },
  { "does not wait for the confirmation", "done and done ~= true", "nil" },
  { "has another path's token",
    "token = part:token()", "token = self._parts[1]:token()" },
  { "counts its parts' turns", "turn = part:turn()", "turn = 1" },
  { "asks twice to be let go", "if not told then", "do" },
  { "has no parts' nodes", "nodes[i] = part.node", "nodes[i] = part.path" },
}, owner = {
  { "is remembered for ever", "table.remove(stack, i)", "" },
} }

-- The library, with a breakage in one of its modules.
local function load_broken(module, breakage)
  local name = "lua/zklock/" .. module .. ".lua"
  local source = files.read((os.getenv "SPEC_ROOT" or ".") .. "/" .. name)
  local from, to = source:find(breakage[2], 1, true)
  assert(from, name .. " has changed: " .. breakage[2])
  package.preload["zklock." .. module] = assert((loadstring or load)(
    source:sub(1, from - 1) .. breakage[3] .. source:sub(to + 1), "@" .. name))
  local broken = reference.load(function() end, { "zklock" }).zklock
  package.preload["zklock." .. module] = nil
  return broken
end

-- Enough to notice what is broken.
local function explore_some(library)
  explore(library, cases { list = "b c b a", budget = 0 })
  explore(library, cases { list = "b a" })
end

describe("In some order it is noticed that a multi", function()
  for module, list in pairs(BREAKAGES) do
    for _, breakage in ipairs(list) do
      it(breakage[1], function()
        local broken = load_broken(module, breakage)
        assert.is_false(pcall(explore_some, broken))
        pcall(support.finish) -- what it leaves behind is its own affair
      end)
    end
  end
end)
