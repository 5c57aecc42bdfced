-- Who comes back to a queue follows its end, X: it has listed nothing, and
-- watches that one. What may befall X, who follows it, and the servers' word of
-- both.  (Each reply and each event in any order: spec/unit/story_tail.c.)
local kinds = require "integration.family.kinds"
local seize = require "support.seizure".seize
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, await, nobody = support.connect, kinds.await, kinds.nobody

describe("Who follows the end of a queue", function()
  local zk, path
  before_each(function()
    kinds.start()
    zk, path = support.zk(), support.path()
    zk:make(path .. "/kept")
  end)
  after_each(support.finish)

  -- Another client's contender; its path.
  local function stand()
    local node = zk:create(path .. "/other-lock-",
      { ephemeral = true, sequential = true })
    return support.closing(node, function() support.zk():delete(node) end)
  end

  local function settle(session)
    local asked
    support.step_until(session, function()
      local before = asked
      asked = support.requests(session)
      support.advance(0.02)
      return asked == before
    end)
    return asked
  end

  -- A task of a session holds a mutex, was let in after three others, and has
  -- listed B and X behind it.  Another task of the session comes, and the first
  -- one goes.  Returns the new wait, which follows X; B; and X.
  local function follow(join)
    local session, before = connect(), {}
    local mutex = session:mutex(path)
    for i = 1, 3 do before[i] = stand() end
    local first = kinds.queue_in(mutex, path)
    settle(session)
    local b, x = stand(), (join or stand)()
    zk:delete(before[1])
    zk:delete(before[2])
    settle(session)
    zk:delete(before[3])
    await(first)
    local asked, lists = settle(session), session:stats().lists
    -- (First: when no task of the session is there, the end is forgotten.)
    local wait = kinds.queue_in(mutex, path, { owner = {} })
    first.guard:release { wait = true }
    asked = settle(session) - asked
    assert.equal(lists, session:stats().lists)
    assert.equal(1, support.count_watches(x))
    -- A delete, a create, and what it watches: B, too, for no other has come in
    -- between.
    if not join then assert.equal(3 + support.count_watches(b), asked) end
    function wait.asked_for_a_list() return session:stats().lists > lists end
    return wait, b, x
  end

  -- X has gone; B is waited for, and nobody but B.
  local function goes_on(wait, b)
    support.step_until(wait.session, wait.asked_for_a_list, 30, "a list")
    nobody(0.05, wait)
    assert.truthy(zk:exists(wait.node))
    zk:delete(b)
    assert.is_true(await(wait):is_held())
    assert.equal(wait.node, wait.guard.node)
  end

  it("goes on when X is deleted by an operator", function()
    local wait, b, x = follow()
    zk:delete(x)
    goes_on(wait, b)
    wait.guard:release()
  end)

  -- X is a waiter of another session, behind a proxy.
  local function another_session()
    local other = { proxy = start_proxy() }
    return other, function()
      local session = connect { hosts = other.proxy.hosts, session_timeout = 4 }
      other.wait = kinds.queue_in(session:mutex(path), path)
      return other.wait.node
    end
  end

  -- X waits again, in a new session, behind ours.
  local function comes_after(other, wait)
    nobody(0.05, other.wait)
    wait.guard:release { wait = true }
    await(other.wait)
    assert.is_true(other.wait.guard:token() > wait.guard:token())
    other.wait.guard:release { wait = true }
  end

  it("comes before X, whose session ends and which comes back", function()
    local other, join = another_session()
    local wait, b = follow(join)
    local session = other.wait.session
    assert.is_true(seize(support.hosts, session:id()))
    support.until_state(session, "connected", { expiries = 1 })
    support.wait_for_queue(path, 3)
    assert.is_true(zk:queue(path)[2] == wait.node:match "[^/]*$")
    goes_on(wait, b)
    comes_after(other, wait)
  end)

  it("goes on when X is silent as its turn comes, and waits again afterwards",
    function()
      local other, join = another_session()
      local wait, b, x = follow(join)
      other.proxy:freeze()
      zk:delete(b)
      nobody(0.05, wait)
      assert.is_true(await(wait):is_held()) -- in 4 s
      assert.is_false(zk:exists(x))
      other.proxy:heal()
      local queue = support.wait_for_queue(path, 2)
      assert.equal(wait.guard.node, path .. "/" .. queue[1])
      assert.is_true(wait.guard:is_held())
      comes_after(other, wait)
    end)

  it("is not let in for X when X holds, and is silent as it does", function()
    local other, join = another_session()
    local wait, b, x = follow(join)
    zk:delete(b)
    local held = await(other.wait)
    other.proxy:freeze()
    support.wait_until(function()
      assert.is_false(held:is_held() and not zk:exists(x))
      wait.session:step()
      return wait.guard
    end, 10)
    assert.is_false(zk:exists(x))
    assert.equal("lost", select(3, held:release()))
    other.proxy:heal()
    assert.is_true(wait.guard:is_held())
    wait.guard:release()
  end)

  it("begins again when its own session ends", function()
    local wait, b, x = follow()
    local last = stand()
    assert.is_true(seize(support.hosts, wait.session:id()))
    support.until_state(wait.session, "connected", { expiries = 1 })
    support.wait_for_queue(path, 4)
    assert.is_false(zk:exists(wait.node))
    zk:delete(x)
    zk:delete(b)
    nobody(0.05, wait)
    zk:delete(last)
    assert.is_true(await(wait):is_held())
    wait.guard:release()
  end)

  it("stays where it is when its node is deleted, and has a new one by the "
    .. "time it is granted", function()
    local wait, b, x = follow()
    zk:delete(wait.node)
    zk:delete(x)
    support.step_until(wait.session, wait.asked_for_a_list, 30, "a list")
    local queue = support.wait_for_queue(path, 2)
    nobody(0.05, wait)
    zk:delete(b)
    await(wait)
    assert.equal(path .. "/" .. queue[2], wait.guard.node)
    assert.are_not.equal(wait.node, wait.guard.node)
    assert.equal(zk:exists(wait.guard.node).czxid, wait.guard:token())
    wait.guard:release()
  end)

  it("waits on when X is asked to let go", function()
    local wait, b, x = follow()
    zk:set(x, "__REVOKE__")
    support.step_until(wait.session, wait.asked_for_a_list, 30, "a list")
    zk:delete(b)
    nobody(0.05, wait)
    zk:delete(x)
    assert.is_true(await(wait):is_held())
    assert.equal(wait.node, wait.guard.node)
    wait.guard:release()
  end)
end)

