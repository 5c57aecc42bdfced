-- Nodes that the directory's ACL does not let us delete any more.  (When it is
-- tried again, and who is refused meanwhile: spec/unit/story_kept.c.)
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect

local acl = support.everybody

local ALL, NO_DELETE = 31, 31 - 8

local KINDS = { "mutex", "unfair", "local_turns", "read", "write", "semaphore" }

describe("A node that we may not delete", function()
  local path, lines, session, closed_to

  before_each(function()
    path, lines = support.path(), {}
    session = connect { log = function(level, message)
      lines[#lines + 1] = level .. ": " .. message
    end }
  end)

  local function close_to_deletes(directory)
    closed_to = directory
    support.zk():set_acl(directory, acl(NO_DELETE))
  end

  -- May be deleted again, and goes.
  local function mend()
    support.zk():set_acl(closed_to, acl(ALL))
    support.wait_until(function()
      return session:stats().pending_releases == 0
    end, 40, "the node to go")
    assert.equal(0, session:stats().refused_releases)
  end

  -- The one line of the log.
  local function await_line(node)
    support.step_until(session, function() return lines[1] end)
    assert.same({ ("error: cannot delete the node of this session (%s): an ACL "
      .. "forbids it; zklock tries again until the session ends"):format(
        node) }, lines)
  end

  for _, name in ipairs(KINDS) do
    it("is told by release { wait = true }: " .. name, function()
      local kind = kinds.of[name]
      local lock = kind.make(session, path)
      local guard = assert(lock:acquire(30))
      close_to_deletes(guard.node:match "^(.*)/")
      local took, done, message, code = support.timed(function()
        return guard:release { wait = true }
      end)
      assert.near(0, took, 0.1)
      assert.is_nil(done)
      assert.equal(("zklock: ZooKeeper refused to release %s: cannot delete "
        .. "the node of this session (%s): an ACL forbids it"):format(path,
        guard.node),
        message)
      assert.equal("denied", code)
      assert.equal("released", guard:state())
      assert.is_false(guard:is_held())
      assert.is_true(guard:release { wait = true }) -- as ever: the second time
      await_line(guard.node)
      assert.equal(1, session:stats().pending_releases)
      assert.equal(1, session:stats().refused_releases)
      assert.matches("zklock_session_refused_releases[^\n]* 1\n",
        session:metrics())
      assert.equal("busy", -- for another session, too
        (select(3, kind.rival(connect(), path):try_acquire())))
      mend()
      assert.is_true(lock:acquire(30):release { wait = true })
      assert.is_nil(lines[2])
    end)
  end

  it("does not hold up close, and goes with the session", function()
    local guard = assert(session:mutex(path):acquire(30))
    close_to_deletes(path)
    assert.is_true(guard:release())
    await_line(guard.node)
    assert.near(0, support.timed(function() session:close() end), 0.1)
    support.wait_for_queue(path, 0)
  end)
end)
