-- What the contract says of every lock, said of every kind of lock.
local kinds = require "integration.family.kinds"
local seize = require "support.seizure".seize
local sessions = require "integration.sessions"
local support = require "support"
local connect, misuse = support.connect, support.misuse
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody
local refused, takes = kinds.refused, kinds.takes

local function is_reentrant(kind) return kind.reentrant end

-- Waiters for an unfair lock have no node, those for a multi one of a part.
local function has_place(kind)
  return kind.name ~= "unfair" and not kind.multi
end

-- Another session holds the lock against which `kind` contends.
local function rival_holds(kind, path)
  local lock = kind.rival(connect(), path)
  return support.closing(assert(lock:acquire { timeout = 5, owner = {} }),
    function() end)
end

describe("A free lock", function()
  kinds.each(it, "is granted with every form of the timeout (T12)",
    function(kind)
    local path = support.path()
    local lock = kind.make(connect(), path)
    for i, form in ipairs {
      {}, { 5 }, { 0 }, { math.huge }, { { timeout = 0 } }, { { data = "x" } },
      { { timeout = math.huge } }, { { max_hold = 60 } }, { { owner = {} } },
      { { timeout = 5, data = "x", max_hold = 60, owner = {} } },
    } do
      local guard, message, code = lock:acquire(form[1])
      assert.is_table(guard, i .. ": " .. tostring(message))
      assert.is_nil(message or code)
      assert.is_true(guard:is_held())
      assert.equal("held", guard:state())
      assert.is_true(guard:lease() > 0)
      assert.is_true(guard:verify())
      assert.is_true(guard:release())
      assert.is_false(guard:is_held())
      assert.equal("released", guard:state())
      assert.equal(0, guard:lease())
      assert.is_true(guard:release())
    end
    assert.is_true(lock:try_acquire():release { wait = true })
    assert.same({}, kinds.nodes(path))
  end)

  kinds.each(it, "is granted a hundred times to one lock object (T39)",
    function(kind)
    local lock, last = kind.make(connect(), support.path()), ""
    for i = 1, 25 do
      local guard = assert(lock:acquire(i % 2 == 0 and 5 or nil))
      assert.is_true(kinds.token(guard) > last)
      last = kinds.token(guard)
      assert.is_true(lock:release())
      assert.is_true(assert(lock:try_acquire()):release())
      assert.is_true(lock:with_lock(5, function() end))
      assert.is_true(await(wait_in(lock, 5)):release())
    end
  end)
end)

