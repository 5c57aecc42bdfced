-- Nodes that are spelled like contenders and that no session owns: what a
-- program leaves that does not know what the directory is, or a stranger's text
-- in a path.  (Each answer of a server: spec/unit/story_unowned.c.)
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect

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
  local path, zk

  -- What is left there is deleted when all sessions are closed.
  before_each(function()
    local prefix = support.path():match "^/[^/]+"
    path, zk = support.path(), support.zk()
    support.closing({}, function() zk:delete_all(prefix) end)
  end)

  local function leave(name, options, at)
    local node = (at or path) .. name
    zk:make(node:match("^(.*)/"), { container = true })
    assert(zk:create(node, options))
  end

  local function log_to(lines)
    return connect { log = function(level, text)
      lines[#lines + 1] = level .. ": " .. text
    end }
  end

  it("blocks each kind of lock until it is deleted", function()
    for _, kind in ipairs(kinds.all) do
      local name, at = names[kind.name], support.path()
      if name then
        leave(name, { data = "old" }, at)
        local lock = kind.make(connect(), at)
        assert.equal("timeout", select(3, lock:acquire(5)), kind.name)
        zk:delete(at .. name)
        assert(lock:acquire(30), kind.name):release { wait = true }
      end
    end
  end)

  it("takes a permit of a semaphore", function()
    leave "/leases/x-lease-0000000000"
    local semaphore = connect():semaphore(path, 2)
    local guard = assert(semaphore:acquire(20))
    assert.equal("timeout",
      select(3, connect():semaphore(path, 2):acquire(5)))
    guard:release()
  end)

  it("holds nothing, and the log says who must delete it", function()
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
