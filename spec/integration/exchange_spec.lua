-- Who gives a lock back that others wait for, and wants it again at once, has
-- one node deleted and another made in one transaction.  (Each reply, and what
-- a server refuses: spec/unit/story_exchange.c.)
local kinds = require "integration.family.kinds"
local support = require "support"
local await, connect = kinds.await, support.connect

describe("A lock that is given back and wanted again at once", function()
  local zk, path, held, lock, wait, asked

  local function stand()
    local node = zk:create(path .. "/other-lock-",
      { ephemeral = true, sequential = true })
    return support.closing(node, function() zk:delete(node) end)
  end

  -- Until the session asks for nothing any more: what it has asked for itself.
  local function settle(session)
    local last
    support.step_until(session, function()
      local stats = session:stats()
      local now = stats.requests - stats.heartbeats - stats.nudges
      local same = stats.in_flight == 0 and now == last
      last = now
      if not same then support.advance(0.02) end
      return same
    end)
    return last
  end

  -- One of ours holds the lock, and knows of B and X behind it.
  before_each(function()
    kinds.start()
    zk, path = support.zk(), support.path()
    zk:make(path .. "/kept")
    local session = connect()
    lock = session:mutex(path)
    local ahead = { stand(), stand(), stand() }
    held = kinds.queue_in(lock, path)
    settle(session)
    held.b, held.x = stand(), stand()
    zk:delete(ahead[1])
    zk:delete(ahead[2])
    settle(session) -- it has listed
    zk:delete(ahead[3])
    await(held)
    settle(session)
  end)
  after_each(support.finish)

  -- The new wait, and how many requests it took.
  local function come_back()
    local before = settle(held.session)
    held.guard:release()
    wait = kinds.wait_in(lock, { owner = {} })
    asked = settle(held.session) - before
  end

  it("asks for both in one, and has the token of its new node", function()
    come_back()
    assert.equal(3, asked) -- both, X, and the one before it
    assert.is_false(zk:exists(held.node))
    zk:delete(held.b)
    zk:delete(held.x)
    local guard = await(wait)
    assert.equal(zk:exists(guard.node).czxid, guard:token())
    assert.is_true(guard:token() > held.guard:token())
    assert.is_true(guard:release { wait = true })
  end)
end)
