-- Nodes that are spelled like contenders and that no session owns: what a
-- program leaves that does not know what the directory is, or a stranger's text
-- in a path.  (Each answer of a server: spec/unit/story_bystanders.c.)
local kinds = require "integration.family.kinds"
local server = require "support.server"
local support = require "support"
local connect = support.connect
local await, nobody, queue_in = kinds.await, kinds.nobody, kinds.queue_in

-- Of the node that would be ahead of each kind: where it stands, its name.
local names = {
  mutex = "/x-lock-0000000000",
  parent = "/x-lock-0000000000",
  poll = "/x-lock-0000000000",
  handoffs = "/x-lock-0000000000",
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

  it("is not waited for: by no kind of lock", function()
    for _, kind in ipairs(kinds.all) do
      local name, at = names[kind.name], support.path()
      if name then
        leave(name, { data = "old" }, at)
        leave(name:gsub("0000000000", "0000000001"), { container = true }, at)
        local one = kind.make(connect(), at, { data = "one" })
        local guard = assert(one:acquire(20), kind.name)
        local waiter = queue_in(kind.rival(connect(), at), at)
        nobody(0.05, waiter)
        assert(guard:release())
        assert(await(waiter), kind.name):release { wait = true }
      end
    end
  end)

  it("may have a time to live, and is not waited for", function()
    local own = server.start(1, "--jvm -Dzookeeper.extendedTypesEnabled=true")
    support.closing({}, function() own:stop() end)
    local raw = support.zk(own.hosts)
    raw:make(path)
    assert(raw:create(path .. "/x-lock-0000000000", { ttl = 600000 }))
    local session = connect { hosts = own.hosts }
    assert.equal("0x0", session:contenders(path)[1].session)
    assert(session:mutex(path):acquire(30)):release { wait = true }
  end)

  it("takes no permit of a semaphore", function()
    leave "/leases/x-lease-0000000000"
    leave "/leases/x-lease-0000000001"
    local semaphore = connect():semaphore(path, 2)
    local first, second = assert(semaphore:acquire(20)),
      assert(semaphore:acquire(20))
    local third = queue_in(connect():semaphore(path, 2), path)
    nobody(15, third)
    first:release()
    assert(await(third))
    second:release()
    third.guard:release()
  end)

  it("counts for nobody, in messages and lists, and is logged once", function()
    local lines = {}
    leave("/x-lock-0000000000", { data = "left" })
    local holder = support.hold(path)
    local session = log_to(lines)
    for _ = 1, 2 do
      local _, message, code = session:mutex(path):acquire(5)
      assert.equal("timeout", code)
      assert.matches("%(1 ahead of us", message)
    end
    assert.same({ ("warn: a node is passed over (%s/x-lock-0000000000): no "
      .. "session owns it, so it is no contender"):format(path) }, lines)
    local list = session:contenders(path)
    assert.same({ "0x0", false, true },
      { list[1].session, list[1].holds, list[2].holds })
    holder:release()
  end)

  it("keeps an unfair lock from all until it is deleted, and the log says so",
    function()
      local lines = {}
      leave "/holder"
      local mutex = log_to(lines):mutex(path, { fair = false })
      assert.equal("timeout", select(3, mutex:acquire(5)))
      assert.same({ ("warn: cannot take the lock (%s/holder): no session owns "
        .. "it, so it stays until somebody deletes it"):format(path) }, lines)
      zk:delete(path .. "/holder")
      assert(mutex:acquire(30)):release { wait = true }
    end)
end)
