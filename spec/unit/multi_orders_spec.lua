-- A multi in every order in which its parts can be granted, refused and lost,
-- its waits cancelled, killed and closed: support/orders.lua.
local orders = require "support.orders"
local scripted = require "support.scripted_core"

local verbs = {
  main = { "acquire", "try_acquire", "with_lock" },
  task = { "acquire", "try_acquire", "with_lock" },
  async = { "acquire" },
}

-- All ways of waiting and all verbs, or those in `changes`, with `changes`.
local function cases(changes)
  local list = {}
  for _, way in ipairs(changes.ways or { "main", "task", "async" }) do
    for _, verb in ipairs(changes.verbs or verbs[way]) do
      local case = { budget = 1, timeout = 60,
        owner = way ~= "main" and "somebody" or nil }
      for key, value in pairs(changes) do case[key] = value end
      case.way, case.verb = way, verb
      if verb == "try_acquire" or changes.timeout == false then
        case.timeout = nil
      end
      list[#list + 1] = case
    end
  end
  return list
end

-- How many orders there are; the first that goes wrong raises.  A quarter of
-- the time would be the collector's.
local function explore(library, list, run)
  collectgarbage("setpause", 1000)
  local count = 0
  for _, case in ipairs(list) do
    count = count + orders.explore(function(choose)
      (run or orders.run)(library, case, choose)
    end)
  end
  return count
end

local ACQUIRE = { "acquire" }

-- Enough to notice what is broken.
local function explore_some(library)
  explore(library, cases { list = "b c b a", budget = 0 })
  explore(library, cases { list = "b a", verbs = ACQUIRE })
  explore(library, {
    { way = "main", list = "b c,a b,b c", owner = "main", budget = 1 },
  }, orders.run_crowd)
end

describe("A multi #layer", function()
  local library = scripted.load()

  it("of two is whole or nothing in every order", function()
    local count = explore(library, cases { list = "b a" })
      + explore(library, cases { list = "b a", timeout = 0, verbs = ACQUIRE })
      + explore(library, cases { list = "a b", timeout = false,
        verbs = ACQUIRE })
    assert.is_true(count > 1000, count)
  end)

  it("of two is, when two things go wrong", function()
    local count = explore(library, cases { list = "b a", budget = 2,
      verbs = ACQUIRE, ways = { "main", "async" } })
    assert.is_true(count > 1500, count)
  end)

  it("of two is, when two things go wrong for a task #slow", function()
    local count = explore(library, cases { list = "b a", budget = 2,
      verbs = ACQUIRE, ways = { "task" } })
    assert.is_true(count > 3000, count)
  end)

  it("of three is, and of any that are given twice", function()
    local count = explore(library, cases { list = "c a b", verbs = ACQUIRE,
      ways = { "task", "async" } })
      + explore(library, cases { list = "b c b a", budget = 0 })
    assert.is_true(count > 700, count)
  end)

  it("of both sides of a rwlock and a permit is", function()
    local count = explore(library, cases { list = "b! a*", verbs = ACQUIRE,
      ways = { "main", "async" } })
    assert.is_true(count > 200, count)
  end)

  it("that shares a part with another neither disturbs it nor waits for ever",
    function()
      local count = explore(library, {
        { way = "task", list = "b a,c b", budget = 0 },
        { way = "async", list = "b a,b c", budget = 1 },
        { way = "async", list = "b a,c b,a c", budget = 0 },
      }, orders.run_crowd)
      assert.is_true(count > 1000, count)
    end)

  it("may be entered again by its owner, also in parts", function()
    local count = explore(library, {
      { way = "main", list = "b c,a b,b c", owner = "main", budget = 1 },
      { way = "async", list = "a b,b c", owner = "somebody", budget = 1 },
    }, orders.run_crowd)
    assert.is_true(count > 400, count)
  end)
end)

-- A session over a script, and a multi of "/a" and "/b" in it.
local function open(library, loop)
  local script = scripted.new()
  script.on_wait = function() script:enter "connected" end
  local session = library.connect("host:1", { loop = "poll" })
  session._engine.adapters.loop = loop or "poll"
  return script, session, session:multi {
    session:mutex "/a", session:mutex "/b",
  }
end

-- Grants the parts of one acquisition, and lets it hear.
local function grant_all(script, session)
  for _ = 1, 2 do
    script:grant(script.claims[#script.claims])
    session:step()
  end
end

local function states(script)
  local list = {}
  for i, claim in ipairs(script.claims) do list[i] = claim.state end
  return table.concat(list, " ")
end

describe("The guard of a multi #layer", function()
  local library = scripted.load()

  it("survives a release that was misspelt", function()
    local script, session, multi = open(library)
    local guard
    multi:acquire_async({ owner = "me" }, function(mine) guard = mine end)
    grant_all(script, session)
    assert.is_false(pcall(guard.release, guard, { wiat = true }))
    assert.is_false(pcall(guard.release, guard, { wait = 1 }))
    assert.is_true(guard:is_held())
    assert.is_true(guard:release())
    assert.equal("released released", states(script))
  end)

  it("answers lost until it is released, whoever asks", function()
    local script, session, multi = open(library)
    local guard, code
    multi:acquire_async({ owner = "me" }, function(mine) guard = mine end)
    grant_all(script, session)
    script:lose(script.claims[2], "expired")
    session:step()
    for _ = 1, 2 do
      assert.equal("lost", select(3, multi:acquire { owner = "me" }))
      multi:acquire_async({ owner = "me" }, function(_, _, why) code = why end)
      session:step()
      assert.equal("lost", code)
    end
    assert.equal("released lost", states(script))
    assert.equal("lost", select(3, guard:release()))
    multi:acquire_async({ owner = "me" }, function(mine) guard = mine end)
    grant_all(script, session)
    assert.is_true(guard:release())
  end)

  it("is answered for once, if the session is closed on re-entry", function()
    local loop = { wait = function() end, wake = function() end }
    local script, session, multi = open(library, loop)
    local answers = {}
    local function answer(guard, _, code)
      answers[#answers + 1] = code or guard
    end
    multi:acquire_async({ owner = "me" }, answer)
    grant_all(script, session)
    multi:acquire_async({ owner = "me" }, answer)
    session:close()
    assert.equal(2, #answers)
    assert.equal("closed", answers[2])
  end)

  it("ends with the request of nginx that asked for it", function()
    local over = false
    local scope = {
      waits = {}, guards = {}, has_ended = function() return over end,
      add = function(_, set, thing) set[thing] = true end,
      remove = function(_, set, thing) set[thing] = nil end,
    }
    local running = scope
    local script, session, multi = open(library, {
      wait = function() end, wake = function() end,
      scope = function() return running end,
    })
    session._engine.adapters:for_waiting()
    local called = false
    multi:acquire_async(function() called = true end)
    running = nil -- what goes on runs in nobody's name
    script:grant(script.claims[1])
    session:step()
    assert.is_truthy(next(scope.waits))
    over = true
    script:grant(script.claims[2])
    session:step()
    assert.is_false(called)
  end)

  it("is given back if nobody can have it any more", function()
    for grants = 0, 2 do
      local loop = {
        wait = function() if coroutine.running() then coroutine.yield() end end,
        wake = function() end,
      }
      local script, session, multi = open(library, loop)
      local task = coroutine.create(function() return multi:acquire() end)
      coroutine.resume(task)
      for i = 1, grants do
        script:grant(script.claims[i])
        session:step()
        coroutine.resume(task)
      end
      task = nil
      -- (What waits is kept until it is answered.)
      for _, claim in ipairs(script.claims) do
        if claim.state == "waiting" then script:grant(claim) end
      end
      session:step()
      for _ = 1, 4 do collectgarbage() end
      script:obey()
      assert.is_nil(states(script):find "held", task)
      assert.is_true(script.collected > 0)
      assert.equal(#script.claims, script.collected)
    end
  end)
end)

-- What a multi must not do: each of these is noticed in some order.
local breakages = { multi = {
  { "asks in the wrong order", "bytes.less(a.path, b.path)",
    "bytes.less(b.path, a.path)" },
  { "takes a lock twice", "if not seen[name_of(part)] then", "do" },
  { "gives every part the whole timeout",
    "if deadline then return", "if nil then return" },
  { "is granted with its first part",
    "multi_guards.count(guard) == #multi._parts",
    "multi_guards.count(guard) >= 1" },
  { "keeps the rest when its task is killed",
    "function Ending:finish()\n", "function Ending:unused()\n" },
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

describe("In some order it is noticed that a multi #layer #once #slow",
function()
  local function check(module, breakage)
    it(breakage[1], function()
      local broken = scripted.load("zklock." .. module, function(source)
        local from, to = source:find(breakage[2], 1, true)
        assert(from, module .. ".lua has changed: " .. breakage[2])
        return source:sub(1, from - 1) .. breakage[3] .. source:sub(to + 1)
      end)
      assert.is_false(pcall(explore_some, broken))
    end)
  end
  for module, list in pairs(breakages) do
    for _, breakage in ipairs(list) do check(module, breakage) end
  end
end)
