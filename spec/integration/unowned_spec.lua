-- Nodes that are spelled like contenders and that no session owns: what a
-- program leaves that does not know what the directory is, or a stranger's text
-- in a path.  And nodes that the directory's ACL does not let us delete any
-- more.
local answers = require "integration.answers"
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local support = require "support"
local connect = support.connect

local path, zk

before_each(function() path, zk = support.path(), support.zk() end)

local function log_to(lines)
  return connect { log = function(level, text)
    lines[#lines + 1] = level .. ": " .. text
  end }
end

-- Of the node that would be ahead of each kind: where it stands, its name.
local names = {
  mutex = "/x-lock-0000000000",
  unfair = "/holder",
  parent = "/x-lock-0000000000",
  poll = "/x-lock-0000000000",
  local_turns = "/x-lock-0000000000",
  kazoo = "/x__lock__0000000000",
  read = "/x-__WRIT__0000000000",
  write = "/x-__READ__0000000000",
  ["kazoo read"] = "/x__lock__0000000000",
  ["kazoo write"] = "/x__rlock__0000000000",
  semaphore = "/locks/x-lock-0000000000",
}

local function leave_at(node, options)
  zk:make(node:match("^(.*)/"), { container = true })
  assert(zk:create(node, options))
end

describe("A node that no session owns", function()
  -- What is left there is deleted when all sessions are closed.
  before_each(function()
    support.closing({}, function() zk:delete_all(path:match "^/[^/]+") end)
  end)

  local function leave(name, options) leave_at(path .. name, options) end

  kinds.each(it, "blocks each kind of lock until it is deleted, and the log "
    .. "names it", function(kind)
    local lines, node = {}, path .. names[kind.name]
    local lock = kind.make(log_to(lines), path)
    leave(names[kind.name], { data = "old" })
    kinds.refused("timeout", lock:acquire(5))
    -- (Who watches the parent, or polls, reads no node ahead.)
    local line = ("warn: cannot take the lock (%s): no session owns it, so it "
      .. "stays until it is deleted"):format(node)
    local is_read = kind.name ~= "parent" and kind.name ~= "poll"
    assert.same({ is_read and line or nil }, lines)
    zk:delete(node)
    assert(lock:acquire(30)):release { wait = true }
  end, function(kind) return names[kind.name] end)

  it("takes a permit of a semaphore", function()
    leave "/leases/x-lease-0000000000"
    local semaphore = connect():semaphore(path, 2)
    local guard = assert(semaphore:acquire(20))
    assert.equal("timeout",
      select(3, connect():semaphore(path, 2):acquire(5)))
    guard:release()
  end)

  it("holds no lock", function()
    leave("/x-lock-0000000000", { data = "left" })
    local session = connect()
    local waiter = kinds.queue_in(session:mutex(path), path)
    kinds.nobody(5, waiter)
    local list = session:contenders(path)
    assert.same({ "0x0", false, false },
      { list[1].session, list[1].holds, list[2].holds })
    assert.same({}, (session:mutex(path):holders()))
    assert.equal(0, session:revoke(path))
    assert.is_true(session:evict(path, list[1].node))
    kinds.await(waiter):release { wait = true }
  end)
end)

describe("A node of another session, made in the place of one", function()
  -- That no session owned: an event tells of neither.
  it("is waited for as any other", function()
    local session, proxy = sessions.behind_proxy()
    local holder = support.hold(path)
    leave_at(path .. "/x-lock-0000000001")
    local waiter = kinds.queue_in(session:mutex(path), path)
    proxy:refuse()
    support.until_state(session, "suspended")
    zk:delete(path .. "/x-lock-0000000001")
    zk:create(path .. "/x-lock-0000000001", { ephemeral = true })
    proxy:heal()
    support.until_state(session, "connected")
    holder:release { wait = true }
    kinds.nobody(1, waiter)
    zk:delete(path .. "/x-lock-0000000001")
    kinds.await(waiter):release()
  end)

  it("ends the hold of the node that had its name", function()
    local session, proxy = sessions.behind_proxy()
    local guard = assert(session:mutex(path):acquire(30))
    proxy:refuse()
    support.until_state(session, "suspended")
    zk:delete(guard.node)
    zk:create(guard.node)
    proxy:heal()
    support.step_until(session, function() return not guard:is_held() end)
    assert.equal("node_deleted", guard:reason())
    zk:delete(guard.node)
  end)

  it("sends a waiter to the tail if numbers are negative, or its own twice",
    function()
      for _, name in ipairs { "/x-lock--000000005", "/x-lock-0000000002" } do
        path = support.path()
        local session = connect()
        zk:make(path)
        zk:create(path .. "/kept")
        leave_at(path .. name)
        local waiter = kinds.wait_in(session:mutex(path))
        support.step_until(session, function()
          return session:stats().requests > 4 and #kinds.nodes(path) == 0
        end)
        assert.is_nil(waiter.guard)
        zk:delete(path .. name)
        kinds.await(waiter):release()
      end
    end)
end)

describe("A node that we may not delete", function()
  local lines, session

  before_each(function()
    lines = {}
    session = log_to(lines)
  end)

  local function close_to_deletes(directory)
    zk:set_acl(directory, support.everybody(31 - 8))
    return directory
  end

  -- The one line of the log.
  local function await_line(node)
    support.step_until(session, function() return lines[1] end)
    assert.same({ ("error: cannot delete the node of this session (%s): an ACL "
      .. "forbids it; zklock tries again until the session ends"):format(
        node) }, lines)
  end

  for _, name in ipairs { "mutex", "unfair", "local_turns", "read", "write",
      "semaphore" } do
    it("is reported by release { wait = true }: " .. name, function()
      local kind = kinds.of[name]
      local lock = kind.make(session, path)
      local guard = assert(lock:acquire(30))
      local directory = close_to_deletes(guard.node:match "^(.*)/")
      local function release() return guard:release { wait = true } end
      assert.equal(("zklock: ZooKeeper refused to release %s: cannot delete "
        .. "the node of this session (%s): an ACL forbids it"):format(path,
        guard.node), kinds.refused("denied", kinds.takes(0, release)))
      assert.equal("released", guard:state())
      assert.is_false(guard:is_held())
      assert.is_true(release()) -- as ever: the second time
      await_line(guard.node)
      assert.equal(1, session:stats().pending_releases)
      assert.equal(1, session:stats().refused_releases)
      assert.matches("zklock_session_refused_releases[^\n]* 1\n",
        session:metrics())
      -- for another session, too
      kinds.refused("busy", kind.rival(connect(), path):try_acquire())
      zk:set_acl(directory, support.everybody(31))
      support.until_state(session, nil, { pending_releases = 0,
        refused_releases = 0 })
      assert.is_true(lock:acquire(30):release { wait = true })
      assert.is_nil(lines[2])
    end)
  end

  it("is tried again, less and less often", function()
    local guard = assert(session:mutex(path):acquire(30))
    close_to_deletes(path)
    local log, longest = answers.log(), 0.2
    guard:release()
    log:await(8, "delete")
    local times = log:times "delete"
    for i = 2, #times do
      local pause = times[i] - times[i - 1]
      assert.is_true(pause >= longest / 2 and pause < longest + 0.01, pause)
      longest = math.min(2 * longest, 6.4)
    end
    zk:set_acl(path, support.everybody(31))
    support.until_state(session, nil, { pending_releases = 0 })
  end)

  local function denied(at, ...)
    assert.matches("cannot delete earlier nodes of this session (" .. at .. ")",
      kinds.refused("denied", ...), 1, true)
  end

  it("refuses who waits behind it, and who comes, and no other lock", function()
    local mutex = session:mutex(path)
    local guard, waiter = assert(mutex:acquire(30)), kinds.wait_in(mutex)
    kinds.wait_for_nodes(path, 2)
    close_to_deletes(path)
    guard:release()
    denied(path, kinds.await(waiter))
    denied(path, mutex:acquire(30))
    denied(path, mutex:try_acquire())
    assert.equal(2, #kinds.nodes(path))
    assert(session:mutex(path .. "-other"):acquire(30)):release()
    zk:set_acl(path, support.everybody(31))
    support.until_state(session, nil, { pending_releases = 0 })
  end)

  it("refuses a permit if it is of its gate", function()
    local semaphore = session:semaphore(path, 2)
    assert(semaphore:acquire(30)):release { wait = true }
    zk:make(path .. "/locks/kept")
    zk:make(path .. "/leases/kept")
    close_to_deletes(path .. "/locks")
    local guard = assert(semaphore:acquire(30))
    support.until_state(session, nil, { refused_releases = 1 })
    denied(path .. "/locks", semaphore:acquire(30))
    assert.is_true(guard:release { wait = true })
    zk:set_acl(path .. "/locks", support.everybody(31))
    support.until_state(session, nil, { pending_releases = 0 })
  end)

  it("does not delay close, and is deleted with the session", function()
    local guard = assert(session:mutex(path):acquire(30))
    close_to_deletes(path)
    assert.is_true(guard:release())
    await_line(guard.node)
    assert.near(0, support.timed(function() session:close() end), 0.1)
    support.wait_for_queue(path, 0)
  end)
end)
