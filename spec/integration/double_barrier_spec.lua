-- Double barriers: members begin together, and end together.
local answers = require "integration.answers"
local kinds = require "integration.family.kinds"
local of_members = require "support.members"
local sessions = require "integration.sessions"
local support = require "support"
local waits = require "zklock.wait"
local connect, misuse = support.connect, support.misuse
local await, nobody = kinds.await, kinds.nobody
local enter, leave = of_members.enter, of_members.leave
local all_leave, ready = of_members.all_leave, of_members.ready
local unpack = table.unpack or unpack

local path

before_each(function() path = support.path() end)

-- `n` members that are inside, the lowest first.
local function members_of(n)
  local members = {}
  for i = 1, n do members[i] = enter(connect(), path, n) end
  await(unpack(members))
  for _, member in ipairs(members) do assert(member.guard, member.message) end
  table.sort(members, function(a, b) return a.guard.node < b.guard.node end)
  return members
end

-- These have left, and were told so.
local function are_out(...)
  await(...)
  for _, leaving in ipairs { ... } do
    assert.same({ true, nil }, { leaving.guard, leaving.message })
  end
end

describe("A double barrier", function()
  it("lets its members in when all are there, and out when all leave",
    function()
      local one, two = enter(connect(), path, 3), enter(connect(), path, 3)
      kinds.wait_for_nodes(path, 2)
      nobody(0.05, one, two)
      local three = enter(connect(), path, 3)
      local members = { one, two, three }
      await(one, two, three)
      for _, member in ipairs(members) do
        local guard = member.guard
        assert.is_true(guard:verify())
        assert.same({ path, 19, "held", true }, { guard.path, #guard:token(),
          guard:state(), guard:is_held() })
      end
      local first, second = leave(two), leave(three)
      nobody(0.05, first, second)
      assert.is_true(one.guard:is_held())
      are_out(leave(one), first, second)
      for _, member in ipairs(members) do
        assert.equal("released", member.guard:state())
        assert.is_true(member.guard:release())
      end
      kinds.wait_for_nodes(path, 0)
      assert.is_false(ready(path))
    end)

  it("takes the data and max_hold of the barrier, or of the call", function()
    local gate = connect():double_barrier(path, 1,
      { data = "one", max_hold = 60 })
    local guard = assert(gate:enter())
    assert.equal("one", (support.zk():get(guard.node)))
    assert.is_true(gate:leave())
    guard = assert(gate:enter { data = "two", max_hold = 1 })
    assert.equal("two", (support.zk():get(guard.node)))
    support.wait_until(function() return guard:reason() end)
    assert.equal("max_hold_reached", guard:reason())
    assert.is_false(guard:is_held())
    assert.equal("lost", select(3, gate:leave()))
  end)

  if support.is_54 then
    it("is left by a task that is closed, in enter and in leave", function()
      local session, scheduler = sessions.in_loop()
      local gate = session:double_barrier(path, 2)
      local task = scheduler:spawn(function() gate:enter() end)
      scheduler:turn()
      kinds.wait_for_nodes(path, 1)
      assert.is_true(scheduler:kill(task))
      kinds.wait_for_nodes(path, 0)
      support.step_until(session, function()
        return support.count_watches(path) == 0
          and not waits.any(session._engine.waits)
      end)
      local other, guard = enter(connect(), path, 2), nil
      task = scheduler:spawn(function()
        guard = assert(gate:enter(30))
        gate:leave()
      end)
      scheduler:run_until(function()
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
end)

describe("Who enters a double barrier", function()
  it("waits no longer than it has said, and hears how many are missing",
    function()
      local gate = connect():double_barrier(path, 3)
      local function is_refused(how, seconds, missing)
        local text = seconds == 0
          and ("zklock: not all members of %s have come (%s missing)"):format(
            path, missing)
          or ("zklock: timed out after %s s waiting for %s (%s missing)")
            :format(seconds, path, missing)
        assert.equal(text, kinds.refused("timeout",
          kinds.takes(seconds, gate.enter, gate, how)))
      end
      for seconds, how in pairs { [3] = 3, [0] = 0,
          [2.5] = { timeout = 2.5 } } do
        is_refused(how, seconds, "2 members are")
        kinds.wait_for_nodes(path, 0)
      end
      local other = enter(connect(), path, 3)
      kinds.wait_for_nodes(path, 1)
      is_refused(3, 3, "1 member is")
      kinds.wait_for_nodes(path, 1)
      other.ticket:cancel()
      assert.equal("cancelled", select(3, await(other)))
    end)

  it("is denied if `ready` may not be made, and who is not enough waits on",
    function()
      local session, proxy = sessions.behind_proxy()
      local few = enter(connect(), path, 9)
      kinds.wait_for_nodes(path, 1)
      proxy:mute_events() -- of a `ready` that is there in truth
      answers.log(function(reply, asked)
        if reply.op == "multi" and asked == path .. "/ready" then
          return { rc = -102 }
        end
      end)
      local one, two = enter(session, path, 2), enter(session, path, 2)
      await(one, two)
      assert.same({ "denied", "denied" }, { one.code, two.code })
      few.ticket:cancel()
      await(few)
      support.zk():delete(path .. "/ready")
    end)

  it("would wait for itself if it is inside: deadlock", function()
    local session = connect()
    local gate = session:double_barrier(path, 1)
    local guard = assert(gate:enter())
    for _, again in ipairs { gate, session:double_barrier(path, 1) } do
      assert.matches("already held by the caller",
        kinds.refused("deadlock", again:enter()))
    end
    assert.is_true(guard:is_held())
    assert(gate:enter { owner = "another", timeout = 30 }):release()
    assert.is_true(gate:leave())
    assert(gate:enter()):release()
  end)
end)

describe("Who leaves a double barrier", function()
  it("waits no longer than it has said; its node goes in any case", function()
    local gate = connect():double_barrier(path, 2)
    local function timed_out(how, ...)
      assert.equal(("zklock: timed out after %s s waiting for the other "
        .. "members of %s to leave"):format(how, path),
        kinds.refused("timeout", ...))
      kinds.wait_for_nodes(path, 1)
    end
    for _, how in ipairs { 0.2, 0 } do
      local other = enter(connect(), path, 2)
      local guard = assert(gate:enter(30))
      await(other)
      timed_out(how, kinds.takes(how, gate.leave, gate, how))
      assert.equal("released", guard:state())
      assert.equal(path .. " was not entered by the calling task",
        misuse(function() gate:leave() end))
      -- it is not inside any more, and the rest go on
      all_leave { other }
      local members = members_of(2)
      timed_out(how, await(leave(members[1], { timeout = how })))
      assert.equal("released", members[1].guard:state())
      assert.is_true(members[2].guard:verify())
      all_leave { members[2] }
    end
  end)

  it("is denied if the members may not be listed, and its node goes", function()
    local one, two = unpack(members_of(2))
    support.zk():set_acl(path, support.everybody(31 - 1))
    local leaving = leave(two)
    kinds.refused("denied", await(leaving))
    support.zk():set_acl(path, support.everybody(31))
    kinds.wait_for_nodes(path, 1)
    are_out(leave(one))
  end)

  it("does not wait when its guard is released", function()
    local members, calls = members_of(3), 0
    members[1].guard:on_lost(function() calls = calls + 1 end)
    assert.is_true(members[1].guard:release { wait = true })
    assert.equal("released", members[1].guard:state())
    kinds.wait_for_nodes(path, 2)
    local leaving = leave(members[2])
    nobody(0.05, leaving)
    members[3].guard:release()
    are_out(leaving)
    assert.equal(0, calls)
    kinds.wait_for_nodes(path, 0)
  end)

  it("is told cancelled, and closed, and has left", function()
    local members = members_of(4)
    local one, two, three = leave(members[1]), leave(members[2]),
      leave(members[3])
    nobody(0.02, one, two, three)
    one.ticket:cancel()
    one.ticket:cancel()
    await(one)
    members[2].gate:cancel()
    await(two)
    for i, leaving in ipairs { one, two } do
      assert.equal("cancelled", leaving.code)
      assert.equal("zklock: the wait for the other members of " .. path
        .. " to leave was cancelled", leaving.message)
      assert.equal("released", members[i].guard:state())
    end
    members[3].session:close()
    assert.equal("closed", three.code)
    assert.equal("zklock: the session was closed while waiting for the other "
      .. "members of " .. path .. " to leave", three.message)
    kinds.wait_for_nodes(path, 1)
    all_leave { members[4] }
    one.ticket:cancel()
  end)

  it("says lost, once, if it was lost; on_lost has heard of it", function()
    local gate, heard = connect():double_barrier(path, 2), {}
    local lost = { nil, "zklock: the hold of " .. path
      .. " was lost: its node was deleted", "lost" }
    local function lose(guard)
      guard:on_lost(function(_, reason) heard[#heard + 1] = reason end)
      support.zk():delete(guard.node)
      support.wait_until(function() return not guard:is_held() end)
    end
    local other = enter(connect(), path, 2)
    local guard = assert(gate:enter(30))
    await(other)
    lose(guard)
    assert.same(lost, { gate:leave() })
    assert.equal("lost", guard:state())
    assert.equal(path .. " was not entered by the calling task",
      misuse(function() gate:leave() end))
    all_leave { other }
    local members = members_of(2)
    lose(members[2].guard)
    assert.same(lost, { await(leave(members[2])) })
    all_leave { members[1] }
    -- While it waits, too: the lowest keeps its node until the rest have gone.
    members = members_of(2)
    local leaving = leave(members[1])
    nobody(0.05, leaving)
    lose(members[1].guard)
    all_leave { members[2] }
    assert.same(lost, { await(leaving) })
    assert.same({ "node_deleted", "node_deleted", "node_deleted" }, heard)
  end)
end)

it("Without a connection a double barrier's member on its way out hears "
  .. "disconnected, and its node goes later", function()
  local session, proxy = sessions.behind_proxy { session_timeout = 60 }
  local one = enter(session, path, 2)
  local two = enter(connect(), path, 2)
  await(one, two)
  sessions.cut_off(session, proxy)
  local leaving = leave(one, { timeout = 0.2 })
  await(leaving)
  assert.equal("disconnected", leaving.code)
  assert.matches("^zklock: no server of %S+ answered within 0.2 s, waiting "
    .. "for the other members of ", leaving.message)
  assert.equal("released", one.guard:state())
  local others = leave(two)
  nobody(0.05, others)
  proxy:heal()
  are_out(others)
end)

it("What a double barrier does not take raises, with the caller's "
  .. "line", function()
  local session = connect()
  local gate = session:double_barrier("/a", 2)
  assert.equal("zklock double barrier of 2 members /a", tostring(gate))
  support.misuses {
    { "n must be a whole number from 1 to 1000000, got 0",
      function() session:double_barrier("/a", 0) end },
    { "n must be a number, got nil",
      function() session:double_barrier "/a" end },
    { "/a/ready is inside the double barrier of 2 members /a",
      function() session:mutex "/a/ready" end },
    { "/a was not entered by the calling task",
      function() gate:leave() end },
    { "/a was not entered by the calling task",
      function() gate:leave_async(print) end },
    { "option 'guard' must be what enter has given, of /a",
      function() gate:leave { guard = {} } end },
  }
end)
