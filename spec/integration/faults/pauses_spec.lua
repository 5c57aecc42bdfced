-- Servers that say "not now", or whose answers lead nowhere: zklock asks them
-- ever more rarely, until the deadline.
local answers = require "integration.answers"
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local support = require "support"

local THROTTLED, QUOTA = -127, -125
local path, session, proxy

before_each(function()
  path = support.path()
  support.zk():make(path)
  session, proxy = sessions.behind_proxy { session_timeout = 10 }
end)

-- Each answer to this operation has this code, as long as `while_true()`.
local function refuse(op, code, while_true)
  return answers.log(function(reply)
    if reply.op == op and (not while_true or while_true()) then
      return { rc = code }
    end
  end)
end

-- The first `n` of them.
local function refuse_first(n, op, code)
  local told = 0
  return refuse(op, code, function()
    told = told + 1
    return told <= n
  end)
end

describe("A server that refuses for now", function()
  it("is asked again after pauses that grow to 2 s, and a new connection at "
    .. "once", function()
    local log, longest = refuse_first(9, "create2", QUOTA), 0.1
    local waiter = kinds.wait_in(session:mutex(path))
    log:await(9, "create2")
    local times = log:times "create2"
    for i = 2, 9 do
      local pause = times[i] - times[i - 1]
      assert.is_true(pause >= longest / 2 and pause < longest + 0.01, pause)
      longest = math.min(2 * longest, 2)
    end
    proxy:cut()
    assert.is_true(support.timed(function() kinds.await(waiter) end) < 0.5)
    waiter.guard:release()
  end)

  it("gets no create in the pause, whoever comes", function()
    local log, waiters = refuse_first(2, "create2", THROTTLED), {}
    for i = 1, 2 do waiters[i] = kinds.wait_in(session:mutex(path)) end
    log:await(2, "create2")
    waiters[3] = kinds.wait_in(session:mutex(path))
    log:await(5, "create2")
    local times = log:times "create2"
    assert.is_true(times[3] - times[2] >= 0.05)
    assert.near(times[3], times[5], 0.005)
    kinds.pass_on(waiters)
  end)

  it("is the reason of a timeout", function()
    for code, why in pairs { [THROTTLED] = "overloaded", [QUOTA] = "quota" } do
      local function expect(what, lock, timeout)
        local message = kinds.refused("timeout", lock:acquire(timeout))
        assert.matches(what .. " (" .. lock.path .. "): ", message, 1, true)
        assert.matches(why, message)
      end
      refuse("create2", code)
      expect("cannot create a node", session:mutex(path), 0.9)
      refuse("create_container", code)
      expect("cannot create", session:mutex(path .. "/" .. -code), 0)
    end
  end)

  it("is asked to delete until it is done", function()
    for _, code in ipairs { THROTTLED, QUOTA, -6, -130 } do
      local guard = assert(session:mutex(path):acquire(30))
      proxy:mute_events() -- of the node, which is gone in truth
      local log = refuse_first(1, "delete", code)
      guard:release()
      log:await(1, "delete")
      local stats = session:stats()
      assert.equal(1, stats.pending_releases)
      assert.equal(0, stats.refused_releases) -- by no ACL
      log:await(2, "delete")
      local times = log:times "delete"
      assert.is_true(times[2] - times[1] >= 0.1)
      support.until_state(session, nil, { pending_releases = 0 })
    end
  end)
end)

describe("A server whose answers lead nowhere", function()
  -- So many requests within so many seconds.
  local function requests_in(seconds)
    local before = session:stats().requests
    support.advance(seconds)
    return session:stats().requests - before
  end

  it("is asked ever more rarely for a list of what is there", function()
    refuse("children", -101)
    local observer = session:election(path):observe(function() end)
    assert.is_true(requests_in(3) < 300)
    assert.is_true(requests_in(27) < 300)
    observer:cancel()
  end)

  it("has each node deleted that it never lists", function()
    local log = answers.log(function(reply)
      if reply.op == "children" then reply.names = {} end
      return reply
    end)
    local waiter = kinds.wait_in(session:mutex(path))
    support.advance(30)
    local created = #log:times "create2"
    assert.is_true(created > 5)
    assert.is_true(#log:times "delete" >= created - 1)
    -- In a new connection the pauses begin anew.
    log:clear()
    proxy:cut()
    log:await(3, "create2")
    local times = log:times "create2"
    assert.near(times[1], times[3], 0.005)
    waiter.ticket:cancel()
    kinds.await(waiter)
    kinds.wait_for_nodes(path, 0)
  end)
end)
