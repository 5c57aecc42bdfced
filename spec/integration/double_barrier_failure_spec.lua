-- Double barriers and what may befall their members: at the door, inside, and
-- on their way out.
local kinds = require "integration.family.kinds"
local of_members = require "support.members"
local mishaps = require "support.mishaps"
local new_scheduler = require "support.scheduler".new
local seize = require "support.seizure".seize
local spawn = require "support.child".spawn
local start_proxy = require "support.proxy".start
local support = require "support"
local waits = require "zklock.wait"
local connect = support.connect
local await_state = mishaps.await_state
local connect_through = mishaps.connect_through
local await, nobody = kinds.await, kinds.nobody
local enter, leave = of_members.enter, of_members.leave
local all_leave, ready = of_members.all_leave, of_members.ready

-- Its session is closed by somebody else, and it goes on with another.
local function expire(member, proxy)
  local session = member.session
  local id, expiries = session:id(), session:stats().expiries
  proxy:refuse()
  await_state(session, "suspended")
  assert.is_true(seize(support.hosts, id))
  proxy:heal()
  support.step_until(session, function()
    return session:stats().expiries > expiries
      and session:state() == "connected"
  end, 20, "another session")
end

-- A member in a process of its own, which says what it does.
local function spawn_member(path, n, timeout)
  return spawn([[
    local path, n, timeout = ...
    local session = assert(zklock.connect(hosts,
      { session_timeout = tonumber(timeout) }))
    local gate = session:double_barrier(path, tonumber(n))
    say "entering"
    local guard = assert(gate:enter(60))
    say("inside", guard.node)
    hear()
    say "leaving"
    say(gate:leave(60))
    session:close()
  ]], path, n, timeout or 1)
end

before_each(function() kinds.start() end)
after_each(support.finish)

describe("A member that is killed", function()
  it("at the door is one that is missing", function()
    local path = support.path()
    local child = spawn_member(path, 2)
    child:expect "entering"
    kinds.wait_for_nodes(path, 1)
    child:signal "KILL"
    kinds.wait_for_nodes(path, 0)
    local one = enter(connect(), path, 2)
    kinds.wait_for_nodes(path, 1)
    nobody(0.05, one)
    local two = enter(connect(), path, 2)
    await(one, two)
    all_leave { one, two }
  end)

  it("inside keeps the others no longer than its session lives", function()
    local path = support.path()
    local child = spawn_member(path, 3)
    child:expect "entering"
    local one, two = enter(connect(), path, 3), enter(connect(), path, 3)
    await(one, two)
    local node = child:hear():match "inside\t(.+)"
    child:signal "KILL"
    local first, second = leave(one), leave(two)
    await(first, second)
    assert.is_true(first.guard and second.guard)
    assert.is_false(support.zk():exists(node))
    kinds.wait_for_nodes(path, 0)
    assert.is_false(ready(path))
  end)

  it("on its way out keeps the others no longer, either", function()
    local path = support.path()
    local child = spawn_member(path, 3)
    child:expect "entering"
    local one, two = enter(connect(), path, 3), enter(connect(), path, 3)
    await(one, two)
    child:hear()
    child:say()
    child:expect "leaving"
    child:signal "KILL"
    local first, second = leave(one), leave(two)
    await(first, second)
    assert.is_true(first.guard and second.guard)
    kinds.wait_for_nodes(path, 0)
  end)

  it("as all of them may be: their ready lets nobody in", function()
    local path = support.path()
    local children = { spawn_member(path, 2), spawn_member(path, 2) }
    for _, child in ipairs(children) do
      child:expect "entering"
    end
    for _, child in ipairs(children) do
      assert.matches("^inside", child:hear())
      child:signal "KILL"
    end
    -- (Until their sessions are over they are members.)
    kinds.wait_for_nodes(path, 0)
    local old = ready(path)
    assert.is_table(old) -- nobody took it away
    local one = enter(connect(), path, 3)
    kinds.wait_for_nodes(path, 1)
    nobody(0.05, one)
    local two, three = enter(connect(), path, 3), enter(connect(), path, 3)
    await(one, two, three)
    assert.is_true(ready(path).czxid > old.czxid)
    all_leave { one, two, three }
    kinds.wait_for_nodes(path, 0)
    assert.is_false(ready(path))
  end)

  it("is told lost if it was only stopped, and the others are out", function()
    local path = support.path()
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 1 }))
      local gate = session:double_barrier((...), 2)
      local guard = assert(gate:enter(60))
      local lost = 0
      guard:on_lost(function() lost = lost + 1 end)
      say "inside"
      hear() -- stopped and continued in here
      say(guard:is_held())
      local ok, _, code = gate:leave(60)
      say(ok, code, lost)
      session:close()
    ]], path)
    local one = enter(connect(), path, 2)
    await(one)
    child:expect "inside"
    child:signal "STOP"
    local leaving = leave(one)
    await(leaving)
    assert.is_true(leaving.guard)
    child:say()
    child:signal "CONT"
    child:expect "false"
    child:expect "nil\tlost\t1"
    assert.equal(0, child:wait())
  end)
