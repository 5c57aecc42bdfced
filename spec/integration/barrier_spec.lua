-- Barriers: set, lifted, and waited for.
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local support = require "support"
local waits = require "zklock.wait"
local worlds = require "virtual.worlds"
local connect, everybody, recorder = support.connect,
  support.everybody, support.recorder
local await_watches = support.await_watches

local function await_calls(session, calls, n)
  support.step_until(session, function() return #calls == (n or 1) end)
end

describe("A barrier", function()
  it("is a persistent node with our data, below containers", function()
    local session, zk = connect(), support.zk()
    local path = support.path() .. "/above/barrier"
    local barrier = session:barrier(path)
    assert.equal(path, barrier.path)
    assert.equal("zklock barrier " .. path, tostring(barrier))
    assert.is_true(barrier:set())
    local data, stat = zk:get(path)
    assert.equal("0x", stat.owner)
    assert.matches(":" .. support.pid() .. "$", data)
    session:close()
    assert.is_table(zk:exists(path))
    zk:delete(path)
    support.wait_until(function() -- (no other directory is reaped)
      return not zk:exists((path:match "^(.*)/"))
    end)
  end)

  it("says whether it was set before, and does nothing twice", function()
    local path, zk = support.path(), support.zk()
    local barrier, other = connect():barrier(path), connect():barrier(path)
    assert.same({ true, false }, { barrier:lift() })
    assert.is_false(barrier:is_set())
    assert.same({ true, true }, { barrier:set() })
    local set_by = zk:exists(path).czxid
    for _, one in ipairs { barrier, other } do
      assert.same({ true, false }, { one:set() })
      assert.equal(set_by, zk:exists(path).czxid)
      assert.is_true(one:is_set())
    end
    assert.same({ true, true }, { other:lift() })
    for _, one in ipairs { other, barrier } do
      assert.same({ true, false }, { one:lift() })
      assert.is_false(one:is_set())
    end
    -- Whoever has made its node, or deletes it.
    zk:make(path, { data = "of kazoo" })
    assert.is_true(barrier:is_set())
    assert.same({ true, false }, { barrier:set() })
    assert.equal("of kazoo", (zk:get(path)))
    assert.equal("timeout", select(3, barrier:wait(0)))
    zk:delete(path)
    assert.is_true(barrier:wait(0))
    assert.is_false(barrier:is_set())
  end)

  it("is refused, with the reason", function()
    local session, path, zk = connect(), support.path(), support.zk()
    zk:create((path:match "^(.*)/"))
    local function refused(code, sentence, result, message, why)
      assert.same({ nil, code }, { result, why })
      assert.equal(1, message:find("zklock: ZooKeeper refused the "
        .. sentence, 1, true), message)
    end
    local barrier, below = session:barrier(path), session:barrier(path .. "/b")
    zk:create(path, { ephemeral = true })
    local _, message, code = barrier:set()
    assert.matches(": .*session", message)
    refused("invalid", "barrier " .. path, nil, message, code)
    refused("invalid", "barrier " .. path .. "/b: no children for ephemerals",
      below:set())
    -- but it keeps waiting who finds it
    assert.equal("timeout", select(3, barrier:wait(0.05)))
    zk:delete(path)
    assert.is_true(barrier:wait(0))
    zk:make(path .. "/child")
    refused("invalid", "lifting of the barrier " .. path .. ": not empty",
      barrier:lift())
    assert.is_true(barrier:is_set())
    zk:set_acl(path, everybody(17))
    refused("denied", "barrier " .. path .. "/b: an ACL forbids it",
      below:set())
    zk:set_acl(path, everybody(31))
    assert.is_true(below:set())
    zk:set_acl(path, everybody(17))
    refused("denied", "lifting of the barrier " .. path
      .. "/b: an ACL forbids it", below:lift())
    zk:set_acl(path, everybody(31))
    -- Who may not read it does not pass.
    zk:set_acl(path .. "/b", everybody(30))
    assert.equal("timeout", select(3, below:wait(0)))
    assert.equal("timeout", select(3, below:wait(0.05)))
    assert.is_true(below:lift())
    assert.is_true(below:wait(0))
  end)

  it("is lifted by who may delete it, and nothing else", function()
    local path, zk = support.path(), support.zk()
    zk:make(path)
    local gate = path .. "/a"
    assert.is_true(connect():barrier(gate):set())
    zk:set_acl(path, everybody(1 + 8 + 16)) -- it may not create
    assert.same({ true, true }, { connect():barrier(gate):lift() })
    zk:set_acl(path, everybody(31))
    assert.is_true(connect():barrier(gate):set())
    local other = connect { acl = {
      { perms = "cdrwa", scheme = "ip", id = "192.0.2.1" } } }
    assert.same({ true, true }, { other:barrier(gate):lift() })
    assert.same({ true, false }, { other:barrier(gate):lift() })
    support.wait_until(function() return #zk:children(path) == 0 end)
    -- It has the session's own.
    local alice = connect { acl = "creator",
      auth = { scheme = "digest", credential = "alice:secret" } }
    assert.is_true(alice:barrier(gate):set())
    assert.has_error(function() zk:get(gate) end)
    assert.is_true(alice:barrier(gate):lift())
  end)
end)

describe("Who waits at a barrier", function()
  it("does not wait where none is set", function()
    local session, path = connect(), support.path()
    for _, how in ipairs { 0, 5, math.huge, {}, { timeout = 0 } } do
      assert.is_true(session:barrier(path):wait(how))
    end
    assert.is_true(session:barrier(path .. "/a/b"):wait())
    support.zk():make(path)
    assert.is_true(session:barrier(path .. "/c"):wait())
    await_watches(path, 0)
    assert.same({}, support.zk():children(path)) -- it has no directory of ours
  end)

  it("waits no longer than it has said, and not at all for 0", function()
    local session, path = connect(), support.path()
    local barrier = session:barrier(path)
    assert.is_true(barrier:set())
    local function timed_out(seconds)
      return { nil, ("zklock: timed out after %s s waiting for the barrier %s "
        .. "to be lifted"):format(seconds, path), "timeout" }
    end
    for _, seconds in ipairs { 0.2, 0 } do
      for _, how in ipairs { seconds, { timeout = seconds } } do
        assert.same(timed_out(seconds),
          { kinds.takes(seconds, barrier.wait, barrier, how) })
      end
    end
    await_watches(path, 0)
    local calls, callback = recorder()
    barrier:wait_async(0.05, callback)
    barrier:wait_async({ timeout = 0 }, callback)
    barrier:wait_async(nil, callback)
    await_calls(session, calls, 2)
    assert.same({ timed_out "0", timed_out "0.05" }, calls)
    await_watches(path, 1)
    assert.is_true(barrier:lift())
    await_calls(session, calls, 3)
    assert.same({ true }, calls[3])
  end)

  it("is woken by its ticket, by cancel of this object, and by close",
    function()
      local path, session = support.path(), connect()
      local one, two = session:barrier(path), session:barrier(path)
      local ones, one_callback = recorder()
      local twos, two_callback = recorder()
      support.zk():make(path)
      for _ = 1, 2 do one:wait_async(one_callback) end
      two:wait_async(two_callback)
      one:wait_async(one_callback):cancel()
      await_calls(session, ones)
      one:cancel()
      await_calls(session, ones, 3)
      assert.same({}, twos)
      await_watches(path, 1)
      session:close()
      for i = 1, 3 do
        assert.same({ nil, "zklock: the wait for the barrier " .. path
          .. " to be lifted was cancelled", "cancelled" }, ones[i])
      end
      assert.same({ { nil, "zklock: the session was closed while waiting for "
        .. "the barrier " .. path .. " to be lifted", "closed" } }, twos)
    end)
end)

if support.is_54 then
  it("A task that is closed at a barrier leaves no watch", function()
    local path, session, scheduler = support.path(), sessions.in_loop()
    support.zk():make(path)
    local task = scheduler:spawn(function() session:barrier(path):wait() end)
    scheduler:turn()
    await_watches(path, 1)
    assert.is_true(scheduler:kill(task))
    support.until_state(session, nil, { watches = 0 })
    assert.is_nil(waits.any(session._engine.waits))
    await_watches(path, 0)
  end)
end

-- (What the command makes of it, and authentication that servers enforce:
-- server/codes_spec.lua.)
it("A barrier is set in the last place of a quota, and lifted", function()
  local hosts = worlds.free_address()
  worlds.start(hosts, { enforces_quotas = true })
  local zk, last = support.zk(hosts), 0
  zk:make "/q"
  zk:make("/zookeeper/quota/q/zookeeper_limits", {
    data = "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2" })
  zk:make("/zookeeper/quota/q/zookeeper_stats", { data = "count=0,bytes=0" })
  local barrier = connect { hosts = hosts }:barrier "/q/gate"
  local function fill()
    last = last + 1
    return pcall(zk.create, zk, "/q/" .. last)
  end
  repeat until not fill()
  zk:delete "/q/1"
  assert.same({ true, true }, { barrier:set() })
  assert.is_false(fill())
  assert.same({ true, true }, { barrier:lift() })
  assert.is_true(fill())
  assert.equal("timeout", select(3, barrier:set()))
end)
