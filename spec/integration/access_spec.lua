-- Who may have a lock: credentials, and what ACLs say.
local support = require "support"
local connect = support.connect

describe("Authentication", function()
  before_each(support.start)
  after_each(support.finish)

  local alice = { scheme = "digest", credential = "alice:secret" }
  local bob = { scheme = "digest", credential = "bob:secret" }

  -- A path whose parent is open to all.
  local function open_path()
    local path = support.path()
    support.zk():make((path:match("^(.*)/")))
    return path
  end

  -- The session that has made the directory, with acl = "creator".
  local function made_by_alice(path)
    local session = connect { auth = alice, acl = "creator" }
    assert(session:mutex(path):acquire(5)):release { wait = true }
    return session
  end

  it("lets its owner in", function()
    local path = open_path()
    local session = made_by_alice(path)
    assert.is_true(session:mutex(path):acquire(5):release { wait = true })
    local second = connect { auth = { alice }, acl = "creator" }
    assert.is_true(second:mutex(path):acquire(5):release { wait = true })
    session:close()
    second:close()
    local raw = require "support.raw".connect(support.hosts,
      { auth = "alice:secret" })
    raw:delete_all(path)
    raw:close()
  end)

  it("keeps others out: acquire returns auth", function()
    local path = open_path()
    local owner = made_by_alice(path)
    -- a hold keeps the directory, which the server would remove
    local hold = owner:mutex(path):acquire(5)
    for _, options in ipairs { {}, { auth = bob },
        { auth = bob, acl = "creator" } } do
      local begun = support.now()
      local mutex = connect(options):mutex(path)
      for _, name in ipairs { "acquire", "try_acquire" } do
        local guard, message, code = mutex[name](mutex)
        assert.is_nil(guard)
        assert.equal("auth", code)
        assert.matches("^zklock: ZooKeeper refused a node under "
          .. path:gsub("%-", "%%-"), message)
      end
      assert.is_true(support.now() - begun < support.slack)
    end
    assert.is_true(hold:is_held())
    assert.is_true(hold:release { wait = true })
    owner:close()
    local raw = require "support.raw".connect(support.hosts,
      { auth = "alice:secret" })
    raw:delete_all(path)
    raw:close()
  end)

  it("tells each of two that are refused its own reason", function()
    local zk, session = support.zk(), connect {}
    local unreadable, childless = open_path(), open_path()
    -- All but to read: a node can be made there, and no list be had.
    zk:create(unreadable, { acl = {
      { perms = 30, scheme = "world", id = "anyone" } } })
    zk:create(childless, { ephemeral = true })
    local told, count = {}, 0
    local function refuse(path)
      session:mutex(path):acquire_async(5, function(guard, message, code)
        assert.is_nil(guard)
        told[path], count = { code, message }, count + 1
      end)
    end
    for _, first in ipairs { unreadable, childless } do
      count = 0
      refuse(first)
      refuse(first == unreadable and childless or unreadable)
      support.step_until(session, function() return count == 2 end)
      assert.same({ "auth", ("zklock: ZooKeeper refused a node under %s: "
        .. "not authenticated"):format(unreadable) }, told[unreadable])
      assert.same({ "invalid", ("zklock: ZooKeeper cannot make a lock at %s: "
        .. "no children for ephemerals"):format(childless) },
        told[childless])
    end
    session:close()
    zk:delete(unreadable)
    zk:delete(childless)
  end)

  it("read lets others look, an ACL list is as it says", function()
    local path = open_path()
    local session = connect { auth = alice, acl = "read" }
    local guard = session:mutex(path):acquire(5)
    assert.equal(1, #support.zk():children(path))
    assert.is_string((support.zk():get(guard.node)))
    assert.is_false(pcall(support.zk().create, support.zk(), path .. "/x"))
    guard:release { wait = true }
    session:close()
    session = connect { acl = {
      { scheme = "world", id = "anyone", perms = "cdrwa" } } }
    path = open_path()
    assert.is_true(session:mutex(path):acquire(5):release { wait = true })
    support.zk():delete(path)
  end)
end)