end)

describe("Without a connection a double barrier's member", function()
  it("at the door goes on waiting, and finds all there", function()
    local path, proxy = support.path(), start_proxy()
    local one = enter(connect_through(proxy), path, 2)
    local node = kinds.wait_for_nodes(path, 1)[1]
    for _ = 1, 2 do
      proxy:cut()
      support.until_state(one.session, "connected")
    end
    proxy:refuse()
    await_state(one.session, "suspended")
    local two = enter(connect(), path, 2)
    await(two) -- its node is there, though its connection is not
    assert.is_nil(one.guard)
    proxy:heal()
    await(one)
    assert.equal(node, one.guard.node)
    assert.is_true(one.guard:verify())
    all_leave { one, two }
  end)

  it("at the door hears disconnected when its time is over", function()
    local path, proxy = support.path(), start_proxy()
    local session = connect_through(proxy, { session_timeout = 4 })
    proxy:refuse()
    await_state(session, "suspended")
    local gate = session:double_barrier(path, 2)
    for _, seconds in ipairs { 0.2, 0 } do
      local guard, message, code = gate:enter(seconds)
      assert.is_nil(guard)
      assert.equal("disconnected", code)
      assert.matches("^zklock: no server of ", message)
    end
    proxy:heal()
    kinds.wait_for_nodes(path, 0)
  end)

  it("at the door stands there with another node in a new session", function()
    local path, proxy = support.path(), start_proxy()
    local one = enter(connect_through(proxy), path, 2)
    local node = kinds.wait_for_nodes(path, 1)[1]
    expire(one, proxy)
    support.wait_until(function()
      local nodes = kinds.nodes(path)
      return #nodes == 1 and nodes[1] ~= node
    end, 10, "another node")
    nobody(0.05, one)
    local two = enter(connect(), path, 2)
    await(one, two)
    all_leave { one, two }
  end)

  it("on its way out is out when the others are", function()
    local path, proxy = support.path(), start_proxy()
    local one, two = enter(connect_through(proxy), path, 2),
      enter(connect(), path, 2)
    await(one, two)
    local leaving = leave(one)
    nobody(0.05, leaving)
    proxy:refuse()
    await_state(one.session, "suspended")
    local others = leave(two)
    nobody(0.05, leaving)
    proxy:heal()
    await(leaving, others)
    assert.same({ true, true }, { leaving.guard, others.guard })
    kinds.wait_for_nodes(path, 0)
    assert.is_false(ready(path))
  end)

  it("on its way out hears disconnected, and its node goes later", function()
    local path, proxy = support.path(), start_proxy()
    local one, two = enter(connect_through(proxy), path, 2),
      enter(connect(), path, 2)
    await(one, two)
    proxy:refuse()
    await_state(one.session, "suspended")
    for _, how in ipairs { 0.2 } do
      local leaving = leave(one, { timeout = how })
      await(leaving)
      assert.is_nil(leaving.guard)
      assert.equal("disconnected", leaving.code)
      assert.matches("^zklock: no server of %S+ answered within 0.2 s, waiting "
        .. "for the other members of ", leaving.message)
    end
    assert.equal("released", one.guard:state())
    local others = leave(two)
    nobody(0.05, others)
    proxy:heal()
    await(others)
    assert.is_true(others.guard)
  end)

  it("inside has lost when its session is over; the others go on", function()
    local path, proxy = support.path(), start_proxy()
    local one, two = enter(connect_through(proxy), path, 2),
      enter(connect(), path, 2)
    await(one, two)
    local heard = {}
    one.guard:on_lost(function(_, code) heard[#heard + 1] = code end)
    expire(one, proxy)
    support.step_until(one.session, function() return heard[1] end)
    local leaving = leave(one)
    await(leaving)
    assert.equal("lost", leaving.code)
    assert.same({ "expired" }, heard)
    all_leave { two }
    kinds.wait_for_nodes(path, 0)
  end)

  it("on its way out hears lost if its session is over before it has gone",
    function()
      -- The lowest of them keeps its node until the rest have gone.
      local path, proxy = support.path(), start_proxy()
      local wired = {}
      for i = 1, 2 do
        wired[i] = { proxy = i == 1 and proxy or start_proxy() }
        wired[i].member = enter(connect_through(wired[i].proxy), path, 2)
      end
      await(wired[1].member, wired[2].member)
      table.sort(wired, function(a, b)
        return a.member.guard.node < b.member.guard.node
      end)
      local one, two = wired[1].member, wired[2].member
      local leaving = leave(one)
      nobody(0.05, leaving)
      assert.is_true(one.guard:is_held())
      expire(one, wired[1].proxy)
      nobody(0.05, two.code and two or leaving)
      all_leave { two }
      await(leaving)
      assert.equal("lost", leaving.code)
    end)

  it("is told its loss inside, and may enter the next run", function()
    local path, proxy = support.path(), start_proxy()
    local one = enter(connect_through(proxy), path, 1)
    await(one)
    support.zk():delete(one.guard.node)
    assert.equal("lost", select(3, one.guard:verify()))
    assert.equal("lost", select(3, one.guard:release()))
    local again = enter(one.session, path, 1)
    await(again)
    assert.is_true(again.guard:token() > one.guard:token())
    all_leave { again }
  end)
end)

describe("A task that will never go on, at a double barrier,", function()
  -- One task that waits and is ended there, of a session that goes on.
  local function abandon(finish, after_wait)
    local path, scheduler = support.path(), new_scheduler()
    local session = connect { loop = { new = function(mine)
      local adapter = scheduler.adapter.new(mine)
      local wait = adapter.wait
      adapter.wait = function(...)
        wait(...)
        if after_wait then after_wait() end
      end
      return adapter
    end } }
    local task = scheduler:spawn(function()
      session:double_barrier(path, 2):enter()
    end)
    scheduler:turn()
    kinds.wait_for_nodes(path, 1)
    scheduler.sleeping[task] = nil
    finish(task)
    kinds.wait_for_nodes(path, 0)
    support.wait_until(function()
      session:step()
      return support.count_watches(path) == 0
        and not waits.any(session._engine.waits.answers)
    end)
  end

  -- (On 5.1 there is nothing that ends a task's wait but what it waits for.)
  if not support.is_51 then
    it("is out when its loop raises in enter", function()
      local raises = false
      abandon(function(task)
        raises = true
        assert.is_false(coroutine.resume(task))
      end, function() if raises then error "struck" end end)
    end)
  end

  if support.is_54 then
    it("is out when it is closed in enter", function()
      abandon(function(task) assert(coroutine.close(task)) end)
    end)

    it("is out when it is closed in leave", function()
      local path, scheduler = support.path(), new_scheduler()
      local session = connect { loop = scheduler.adapter }
      local other = enter(connect(), path, 2)
      local guard
      local task = scheduler:spawn(function()
        local gate = session:double_barrier(path, 2)
        guard = assert(gate:enter(30))
        gate:leave()
      end)
      support.wait_until(function()
        scheduler:turn(0)
        other.session:step()
        return other.guard and guard
      end)
      -- (It waits in leave, as nobody else does.)
      for _ = 1, 20 do scheduler:turn() end
      assert.equal("suspended", coroutine.status(task))
      assert.is_true(scheduler:kill(task))
      assert.equal("released", guard:state())
      kinds.wait_for_nodes(path, 1)
      all_leave { other }
    end)
  end

  it("is out when nobody has its guard any more", function()
    local session, path = connect(), support.path()
    local entered = 0
    for _ = 1, 2 do
      session:double_barrier(path, 2):enter_async(function(guard)
        assert(guard:is_held())
        entered = entered + 1
      end)
    end
    support.step_until(session, function() return entered == 2 end)
    support.wait_until(function()
      support.collect()
      session:step()
      return #kinds.nodes(path) == 0
    end)
  end)

  for _, where in ipairs { "enter", "leave" } do
    it("is out when Ctrl-C ends " .. where, function()
      local path = support.path()
      local other = where == "leave" and enter(connect(), path, 2)
      local child = spawn([[
        local path, where = ...
        local session = assert(zklock.connect(hosts, { session_timeout = 60 }))
        local gate = session:double_barrier(path, 2)
        if where == "leave" then assert(gate:enter(60)) end
        say "waiting"
        local ok, problem = pcall(gate[where], gate)
        say(ok, tostring(problem):match "interrupted!$" or problem)
        say(pcall(gate.leave, gate))
        hear()
        session:close()
      ]], path, where)
      child:expect "waiting"
      -- (Who leaves may have given its node back by now.)
      if other then await(other) else kinds.wait_for_nodes(path, 1) end
      local stat = ("/proc/%d/stat"):format(child.pid)
      support.wait_until(function()
        local file = assert(io.open(stat))
        local state = file:read "*a":match "%) (%a)"
        file:close()
        return state == "S"
      end, 10, "a wait")
      child:signal "INT"
      child:expect "false\tinterrupted!"
      assert.matches("not entered by the calling task", child:hear())
      kinds.wait_for_nodes(path, other and 1 or 0)
      if other then all_leave { other } end
      child:say()
      assert.equal(0, child:wait())
    end)
  end
end)

describe("A double barrier", function()
  it("is refused where ACLs say so: auth", function()
    local session, path, zk = connect(), support.path(), support.zk()
    zk:make(path)
    zk:set_acl(path, { { perms = 17, scheme = "world", id = "anyone" } })
    local guard, message, code =
      session:double_barrier(path, 2):enter(30)
    assert.is_nil(guard)
    assert.equal("denied", code)
    assert.matches("^zklock: ZooKeeper refused a node under "
      .. path:gsub("%p", "%%%0"), message)
    zk:set_acl(path, { { perms = 31, scheme = "world", id = "anyone" } })
    local one = enter(session, path, 2, { owner = 1 })
    local two = enter(session, path, 2, { owner = 2 })
    await(one, two)
    all_leave { one, two }
  end)

  it("is emptied by an operator: who waits inside comes again", function()
    local path = support.path()
    local one = enter(connect(), path, 2)
    for _ = 1, 3 do
      local node = kinds.wait_for_nodes(path, 1)[1]
      support.zk():delete(node)
      support.step_until(one.session, function()
        local nodes = kinds.nodes(path)
        return #nodes == 1 and nodes[1] ~= node
      end, 10, "another node")
    end
    support.zk():delete_all(path)
    kinds.wait_for_nodes(path, 1, 10)
    nobody(0.03, one)
    local two = enter(connect(), path, 2)
    await(one, two)
    all_leave { one, two }
  end)

  it("is closed in the middle of anything, and leaves nothing", function()
    local path = support.path()
    for i = 1, support.in_full and 60 or 15 do
      local sessions = { connect(), connect() }
      local members = {}
      for k, session in ipairs(sessions) do
        members[k] = enter(session, path, 2)
      end
      local deadline = support.now() + i % 20 * 0.0005
      while support.now() < deadline do
        for _, member in ipairs(members) do
          if member.session:state() ~= "closed" then member.session:step() end
          if member.guard and not member.leaving then
            member.leaving = leave(member)
          end
        end
      end
      sessions[i % 2 + 1]:close()
      sessions[2 - i % 2]:close()
      for _, member in ipairs(members) do
        assert(member.guard or member.code == "closed", member.message)
      end
    end
    kinds.wait_for_nodes(path, 0)
  end)
end)
