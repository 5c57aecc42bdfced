-- Who comes back to a queue follows its end, X: it has listed nothing, and
-- watches that one. What may befall X, who follows it, and the servers' word of
-- both.  (How many requests that costs: tail_spec; each reply and each event in
-- any order: spec/unit/story_tail.c.)
local kinds = require "integration.family.kinds"
local seize = require "support.seizure".seize
local spawn = require "support.child".spawn
local support = require "support"
local connect, await, nobody = support.connect, kinds.await, kinds.nobody

describe("Who follows the end of a queue #once", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  local zk, path
  before_each(function()
    zk, path = support.zk(), support.path()
    zk:make(path .. "/kept")
  end)

  -- Somebody else's contender, in the directory; its path.
  local function stand(marker, directory)
    local node = zk:create((directory or path) .. "/other" .. marker,
      { ephemeral = true, sequential = true })
    return support.closing(node, function() support.zk():delete(node) end)
  end

  local function stand_all(markers)
    local nodes = {}
    for i, marker in ipairs(markers) do nodes[i] = stand(marker) end
    return nodes
  end

  local function watchers(node) return support.count_watches(node) end

  local function settle(session)
    local last
    support.step_until(session, function()
      local stats = session:stats()
      local own = stats.requests - stats.heartbeats - stats.nudges
      local same = stats.in_flight == 0 and own == last
      last = own
      if not same then support.sleep(0.02) end
      return same
    end, 20, "a session that asks nothing")
    return last
  end

  -- `lock` is held by somebody of its session who was let in after three
  -- others, and saw whatever `others()` has put behind it.  Another of the
  -- session comes, and the first one goes.  `marker`: of what keeps one
  -- waiting.  Returns the new wait.
  local function come_back(lock, marker, others, directory)
    directory = directory or path
    local session, before = lock._session, {}
    for i = 1, 3 do before[i] = stand(marker, directory) end
    local first = kinds.queue_in(lock, directory)
    settle(session)
    others()
    zk:delete(before[1])
    zk:delete(before[2])
    settle(session)
    zk:delete(before[3])
    await(first)
    settle(session)
    local asked, lists = settle(session), session:stats().lists
    -- (First: when nobody of the session is there, the end is forgotten.)
    local wait = kinds.queue_in(lock, directory, { owner = {} })
    first.guard:release { wait = true }
    wait.requests = settle(session) - asked
    assert.equal(lists, session:stats().lists)
    wait.asked_for_a_list = function() return session:stats().lists > lists end
    return wait
  end

  -- B and X behind it; it follows X, and its node is behind theirs.
  local function follow_a_mutex(join, options)
    local b, x
    local wait = come_back(connect(options):mutex(path), "-lock-", function()
      b = stand "-lock-"
      x = join and join() or stand "-lock-"
    end)
    assert.equal(1, watchers(x))
    -- A delete, a create, and what it watches: B, too, for nobody has come in
    -- between. (But if X watches B that one is watched anyway.)
    local both = 2 + watchers(x) + watchers(b)
    if not (join and wait.requests == both - 1) then
      assert.equal(both, wait.requests)
    end
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
    local wait, b, x = follow_a_mutex()
    zk:delete(x)
    goes_on(wait, b)
    wait.guard:release()
  end)

  it("goes on when all ahead are deleted at once", function()
    local wait, b, x = follow_a_mutex()
    zk:delete(b)
    zk:delete(x)
    assert.is_true(await(wait):is_held())
    wait.guard:release()
  end)

  it("comes before X, whose session ends and which comes back", function()
    local other
    local wait, b = follow_a_mutex(function()
      local session = connect()
      other = kinds.queue_in(session:mutex(path), path)
      return other.node
    end)
    assert.is_true(seize(support.hosts, other.session:id()))
    support.step_until(other.session, function()
      return other.session:stats().expiries == 1
        and #zk:queue(path) == 3
    end, 20, "X at the end")
    assert.is_true(zk:queue(path)[2] == wait.node:match "[^/]*$")
    goes_on(wait, b)
    nobody(0.05, other)
    wait.guard:release()
    await(other)
    assert.is_true(other.guard:token() > wait.guard:token())
    other.guard:release()
  end)

  -- X is a process, which says what it is told: its node stands behind B's.
  local function in_a_process()
    local child
    local function join()
      local before = #zk:queue(path)
      child = spawn([[
        local path = ...
        local session = assert(zklock.connect(hosts, { session_timeout = 4 }))
        local guard = assert(session:mutex(path):acquire(120))
        say "held"
        hear()
        say(guard:is_held())
        guard:release { wait = true }
        say "released"
        hear()
      ]], path)
      return path .. "/" .. support.wait_for_queue(path, before + 1)[before + 1]
    end
    return join, function() return child end
  end

  it("goes on when X's process is killed", function()
    local join, process = in_a_process()
    local wait, b = follow_a_mutex(join)
    process():signal "KILL"
    goes_on(wait, b)
    wait.guard:release()
  end)

  it("goes on when X's process is stopped, which waits again afterwards",
    function()
      local join, process = in_a_process()
      local wait, b, x = follow_a_mutex(join)
      process():signal "STOP"
      zk:delete(b) -- now it would be X's turn
      nobody(0.05, wait)
      assert.is_true(await(wait):is_held()) -- in 4 s
      assert.is_false(zk:exists(x))
      process():signal "CONT"
      -- Whatever it reads first, it stands behind us.
      local queue = support.wait_for_queue(path, 2)
      assert.equal(wait.guard.node, path .. "/" .. queue[1])
      assert.is_true(wait.guard:is_held())
      assert.is_true(wait.guard:release { wait = true })
      process():expect "held"
      process():say()
      process():expect "true"
      process():expect "released"
    end)

  it("is not let in for X when X holds, and is stopped as it does", function()
    local join, process = in_a_process()
    local wait, b, x = follow_a_mutex(join)
    zk:delete(b)
    process():expect "held"
    process():signal "STOP"
    assert.is_true(await(wait):is_held())
    assert.is_false(zk:exists(x))
    process():say()
    process():signal "CONT"
    process():expect "false" -- though nothing has told it yet
    process():expect "released"
    assert.is_true(wait.guard:is_held())
    wait.guard:release()
  end)

  it("begins again when its own session ends", function()
    local wait, b, x = follow_a_mutex()
    local last = stand "-lock-"
    assert.is_true(seize(support.hosts, wait.session:id()))
    support.step_until(wait.session, function()
      return wait.session:stats().expiries == 1 and #zk:queue(path) == 4
    end, 20, "its new node")
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
    local wait, b, x = follow_a_mutex()
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
    local wait, b, x = follow_a_mutex()
    zk:set(x, "__REVOKE__")
    support.step_until(wait.session, wait.asked_for_a_list, 30, "a list")
    zk:delete(b)
    nobody(0.05, wait)
    zk:delete(x)
    assert.is_true(await(wait):is_held())
    assert.equal(wait.node, wait.guard.node)
    wait.guard:release()
  end)

  it("hears when it holds that it was asked to let go as it waited", function()
    local wait, b, x = follow_a_mutex(nil, { session_timeout = 4 })
    zk:set(wait.node, "__REVOKE__")
    zk:delete(b)
    zk:delete(x)
    await(wait)
    local asked = false
    wait.guard:on_revoke(function() asked = true end)
    support.step_until(wait.session, function() return asked end, 10,
      "the request")
    assert.is_true(wait.guard:is_held())
    wait.guard:release()
  end)

  it("waits for the last writer only, as a reader", function()
    local nodes
    local wait = come_back(connect():rwlock(path).read, "-__WRIT__", function()
      nodes = stand_all { "-__READ__", "-__WRIT__", "-__READ__", "-__WRIT__",
        "-__READ__" }
    end)
    for _, i in ipairs { 1, 3, 5 } do
      assert.equal(0, watchers(nodes[i]), "a reader is watched")
    end
    assert.equal(1, watchers(nodes[4]))
    assert.equal(2 + watchers(nodes[2]) + watchers(nodes[4]), wait.requests)
    zk:delete(nodes[5])
    zk:delete(nodes[2])
    nobody(0.05, wait)
    zk:delete(nodes[4])
    assert.is_true(await(wait):is_held()) -- beside two readers
    wait.guard:release()
  end)

  it("waits for whoever is last, as a writer", function()
    local nodes
    local wait = come_back(connect():rwlock(path).write, "-__WRIT__", function()
      nodes = stand_all { "-__WRIT__", "-__READ__", "-__READ__" }
    end)
    assert.equal(1, watchers(nodes[3]))
    assert.equal(2 + watchers(nodes[2]) + watchers(nodes[3]), wait.requests)
    zk:delete(nodes[1])
    zk:delete(nodes[3])
    nobody(0.05, wait)
    zk:delete(nodes[2])
    assert.is_true(await(wait):is_held())
    wait.guard:release()
  end)

  -- (Its gate is a mutex.  Another of its session keeps the queue known.)
  it("waits for whoever is last at a semaphore's gate", function()
    local gates, session = path .. "/locks", connect()
    local semaphore, before, first, second = session:semaphore(path, 1), {}
    zk:make(gates)
    zk:make(path .. "/leases/kept")
    for i = 1, 3 do before[i] = stand("-lock-", gates) end
    first = kinds.queue_in(semaphore, gates)
    second = kinds.queue_in(semaphore, gates)
    settle(session)
    local b, x = stand("-lock-", gates), stand("-lock-", gates)
    zk:delete(before[1])
    zk:delete(before[2])
    settle(session)
    zk:delete(before[3])
    await(first)
    kinds.wait_for_nodes(path .. "/leases", 2) -- the second is at the gate
    settle(session)
    first.guard:release()
    local third = kinds.queue_in(semaphore, gates)
    await(second)
    settle(session)
    assert.equal(1, watchers(x))
    zk:delete(b)
    nobody(0.05, third)
    zk:delete(x)
    support.wait_for_queue(gates, 1)
    nobody(0.05, third) -- the permit is the second's
    second.guard:release()
    assert.is_true(await(third):is_held())
    third.guard:release()
  end)
end)