describe("A taken lock", function()
  kinds.each(it, "is refused at the deadline with every form of the timeout "
    .. "(T12)", function(kind)
    local path = support.path()
    local holder = rival_holds(kind, path)
    local lock = kind.make(connect(), path)
    local function try() return lock:try_acquire() end
    local function acquire(form) return lock:acquire(form) end
    assert.matches("^zklock: /.* is taken$", refused("busy", takes(0, try)))
    for _, seconds in ipairs { 0, 0.1 } do
      for _, form in ipairs { seconds, { timeout = seconds } } do
        assert.matches(seconds == 0 and "^zklock: /[^ ]+ is taken"
          or "^zklock: timed out after 0.1 s waiting for /",
          refused("timeout", takes(seconds, acquire, form)))
      end
      assert.is_string(refused("timeout", takes(seconds, function()
        return lock:with_lock(seconds, function() error "it ran" end)
      end)))
      refused("timeout", await(wait_in(lock, seconds)))
    end
    assert.is_true(holder:is_held())
    assert.is_true(holder:verify())
    assert.is_true(holder:release())
  end)

  kinds.each(it, "is waited for without end if no time is given, and passes on "
    .. "when it is released (T12)", function(kind)
    local path = support.path()
    local lock = kind.make(connect(), path)
    for _, form in ipairs { false, { timeout = math.huge } } do
      local holder = rival_holds(kind, path)
      local waiter = wait_in(lock, form or nil)
      nobody(60, waiter)
      assert.is_true(holder:release())
      local guard = await(waiter)
      assert.is_true(kinds.token(guard) > kinds.token(holder))
      assert.is_true(guard:verify())
      guard:release { wait = true }
    end
  end)

  kinds.each(it, "cancels by ticket and by lock, and leaves nothing",
    function(kind)
      local path = support.path()
      local holder = rival_holds(kind, path)
      local held = #kinds.nodes(path)
      local lock = kind.make(connect(), path)
      local one, two = wait_in(lock), wait_in(lock)
      nobody(0.03, one, two)
      one.ticket:cancel()
      one.ticket:cancel()
      assert.matches("^zklock: the wait for /.* was cancelled$",
        refused("cancelled", await(one)))
      nobody(0.01, two)
      lock:cancel()
      refused("cancelled", await(two))
      kinds.wait_for_nodes(path, held)
      one.ticket:cancel()
      holder:release()
      await(wait_in(lock, 5)):release()
    end)

  kinds.each(it, "has one holder if two owners share a session (T7)",
    function(kind)
      local path, session = support.path(), connect()
      local a, b = kind.make(session, path), kind.make(session, path)
      local guard = assert(a:acquire { timeout = 5, owner = "a" })
      refused("busy", b:try_acquire { owner = "b" })
      refused("timeout", b:acquire { owner = "b", timeout = 0.05 })
      local waiter = wait_in(b, { owner = "b" })
      nobody(0.03, waiter)
      guard:release()
      assert.is_true(await(waiter):is_held())
      assert.is_false(guard:is_held())
      waiter.guard:release()
    end, function(kind) return kind.exclusive end)

  -- (T45)
  kinds.each(it, "is not passed on by events other than the end of a "
    .. "hold", function(kind)
    local path, zk = support.path(), support.zk()
    local holder = rival_holds(kind, path)
    local middle = kinds.queue_in(kind.make(connect(), path), path)
    local waiter = kinds.queue_in(kind.make(connect(), path), path)
    zk:set(holder.node, "data")
    zk:create(path .. "/foreign")
    nobody(0.05, waiter, middle)
    middle.ticket:cancel()
    await(middle)
    nobody(0.05, waiter)
    zk:delete(path .. "/foreign")
    nobody(0.03, waiter)
    holder:release()
    await(waiter):release()
  end, has_place)

  kinds.each(it, "is refused at once beside waiters of the same session",
    function(kind)
      local path, session = support.path(), connect()
      local lock = kind.make(session, path)
      local holder = rival_holds(kind, path)
      local waiter, behind = wait_in(lock), wait_in(lock)
      nobody(0.03, waiter, behind)
      takes(0, function()
        refused("busy", lock:try_acquire { owner = "c" })
        refused("timeout", lock:acquire { owner = "d", timeout = 0 })
      end)
      nobody(0.01, waiter, behind)
      holder:release()
      await(waiter):release()
      await(behind):release()
    end)
end)

describe("The owner of a lock", function()
  kinds.each(it, "acquires it again without a request (T38, T40)",
    function(kind)
    local path, session = support.path(), connect()
    local a, b = kind.make(session, path), kind.make(session, path)
    local first = assert(a:acquire(30))
    local requests = session:stats().requests
    local second, third = assert(b:acquire(0)), assert(a:try_acquire())
    assert.equal(requests, session:stats().requests)
    assert.equal(kinds.token(first), kinds.token(second))
    assert.equal(first.node, third.node)
    assert.is_true(second:release())
    assert.is_false(second:is_held())
    assert.is_true(first:is_held() and third:is_held())
    assert.is_true(a:release()) -- the innermost
    assert.is_false(third:is_held())
    assert.is_true(first:verify())
    first:release { wait = true }
    assert.same({}, kinds.nodes(path))
  end, is_reentrant)

  kinds.each(it, "keeps it until the outermost with_lock ends (T38)",
    function(kind)
      local path = support.path()
      local lock = kind.make(connect(), path)
      local rival = kind.rival(connect(), path)
      lock:with_lock(function()
        lock:with_lock(function()
          lock:with_lock(function() end)
        end)
        refused("busy", rival:try_acquire())
        assert.is_false(pcall(lock.with_lock, lock, function() error "x" end))
        refused("busy", rival:try_acquire())
      end)
      assert.is_true(rival:acquire(1):release())
    end, is_reentrant)

  kinds.each(it, "gets deadlock if it is not reentrant", function(kind)
    local lock = kind.make(connect(), support.path(), { reentrant = false })
    local guard = assert(lock:acquire(30))
    for _, call in ipairs { "acquire", "try_acquire", "with_lock" } do
      local fn = call == "with_lock" and error or nil
      assert.matches("not reentrant", refused("deadlock", lock[call](lock, fn)))
    end
    assert.is_true(guard:is_held())
    assert.is_true(guard:verify())
    guard:release()
    lock:acquire(30):release()
  end, is_reentrant)

  kinds.each(it, "can release only its own hold", function(kind)
    local lock = kind.make(connect(), support.path())
    local function release() lock:release() end
    assert.matches("is not held by the calling task$", misuse(release))
    local guard = lock:acquire { timeout = 5, owner = "somebody" }
    assert.matches("is not held by the calling task$", misuse(release))
    assert.is_true(guard:is_held())
    guard:release()
  end)
end)

