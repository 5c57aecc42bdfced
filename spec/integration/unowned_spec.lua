-- Nodes that are spelled like contenders and that no session owns: what a
-- program leaves that does not know what the directory is, or a stranger's text
-- in a path.  And nodes that the directory's ACL does not let us delete any
-- more.  (Each answer of a server, and when it is asked again:
-- spec/unit/story_unowned.c and story_kept.c.)
local kinds = require "integration.family.kinds"
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

describe("A node that no session owns", function()
  -- What is left there is deleted when all sessions are closed.
  before_each(function()
    support.closing({}, function() zk:delete_all(path:match "^/[^/]+") end)
  end)

  local function leave(name, options)
    local node = path .. name
    zk:make(node:match("^(.*)/"), { container = true })
    assert(zk:create(node, options))
  end

  kinds.each(it, "blocks each kind of lock until it is deleted", function(kind)
    local lock = kind.make(connect(), path)
    leave(names[kind.name], { data = "old" })
    kinds.refused("timeout", lock:acquire(5))
    zk:delete(path .. names[kind.name])
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

  it("holds no lock, and the log names it", function()
    local lines = {}
    leave("/x-lock-0000000000", { data = "left" })
    local session = log_to(lines)
    local waiter = kinds.queue_in(session:mutex(path), path)
    kinds.nobody(5, waiter)
    assert.same({ ("warn: cannot take the lock (%s/x-lock-0000000000): no "
      .. "session owns it, so it stays until it is deleted")
      :format(path) }, lines)
    local list = session:contenders(path)
    assert.same({ "0x0", false, false },
      { list[1].session, list[1].holds, list[2].holds })
    assert.same({}, (session:mutex(path):holders()))
    assert.equal(0, session:revoke(path))
    assert.is_true(session:evict(path, list[1].node))
    kinds.await(waiter):release { wait = true }
  end)

  it("keeps an unfair lock from all until it is deleted, and the log says so",
    function()
      local lines = {}
      leave "/holder"
      local mutex = log_to(lines):mutex(path, { fair = false })
      assert.equal("timeout", select(3, mutex:acquire(5)))
      assert.same({ ("warn: cannot take the lock (%s/holder): no session owns "
        .. "it, so it stays until it is deleted"):format(path) }, lines)
      zk:delete(path .. "/holder")
      assert(mutex:acquire(30)):release { wait = true }
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

  it("does not delay close, and is deleted with the session", function()
    local guard = assert(session:mutex(path):acquire(30))
    close_to_deletes(path)
    assert.is_true(guard:release())
    await_line(guard.node)
    assert.near(0, support.timed(function() session:close() end), 0.1)
    support.wait_for_queue(path, 0)
  end)
end)
