-- Double barriers and what may befall their members: at the door, inside, and
-- on their way out.
local kinds = require "integration.family.kinds"
local of_members = require "support.members"
local connect_through = require "support.mishaps".connect_through
local new_scheduler = require "support.scheduler".new
local seize = require "support.seizure".seize
local start_proxy = require "support.proxy".start
local support = require "support"
local waits = require "zklock.wait"
local connect = support.connect
local await, nobody = kinds.await, kinds.nobody
local enter, leave = of_members.enter, of_members.leave
local all_leave, ready = of_members.all_leave, of_members.ready

local path, proxy

before_each(function()
  kinds.start()
  path, proxy = support.path(), start_proxy()
end)
after_each(support.finish)

-- A member behind a wire, in a session of so many seconds (60).
local function enter_through(wire, n, seconds)
  local session = connect_through(wire, { session_timeout = seconds })
  local member = enter(session, path, n)
  member.wire = wire
  return member
end

-- Two members that are inside, the first one behind the wire.
local function two_inside()
  local one, two = enter_through(proxy, 2), enter(connect(), path, 2)
  await(one, two)
  return one, two
end

local function suspend(member)
  member.wire:refuse()
  support.until_state(member.session, "suspended")
end

-- Its session is closed by somebody else, and it goes on with another.
local function expire(member)
  local id = member.session:id()
  suspend(member)
  assert.is_true(seize(support.hosts, id))
  member.wire:heal()
  support.until_state(member.session, "connected", { expiries = 1 })
end

-- Both of these have begun to leave, and are out.
local function are_out(...)
  await(...)
  for _, leaving in ipairs { ... } do assert.is_true(leaving.guard) end
end

describe("A member that is gone for good", function()
  for _, place in ipairs { "inside", "on its way out" } do
    it(place .. " keeps the others no longer than its session lives", function()
      local gone = enter_through(proxy, 3, 1)
      local one, two = enter(connect(), path, 3), enter(connect(), path, 3)
      await(gone, one, two)
      if place == "on its way out" then nobody(0.05, leave(gone)) end
      proxy:refuse()
      are_out(leave(one), leave(two))
      assert.is_false(support.zk():exists(gone.guard.node))
      kinds.wait_for_nodes(path, 0)
    end)
  end

  it("as all of them may be: their ready lets nobody in", function()
    local gone = { enter_through(proxy, 2, 1), enter_through(proxy, 2, 1) }
    await(gone[1], gone[2])
    proxy:refuse()
    kinds.wait_for_nodes(path, 0) -- until their sessions are over
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
end)

describe("Without a connection a double barrier's member", function()
  it("on its way out hears disconnected, and its node goes later", function()
    local one, two = two_inside()
    suspend(one)
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

  it("inside has lost when its session is over; the others go on", function()
    local one, two = two_inside()
    local heard = {}
    one.guard:on_lost(function(_, code) heard[#heard + 1] = code end)
    expire(one)
    support.step_until(one.session, function() return heard[1] end)
    assert.equal("lost", select(3, await(leave(one))))
    assert.same({ "expired" }, heard)
    all_leave { two }
    kinds.wait_for_nodes(path, 0)
  end)
end)

describe("A double barrier", function()
  it("is closed in the middle of anything, and leaves nothing", function()
    for i = 1, 60 do
      local members = { enter(connect(), path, 2), enter(connect(), path, 2) }
      for _ = 1, i % 20 do
        for _, member in ipairs(members) do
          member.session:step()
          if member.guard and not member.leaving then
            member.leaving = leave(member)
          end
        end
        support.advance(0.0005)
      end
      members[i % 2 + 1].session:close()
      members[2 - i % 2].session:close()
      for _, member in ipairs(members) do
        assert(member.guard or member.code == "closed", member.message)
      end
    end
    kinds.wait_for_nodes(path, 0)
  end)

  if support.is_54 then
    it("is left by a task that is closed, in enter and in leave", function()
      local scheduler = new_scheduler()
      local session = connect { loop = scheduler.adapter }
      local gate = session:double_barrier(path, 2)
      local task = scheduler:spawn(function() gate:enter() end)
      scheduler:turn()
      kinds.wait_for_nodes(path, 1)
      assert.is_true(scheduler:kill(task))
      kinds.wait_for_nodes(path, 0)
      support.step_until(session, function()
        return support.count_watches(path) == 0
          and not waits.any(session._engine.waits.answers)
      end)
      local other, guard = enter(connect(), path, 2), nil
      task = scheduler:spawn(function()
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
end)
