-- Nodes that the directory's ACL does not let us delete any more.
local support = require "support"
local connect = support.connect

local function acl(perms)
  return { { perms = perms, scheme = "world", id = "anyone" } }
end

local ALL, NO_DELETE = 31, 31 - 8

-- How each kind of lock is made, where its nodes stand, and whether others have
-- to wait for one.
local kinds = {
  mutex = { "", function(session, path) return session:mutex(path) end, true },
  unfair = { "", function(session, path)
    return session:mutex(path, { fair = false })
  end, true },
  turns = { "", function(session, path)
    return session:mutex(path, { handoffs = 3 })
  end, true },
  read = { "", function(session, path) return session:rwlock(path).read end },
  write = { "", function(session, path) return session:rwlock(path).write end,
    true },
  permit = { "/leases", function(session, path)
    return session:semaphore(path, 2)
  end },
}

describe("A node that we may not delete #once", function()
  before_each(support.start)
  after_each(support.finish)

  local path, lines, session, closed_to
  before_each(function()
    path, lines, closed_to = support.path(), {}, nil
    session = connect { log = function(level, message)
      lines[#lines + 1] = level .. ": " .. message
    end }
  end)

  local function close_to_deletes(directory)
    closed_to = directory
    support.zk():set_acl(directory, acl(NO_DELETE))
  end
  local function mend()
    support.zk():set_acl(closed_to, acl(ALL))
  end
  -- The one line of the log that it is to be.
  local function await_line(node)
    support.step_until(session, function() return lines[1] end, 5, "a line")
    assert.equal(("error: cannot delete our node (%s): an ACL forbids it; it "
      .. "is tried again, until the session ends"):format(node), lines[1])
    assert.is_nil(lines[2])
  end
  local function await_removal()
    support.wait_until(function()
      return session:stats().pending_releases == 0
    end, 10, "the node to go")
    assert.equal(0, session:stats().refused_releases)
  end

  for kind, case in pairs(kinds) do
    it("is told by release { wait = true }: " .. kind, function()
      local lock = case[2](session, path)
      local guard = assert(lock:acquire(30))
      close_to_deletes(path .. case[1])
      local begun = support.now()
      local done, message, code = guard:release { wait = true }
      assert.is_true(support.now() - begun < support.slack)
      assert.is_nil(done)
      assert.equal(("zklock: ZooKeeper refused to release %s: cannot delete "
        .. "our node (%s): an ACL forbids it"):format(path, guard.node),
        message)
      assert.equal("denied", code)
      assert.equal("released", guard:state())
      assert.is_false(guard:is_held())
      assert.is_true(guard:release { wait = true }) -- as ever: the second time
      await_line(guard.node)
      assert.equal(1, session:stats().pending_releases)
      assert.equal(1, session:stats().refused_releases)
      if case[3] then -- somebody else has to wait for it
        assert.equal("busy",
          (select(3, case[2](connect(), path):try_acquire())))
      end
      mend()
      await_removal()
      assert.is_true(lock:acquire(30):release { wait = true })
      assert.is_nil(lines[2])
    end)

    it("is an error of the log for plain release(), once: " .. kind,
      function()
        local lock = case[2](session, path)
        local guard = assert(lock:acquire(30))
        close_to_deletes(path .. case[1])
        assert.is_true(guard:release())
        await_line(guard.node)
        local function asked()
          local stats = session:stats()
          return stats.requests - stats.heartbeats - stats.nudges
        end
        local before = asked()
        support.step_until(session, function() -- it is tried some times
          return asked() >= before + 2
        end)
        assert.is_nil(lines[2])
        assert.equal(1, session:stats().pending_releases)
        mend()
        await_removal()
        assert.is_nil(support.zk():exists(guard.node) or nil)
      end)

    it("keeps no acquire of this session waiting: " .. kind, function()
      local lock = case[2](session, path)
      local guard = assert(lock:acquire(30))
      local told
      if kind == "mutex" or kind == "write" then
        lock:acquire_async(nil, function(mine, message, code)
          assert.is_nil(mine)
          told = { message, code }
        end)
        support.wait_until(function()
          return #support.zk():children(path) == 2
        end)
      end
      close_to_deletes(path .. case[1])
      guard:release()
      await_line(guard.node)
      local nodes = #support.zk():children(path .. case[1])
      local expected = ("zklock: ZooKeeper refused a node under %s: cannot "
        .. "delete our earlier nodes (%s): an ACL forbids it"):format(path,
        path .. case[1])
      for _, how in ipairs { "acquire", "try_acquire" } do
        local begun = support.now()
        local mine, message, code = lock[how](lock)
        assert.is_true(support.now() - begun < support.slack)
        assert.is_nil(mine)
        assert.equal("denied", code)
        assert.equal(expected, message)
      end
      if kind == "mutex" or kind == "write" then
        support.step_until(session, function() return told end)
        assert.same({ expected, "denied" }, told)
      end
      -- None was made that could not be deleted.
      assert.equal(nodes, #support.zk():children(path .. case[1]))
      mend()
      await_removal()
      assert.is_true(lock:acquire(30):release { wait = true })
    end)
  end

  it("does not hold up close, and goes with the session", function()
    local guard = assert(session:mutex(path):acquire(30))
    close_to_deletes(path)
    assert.is_true(guard:release())
    await_line(guard.node)
    local begun = support.now()
    session:close()
    assert.is_true(support.now() - begun < support.slack)
    support.wait_for_queue(path, 0)
  end)

  it("is no matter while it goes from one of us to the next", function()
    local mutex = session:mutex(path, { handoffs = 3 })
    local guard = assert(mutex:acquire(30))
    local next_one
    mutex:acquire_async(nil, function(mine) next_one = mine end)
    session:step()
    close_to_deletes(path)
    assert.is_true(guard:release { wait = true })
    support.step_until(session, function() return next_one end)
    assert.equal(guard.node, next_one.node)
    mend()
    assert.is_true(next_one:release { wait = true })
    assert.is_nil(lines[1])
  end)

  it("is told of each hold that is released", function()
    local lock = session:rwlock(path).read
    local first = assert(lock:acquire { timeout = 5, owner = "a" })
    local second = assert(lock:acquire { timeout = 5, owner = "b" })
    close_to_deletes(path)
    assert.is_true(first:release() and second:release())
    support.step_until(session, function() return lines[2] end)
    for i, guard in ipairs { first, second } do
      assert.truthy(lines[i]:find(guard.node, 1, true), lines[i])
    end
    assert.equal(2, session:stats().pending_releases)
    mend()
    await_removal()
    assert.is_nil(lines[3])
  end)

  it("may be the inner mutex's of a semaphore", function()
    local semaphore = session:semaphore(path, 2)
    support.zk():make(path .. "/locks")
    close_to_deletes(path .. "/locks")
    local guard = assert(semaphore:acquire(30)) -- it is a permit all the same
    support.step_until(session, function() return lines[1] end)
    assert.matches("^error: cannot delete our node %(" .. path:gsub("%p",
      "%%%0") .. "/locks/%w+%-lock%-%d+%): an ACL forbids it; it is tried "
      .. "again, until the session ends$", lines[1])
    local mine, message, code = semaphore:acquire(30)
    assert.is_nil(mine)
    assert.equal("denied", code)
    assert.equal(("zklock: ZooKeeper refused a node under %s: cannot delete "
      .. "our earlier nodes (%s/locks): an ACL forbids it"):format(path, path),
      message)
    assert.is_true(guard:release { wait = true })
    mend()
    await_removal()
    assert.is_true(semaphore:acquire(30):release { wait = true })
  end)

  it("is told by the release of a multi", function()
    local multi = session:multi { session:mutex(path .. "/a"),
      session:mutex(path .. "/b") }
    local guard = assert(multi:acquire(30))
    close_to_deletes(path .. "/a")
    local done, message, code = guard:release { wait = true }
    assert.is_nil(done)
    assert.equal("denied", code)
    assert.truthy(message:find("refused to release " .. path .. "/a: ", 1,
      true), message)
    mend()
    await_removal()
  end)

  it("is told with its full path, chroot included", function()
    support.zk():make "/chroot"
    local mine = connect { hosts = support.hosts .. "/chroot" .. path }
    local guard = assert(mine:mutex "/a/b":acquire(30))
    close_to_deletes("/chroot" .. path .. "/a/b")
    local _, message = guard:release { wait = true }
    assert.truthy(message:find(("refused to release /a/b: cannot delete our "
      .. "node (/chroot%s/a/b/"):format(path), 1, true), message)
    mend()
    mine:close()
    support.zk():delete_all "/chroot"
  end)

  it("may be that of one who gives up, or is lost", function()
    local holder = support.hold(path)
    local ticket = session:mutex(path):acquire_async(nil, function() end)
    local queue = support.wait_for_queue(path, 2)
    close_to_deletes(path)
    ticket:cancel()
    await_line(path .. "/" .. queue[2])
    mend()
    await_removal()
    holder:release()
  end)
end)
