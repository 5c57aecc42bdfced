-- Nodes that are spelled like contenders and that no session owns: what a
-- program leaves that does not know what the directory is, or a stranger's text
-- in a path.
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

-- Whoever looks at it only after a while has a session that is short.
local SESSION = { session_timeout = 4 }

describe("A node that no session owns #once", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  -- What is left there is deleted when all sessions are closed.
  local function new_path()
    local path = support.path()
    support.closing({}, function() support.zk():delete_all(path) end)
    return path
  end

  local function leave(path, name, options)
    local zk = support.zk()
    zk:make(path .. name:match("^(.*)/"), { container = true })
    assert(zk:create(path .. name, options))
  end

  for _, kind in ipairs(kinds.all) do
    local name = names[kind.name]
    if name then
      it("is not waited for: " .. kind.name .. (kind.defaults.wait
        and " #slow" or ""), function()
        local path = new_path()
        leave(path, name, { data = "old" })
        leave(path, (name:gsub("0000000000", "0000000001")),
          { container = true })
        local one = kind.make(connect(SESSION), path, { data = "one" })
        local other = kind.rival(connect(SESSION), path)
        local guard = assert(one:acquire(20))
        local waiter = queue_in(other, path)
        nobody(0.05, waiter)
        assert(guard:release())
        assert(await(waiter))
        assert(waiter.guard:release { wait = true })
      end)
    end
  end

  it("may have a time to live, and is not waited for #slow", function()
    local own = server.start(1, "--jvm -Dzookeeper.extendedTypesEnabled=true")
    support.closing({}, function() own:stop() end)
    local zk, path = support.zk(own.hosts), support.path()
    zk:make(path)
    assert(zk:create(path .. "/x-lock-0000000000", { ttl = 600000 }))
    local session = connect { hosts = own.hosts }
    assert.equal("0x0", session:contenders(path)[1].session)
    assert(session:mutex(path):acquire(30)):release { wait = true }
  end)

  it("takes no permit of a semaphore #slow", function()
    local path = new_path()
    leave(path, "/leases/x-lease-0000000000")
    leave(path, "/leases/x-lease-0000000001")
    local semaphore = connect(SESSION):semaphore(path, 2)
    local first, second = assert(semaphore:acquire(20)),
      assert(semaphore:acquire(20))
    local third = kinds.queue_in(connect(SESSION):semaphore(path, 2), path)
    nobody(6, third)
    first:release()
    assert(await(third))
    second:release()
    third.guard:release()
  end)

  it("lets those pass who wait for others", function()
    local path = new_path()
    local holder = support.hold(path)
    leave(path, "/x-lock-0000000001")
    local first = queue_in(connect():mutex(path), path)
    local second = queue_in(connect():mutex(path), path)
    nobody(0.05, first, second)
    holder:release()
    await(first)
    nobody(0.05, second)
    first.guard:release()
    await(second)
    second.guard:release()
  end)

  it("counts for nobody, in messages and lists, and is logged once", function()
    local path, lines = new_path(), {}
    leave(path, "/x-lock-0000000000", { data = "left" })
    local holder = support.hold(path)
    local session = connect {
      log = function(level, text) lines[#lines + 1] = level .. ": " .. text end,
    }
    for _ = 1, 2 do
      support.wait_until(function() -- it has looked by then
        local guard, message, code = session:mutex(path):acquire(0.3)
        assert.is_nil(guard)
        assert.equal("timeout", code)
        return message:find("(1 ahead of us", 1, true)
      end, 10, "a message that counts one")
    end
    assert.same({ ("warn: a node is passed over (%s/x-lock-0000000000): no "
      .. "session owns it, so it is no contender"):format(path) }, lines)
    local list = session:contenders(path)
    assert.equal("0x0", list[1].session)
    assert.is_false(list[1].holds)
    assert.is_true(list[2].holds)
    holder:release()
  end)

  it("is in the way of who does not wait for a session's timeout only #slow",
    function()
      local path = new_path()
      leave(path, "/x-lock-0000000000")
      local mutex = connect(SESSION):mutex(path)
      local begun, guard = support.now(), nil
      assert.equal("busy", select(3, mutex:try_acquire()))
      support.wait_until(function()
        guard = mutex:try_acquire()
        return guard
      end, 8)
      assert.is_true(support.now() - begun > 3)
      guard:release { wait = true }
      assert(mutex:try_acquire()):release { wait = true }
    end)

  it("does not send others away by its number", function()
    local path = new_path()
    leave(path, "/x-lock--000000005")
    leave(path, "/y-lock-0000000002")
    leave(path, "/z-lock-2147483647")
    local mutex = connect():mutex(path)
    for _ = 1, 5 do assert(mutex:acquire(30)):release { wait = true } end
  end)

  it("is waited for when it is made anew by a session", function()
    local path = new_path()
    local holder = support.hold(path)
    leave(path, "/x-lock-0000000001")
    local waiter = queue_in(connect():mutex(path), path)
    nobody(0.1, waiter)
    support.zk():delete(path .. "/x-lock-0000000001")
    leave(path, "/x-lock-0000000001", { ephemeral = true })
    nobody(0.1, waiter)
    local newcomer = queue_in(connect():mutex(path), path)
    holder:release()
    await(waiter) -- it came before that one was made
    waiter.guard:release()
    nobody(0.1, newcomer)
    support.zk():delete(path .. "/x-lock-0000000001")
    await(newcomer)
    newcomer.guard:release()
  end)

  it("is not taken for a holder's own, in whose place it is", function()
    local path = new_path()
    local session = connect(SESSION)
    support.zk():make(path) -- it does not vanish when it is empty
    local guard = assert(session:mutex(path):acquire(30))
    local node, lost = guard.node, nil
    guard:on_lost(function(_, reason) lost = reason end)
    support.zk():delete(node)
    support.zk():create(node)
    support.step_until(session, function() return lost end, 5)
    assert.is_falsy((guard:is_held()))
    assert.equal("lost", select(3, guard:release()))
    assert(session:mutex(path):acquire(30)):release { wait = true }
  end)

  it("keeps an unfair lock from all until it is deleted, and the log says so",
    function()
      local path, lines = new_path(), {}
      leave(path, "/holder")
      local session = connect {
        log = function(level, text)
          lines[#lines + 1] = level .. ": " .. text
        end,
      }
      local mutex = session:mutex(path, { fair = false })
      support.wait_until(function()
        assert.equal("timeout", select(3, mutex:acquire(0.3)))
        return lines[1]
      end, 10, "a line of the log")
      assert.same({ ("warn: cannot take the lock (%s/holder): no session owns "
        .. "it, so it stays until somebody deletes it"):format(path) }, lines)
      support.zk():delete(path .. "/holder")
      assert(mutex:acquire(30)):release { wait = true }
    end)
end)
