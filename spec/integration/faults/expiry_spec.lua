-- Sessions that somebody else ends: who knows a session's id and password may
-- close it, and its client learns of it afterwards.
local kinds = require "integration.family.kinds"
local seize = require "support.seizure".seize
local sessions = require "integration.sessions"
local support = require "support"

local function expire(session)
  assert.is_true(seize(support.hosts, session:id()))
end

local function has_another(session)
  support.until_state(session, "connected", { expirations = 1 })
end

-- It is a hold, at a node of this session.
local function is_owned(guard, session)
  assert.is_true(guard:verify())
  assert.equal(session:id(), support.zk():exists(guard.node).owner)
end

describe("A session that somebody else closes", function()
  local path
  before_each(function() path = support.path() end)

  it("begins its waits again, at the tail, with a node of its own", function()
    local holder = support.hold(path)
    local session, other = support.connect(), support.connect()
    local first = kinds.queue_in(session:mutex(path), path)
    local second = kinds.queue_in(other:mutex(path), path)
    expire(session)
    has_another(session)
    support.wait_for_queue(path, 3)
    holder:release()
    assert.is_true(kinds.await(second):is_held())
    kinds.nobody(0.2, first)
    second.guard:release()
    local guard = kinds.await(first)
    assert.are_not.equal(first.node, guard.node)
    is_owned(guard, session)
    guard:release()
  end)

  it("while the reply to a create is lost finds no node of the old one (T1)",
    function()
      local session, proxy = sessions.behind_proxy()
      support.zk():make(path)
      proxy:lose_reply "create"
      local waiter = kinds.wait_in(session:mutex(path))
      proxy:await_loss()
      local old = support.wait_for_queue(path, 1)[1]
      expire(session)
      proxy:heal()
      local guard = kinds.await(waiter)
      assert.are_not.equal(path .. "/" .. old, guard.node)
      assert.same({ guard.node }, kinds.nodes(path))
      is_owned(guard, session)
      guard:release()
    end)

  it("in the moment of its turn is granted with a node or not at all (T9)",
    function()
      for i = 1, 20 do
        local session, here = support.connect(), path .. "/" .. i
        local holder = support.hold(here)
        local waiter = kinds.queue_in(session:mutex(here), here)
        holder:release()
        support.advance(i * 0.0001)
        expire(session)
        local guard = kinds.await(waiter)
        has_another(session)
        -- Granted before or after: what it believes now is true.
        local held = guard:is_held()
        assert.equal(held, support.zk():exists(guard.node) ~= false)
        local released, _, code = guard:release()
        assert.equal(held and "true" or "lost", code or tostring(released))
        support.wait_for_queue(here, 0)
      end
    end)
end)