describe("A session that comes back to a queue", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  -- What sessions have counted since: requests, lists, handoffs.
  local function counter(sessions)
    local function total()
      local sums = { requests = 0, lists = 0, handoffs = 0 }
      for _, session in ipairs(sessions) do
        sums.requests = sums.requests + support.requests(session)
        for _, name in ipairs { "lists", "handoffs" } do
          sums[name] = sums[name] + session:stats()[name]
        end
      end
      return sums
    end
    local before = total()
    return function()
      local now = total()
      for name in pairs(now) do now[name] = now[name] - before[name] end
      return now
    end
  end

  it("lists less, and is told at once, among ten who work", function()
    local path, waits, sessions = support.path(), {}, {}
    for i = 1, 10 do
      sessions[i] = connect { session_timeout = 60 }
      waits[i] = kinds.queue_in(sessions[i]:mutex(path), path)
    end
    await(waits[1])
    -- The first in the queue releases, and comes back; the next one works until
    -- all have asked what there is to be asked.
    local function pass_on(times)
      for _ = 1, times do
        local first = table.remove(waits, 1)
        first.guard:release()
        waits[#waits + 1] = kinds.wait_in(first.session:mutex(path))
        assert.is_true(await(waits[1]):is_held())
        support.wait_for_queue(path, #waits)
        for _, session in ipairs(sessions) do
          session:step()
          support.requests(session)
        end
        support.advance(0.1)
      end
    end
    pass_on(20)
    local since = counter(sessions)
    pass_on(10)
    assert.same({ requests = 50, lists = 10, handoffs = 10 }, since())
  end)
end)