kinds.each(it, "max_hold ends a hold, tells its owner, and lets the next one "
  .. "in", function(kind)
  local path, session, calls = support.path(), connect(), 0
  local lock = kind.make(session, path, { max_hold = 1 })
  local begun = support.now()
  local guard = assert(lock:acquire(30))
  local granted = support.now()
  guard:on_lost(function(mine, reason)
    calls = calls + 1
    assert.equal(guard, mine)
    assert.equal("max_hold_reached", reason)
  end)
  assert.is_true(guard:lease() <= 1)
  local waiter = wait_in(kind.rival(connect(), path))
  await(waiter)
  assert.is_true(waiter.at >= begun + 1 and waiter.at < granted + 1.02)
  assert.is_false(guard:is_held())
  support.step_until(session, function() return calls > 0 end)
  assert.equal("lost", guard:state())
  assert.equal("lost", select(3, guard:verify()))
  refused("lost", guard:release())
  for _ = 1, 5 do session:step() end
  assert.equal(1, calls)
  waiter.guard:release { wait = true }
  assert.is_true(lock:acquire { timeout = 30, max_hold = 60 }:release())
end)

describe("The deletion of a node", function()
  kinds.each(it, "ends the hold within a heartbeat", function(kind)
    local path, session = support.path(), connect { session_timeout = 2 }
    local guard = assert(kind.make(session, path):acquire(30))
    support.zk():delete(guard.node:match "^[^,]+")
    local begun = support.now()
    support.step_until(session, function() return not guard:is_held() end)
    assert.is_true(support.now() - begun < 0.5)
    refused("lost", guard:release())
    kinds.wait_for_nodes(path, 0)
  end)

  kinds.each(it, "grants the lock to no waiter without a node "
    .. "(T6)", function(kind)
    local path, before = support.path(), {}
    local holder = rival_holds(kind, path)
    for _, node in ipairs(kinds.nodes(path)) do before[node] = true end
    local waiter = wait_in(kind.make(connect(), path))
    support.wait_until(function() return #kinds.nodes(path) > 1 end)
    nobody(0.05, waiter)
    for _, node in ipairs(kinds.nodes(path)) do
      if not before[node] then support.zk():delete(node) end
    end
    holder:release()
    local guard = await(waiter)
    for node in guard.node:gmatch("[^,]+") do
      assert.is_nil(before[node])
      assert.is_table(support.zk():exists(node), node)
    end
    assert.is_true(guard:verify())
    guard:release()
  end, has_place)
end)

describe("A connection that breaks", function()
  local path, proxy, session
  before_each(function()
    path, session, proxy = support.path(), sessions.behind_proxy()
  end)

  kinds.each(it, "changes no hold and no place in the queue (T13, T21)",
    function(kind)
    local guard = assert(kind.make(session, path .. "/h"):acquire(30))
    local holder = rival_holds(kind, path .. "/w")
    local waiter = wait_in(kind.make(session, path .. "/w"))
    nobody(0.1, waiter)
    local nodes = kinds.nodes(path)
    for n = 1, 3 do
      proxy:cut()
      support.until_state(session, "connected", { reconnects = n })
    end
    assert.is_true(guard:is_held())
    assert.is_true(guard:verify())
    assert.same(nodes, kinds.nodes(path))
    assert.is_true(holder:release())
    await(waiter):release()
    assert.is_true(guard:release())
    kinds.wait_for_nodes(path, 0)
  end)

  kinds.each(it, "ends each hold at once with lose_on_suspend", function(kind)
    local lose, told = { lose_on_suspend = true }, 0
    local lock = kind.make(session, path .. "/l", lose)
    local losing = assert(lock:acquire(30))
    local keeping = assert(kind.make(session, path .. "/k",
      { lose_on_suspend = false }):acquire(30))
    losing:on_lost(function() told = told + 1 end)
    local holder = rival_holds(kind, path .. "/w")
    local waiter = wait_in(kind.make(session, path .. "/w", lose))
    nobody(0.1, waiter)
    local places = kinds.nodes(path .. "/w")
    sessions.cut_off(session, proxy)
    support.step_until(session, function() return told > 0 end)
    assert.is_false(losing:is_held())
    assert.equal("lost", losing:state())
    assert.is_true(keeping:is_held())
    assert.equal("suspended", keeping:state())
    proxy:heal()
    kinds.wait_for_nodes(path .. "/l", 0)
    if kind.reentrant then refused("lost", lock:acquire(30)) end
    refused("lost", losing:release())
    local fresh = assert(lock:acquire(30))
    assert.is_true(kinds.token(fresh) > kinds.token(losing))
    fresh:release()
    assert.is_true(keeping:verify())
    assert.is_true(keeping:release())
    assert.equal(1, told)
    assert.same(places, kinds.nodes(path .. "/w"))
    holder:release()
    await(waiter):release()
  end)

  kinds.each(it, "is disconnected to those who must not wait, and at the "
    .. "deadline", function(kind)
    local lock = kind.make(session, path)
    sessions.cut_off(session, proxy)
    takes(0, function()
      refused("disconnected", lock:try_acquire())
      refused("disconnected", lock:acquire(0))
    end)
    assert.matches("^zklock: no server of .* answered within 0.2 s",
      refused("disconnected", await(wait_in(lock, 0.2))))
    proxy:heal()
    support.until_state(session, "connected")
    lock:acquire(30):release()
  end)

  -- In the words of the traps of links.
  local function reply_of(kind, request)
    return request .. (kind.name == "unfair" and "_both" or "")
  end

  -- what each kind asks for with its first request, with its second …
  for _, request in ipairs { "create", "list", "delete" } do
    kinds.each(it, ("leaves no node behind if it loses the reply to a %s, "
      .. "or breaks after it (T16, T19, T23)"):format(request), function(kind)
      local lock = kind.make(session, path)
      proxy:lose_reply(reply_of(kind, request))
      local waiter = wait_in(lock, 10)
      if request == "delete" then
        assert(await(waiter), waiter.message):release()
      end
      proxy:await_loss()
      proxy:heal()
      local guard = await(waiter)
      if request ~= "delete" then
        assert(guard, waiter.message)
        assert.is_true(guard:verify())
        guard:release()
      end
      assert(lock:acquire(10)):release { wait = true }
      proxy:cut_after_reply(reply_of(kind, request))
      guard = assert(lock:acquire(40))
      guard:release { wait = true } -- (or lost: the wire may be silent)
      kinds.wait_for_nodes(path, 0)
      proxy:disarm()
    end, function(kind) return request ~= "list" or kind.name ~= "unfair" end)
  end

  kinds.each(it, "leaves no node of a waiter that is cancelled while its "
    .. "create "
    .. "is unanswered (T16, T23)", function(kind)
    local lock = kind.make(session, path)
    assert(lock:acquire(30)):release { wait = true }
    for _ = 1, kind.name == "semaphore" and 2 or 1 do -- its second: a permit
      proxy:lose_reply(reply_of(kind, "create"))
      local waiter = wait_in(lock)
      proxy:await_loss()
      waiter.ticket:cancel()
      refused("cancelled", await(waiter))
      proxy:heal()
      kinds.wait_for_nodes(path, 0)
      support.until_state(session, "connected")
      assert(lock:acquire(30)):release { wait = true }
    end
  end)
end)

describe("A session that expires", function()
  -- While its servers are silent, or because somebody else closes it.
  for _, how in ipairs { "in silence", "by another's close" } do
    kinds.each(it, "loses each hold, calls on_lost once, and returns lost "
      .. "until the release: " .. how .. " (T2, T4, T15)", function(kind)
      local path, calls = support.path(), 0
      local session, proxy = sessions.behind_proxy { session_timeout = 2 }
      local old, lock = session:id(), kind.make(session, path .. "/h")
      local guard = assert(lock:acquire(30))
      guard:on_lost(function() calls = calls + 1 end)
      local next_one = wait_in(kind.rival(connect(), path .. "/h"))
      local blocker = rival_holds(kind, path .. "/w")
      local waiting = wait_in(kind.make(session, path .. "/w"))
      if how == "in silence" then
        proxy:freeze()
        await(next_one)
        proxy:heal()
        proxy:cut()
      else
        assert.is_true(seize(support.hosts, old))
      end
      support.until_state(session, "connected", { expirations = 1 })
      assert.are_not.equal(old, session:id())
      await(next_one)
      assert.is_false(guard:is_held())
      assert.equal("lost", guard:state())
      next_one.guard:release()
      if kind.reentrant then
        refused("lost", lock:acquire(30))
        refused("lost", lock:try_acquire())
        refused("lost", lock:with_lock(error))
      end
      refused("lost", guard:release())
      -- At once, while the old node may still be in somebody's list.
      local fresh = assert(lock:acquire(30))
      assert.is_true(kinds.token(fresh) > kinds.token(next_one.guard))
      for node in fresh.node:gmatch "[^,]+" do
        assert.equal(session:id(), support.zk():exists(node).owner)
      end
      fresh:release()
      assert.equal(1, calls)
      -- who waited goes on waiting, in the new session
      assert.is_nil(waiting.code)
      blocker:release()
      assert.is_true(await(waiting):verify())
      waiting.guard:release()
    end)
  end

  kinds.each(it, "because its process has died frees its lock and its place in "
    .. "the queue (T45)", function(kind)
    local path, session = support.path(), connect()
    local dead, proxy = sessions.behind_proxy { session_timeout = 2 }
    support.keep(kind.make(dead, path .. "/h"):acquire { owner = {} })
    local holder = rival_holds(kind, path .. "/w")
    local next_one = wait_in(kind.rival(session, path .. "/h"))
    nobody(0.1, wait_in(kind.make(dead, path .. "/w")))
    local after = wait_in(kind.make(session, path .. "/w"))
    nobody(0.1, next_one, after)
    proxy:refuse()
    local begun = support.now()
    await(next_one)
    assert.is_true(support.now() - begun < 2 + 2 * 0.5) -- and two ticks
    holder:release()
    await(after):release()
    next_one.guard:release()
  end)
end)

kinds.each(it, "a wait that is cancelled at any moment leaves no node behind "
  .. "(T17, T23, T25)", function(kind)
  local path = support.path()
  local lock = kind.make(connect(), path)
  for round = 1, 40 do
    local first, second = wait_in(lock), wait_in(lock)
    support.advance(round * 0.00008)
    if round % 2 == 0 then
      first.ticket:cancel()
      second.ticket:cancel()
    else
      lock:cancel()
    end
    await(first, second)
    for _, one in ipairs { first, second } do
      if one.guard then one.guard:release() end
    end
  end
  for round = 1, 6 do
    local brief = connect()
    local waiter = wait_in(kind.make(brief, path))
    support.advance(round * 0.0005)
    brief:close()
    assert.is_true(waiter.guard ~= nil or waiter.code == "closed")
  end
  kinds.wait_for_nodes(path, 0)
  assert(lock:acquire(30)):release()
end)
