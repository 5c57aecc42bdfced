-- Who gives a lock back that others wait for, and wants it again at once, has
-- one node deleted and another made in one transaction: what if a server
-- refuses either?  (Each reply in any order: spec/unit/story_exchange.c.)
local kinds = require "integration.family.kinds"
local support = require "support"
local await, connect = kinds.await, support.connect

local ALL, CREATE, DELETE = 31, 4, 8

describe("A lock that is given back and wanted again at once #once", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  local zk, path
  before_each(function() zk = support.zk() end)

  local function stand()
    local node = zk:create(path .. "/other-lock-",
      { ephemeral = true, sequential = true })
    return support.closing(node, function() support.zk():delete(node) end)
  end

  local function requests(session)
    local stats = session:stats()
    return stats.requests - stats.heartbeats - stats.nudges
  end

  local function settle(session)
    local last
    support.step_until(session, function()
      local now = requests(session)
      local same = session:stats().in_flight == 0 and now == last
      last = now
      if not same then support.sleep(0.02) end
      return same
    end, 20, "a session that asks nothing")
  end

  -- One of ours holds the lock, and knows of B and X behind it.
  local function hold_before_two()
    path = support.path()
    zk:make(path .. "/kept")
    local session = connect()
    local lock, ahead = session:mutex(path), { stand(), stand(), stand() }
    local held = kinds.queue_in(lock, path)
    settle(session)
    held.b, held.x = stand(), stand()
    zk:delete(ahead[1])
    zk:delete(ahead[2])
    settle(session) -- it has listed
    zk:delete(ahead[3])
    await(held)
    settle(session)
    return held, lock
  end

  -- The new wait, and whether both were asked for in one.
  local function come_back(held, lock)
    local session = held.session
    local before = requests(session)
    held.guard:release()
    local wait = kinds.wait_in(lock, { owner = {} })
    settle(session)
    return wait, requests(session) - before
  end

  it("asks for both in one, and has the token of its new node", function()
    -- (On a busy machine the I/O thread may send the one before it hears of the
    -- other.)
    local held, lock, wait, asked
    repeat
      held, lock = hold_before_two()
      wait, asked = come_back(held, lock)
      if asked > 3 then held.session:close() end
    until asked == 3 -- both, X, and the one before it
    assert.is_false(zk:exists(held.node))
    zk:delete(held.b)
    zk:delete(held.x)
    local guard = await(wait)
    local stat = zk:exists(guard.node)
    assert.equal(stat.czxid, guard:token())
    assert.is_true(guard:token() > held.guard:token())
    assert.is_true(guard:release { wait = true })
  end)

  -- Twenty times: in some of them both were one.
  local function each(fn)
    for _ = 1, 20 do fn(hold_before_two()) end
  end

  local function allow(permissions)
    zk:set_acl(path,
      { { perms = permissions, scheme = "world", id = "anyone" } })
  end

  it("is given back though the server lets nobody make another", function()
    each(function(held, lock)
      allow(ALL - CREATE)
      local wait = come_back(held, lock)
      local _, message, code = await(wait)
      assert.equal("denied", code)
      assert.matches("cannot create a node", message, 1, true)
      support.wait_until(function() return not zk:exists(held.node) end)
      allow(ALL)
      held.session:close()
    end)
  end)

  it("is refused where the server lets nobody delete a node", function()
    each(function(held, lock)
      allow(ALL - DELETE)
      local wait = come_back(held, lock)
      local _, _, code = await(wait)
      assert.equal("denied", code)
      assert.truthy(zk:exists(held.node))
      allow(ALL)
      support.step_until(held.session, function()
        return not zk:exists(held.node)
      end, 30, "that it is deleted after all")
      held.session:close()
    end)
  end)

  it("is queued for though its old node was just deleted", function()
    each(function(held, lock)
      zk:delete(held.node)
      local wait = come_back(held, lock)
      zk:delete(held.b)
      zk:delete(held.x)
      assert.is_true(await(wait):is_held())
      assert.is_true(wait.guard:release { wait = true })
      held.session:close()
    end)
  end)
end)
