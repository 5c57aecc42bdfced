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
    assert(session:mutex(path):acquire(30)):release { wait = true }
    return session
  end

  it("lets its owner in", function()
    local path = open_path()
    local session = made_by_alice(path)
    assert.is_true(session:mutex(path):acquire(30):release { wait = true })
    local second = connect { auth = { alice }, acl = "creator" }
    assert.is_true(second:mutex(path):acquire(30):release { wait = true })
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
    local hold = owner:mutex(path):acquire(30)
    for _, options in ipairs { {}, { auth = bob },
        { auth = bob, acl = "creator" } } do
      local begun = support.now()
      local mutex = connect(options):mutex(path)
      for _, name in ipairs { "acquire", "try_acquire" } do
        local guard, message, code = mutex[name](mutex)
        assert.is_nil(guard)
        assert.equal("denied", code)
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
      assert.same({ "denied", ("zklock: ZooKeeper refused a node under %s: "
        .. "cannot list (%s): an ACL forbids it"):format(unreadable,
        unreadable) }, told[unreadable])
      assert.same({ "invalid", ("zklock: ZooKeeper cannot make a lock at %s: "
        .. "cannot create a node (%s): no children for ephemerals"):format(
        childless, childless) }, told[childless])
    end
    session:close()
    zk:delete(unreadable)
    zk:delete(childless)
  end)

  -- Of a lock at /a/b below a chroot, where one directory is refused.
  local function refused_below(perms, directory, ask)
    local zk, chroot = support.zk(), support.path "chroot"
    local function allow(these)
      zk:set_acl(chroot .. directory,
        { { perms = these, scheme = "world", id = "anyone" } })
    end
    zk:make(chroot .. directory)
    allow(perms)
    local session = connect { hosts = support.hosts .. chroot }
    local nothing, message, code = ask(session, chroot)
    assert.is_nil(nothing)
    assert.equal("denied", code)
    allow(31)
    return (message:gsub(chroot:gsub("%p", "%%%0"), "CHROOT"))
  end
  local function acquire(session) return session:mutex "/a/b":acquire(30) end

  it("that is refused says what, where, and why", function()
    local under = "zklock: ZooKeeper refused a node under /a/b: "
    assert.equal(under .. "cannot list (CHROOT/a/b): an ACL forbids it",
      refused_below(30, "/a/b", acquire))
    assert.equal(under .. "cannot create a node (CHROOT/a/b): "
      .. "an ACL forbids it", refused_below(17, "/a/b", acquire))
    assert.equal(under .. "cannot create (CHROOT/a/b): an ACL forbids it",
      refused_below(17, "/a", acquire))
    assert.equal(under .. "cannot create (CHROOT/a): an ACL forbids it",
      refused_below(17, "", acquire))
    assert.equal("zklock: ZooKeeper refused a node under /a/b: cannot create "
      .. "(CHROOT/a/b/locks): an ACL forbids it",
      refused_below(17, "/a/b", function(session)
        return session:semaphore("/a/b", 2):acquire(30)
      end))
    assert.matches('^zklock: 0 of 1 holders of CHROOT/a/b were asked to let '
      .. 'go, but not "%w+%-lock%-%d+": an ACL forbids it$',
      refused_below(31, "/a/b", function(session, chroot)
        local guard = assert(session:mutex "/a/b":acquire(30))
        support.zk():set_acl(chroot .. guard.node,
          { { perms = 1 + 16, scheme = "world", id = "anyone" } })
        local asked, message, code = session:revoke "/a/b"
        assert.is_true(guard:release { wait = true })
        return asked, message, code
      end))
    assert.equal("zklock: ZooKeeper refused to say who contends for "
      .. "CHROOT/a/b: an ACL forbids it",
      refused_below(30, "/a/b", function(session)
        return session:contenders "/a/b"
      end))
  end)

  it("that is refused does not make verify say that a hold is lost",
    function()
      local path = open_path()
      local guard = assert(connect():mutex(path):acquire(30))
      support.zk():set_acl(guard.node,
        { { perms = 30, scheme = "world", id = "anyone" } })
      local fine, message, code = guard:verify()
      assert.equal("denied", code)
      assert.is_nil(fine)
      assert.equal("zklock: ZooKeeper refused to say whether we hold " .. path
        .. ": an ACL forbids it", message)
      assert.equal("held", guard:state())
      assert.is_true(guard:is_held())
      assert.is_true(guard:release { wait = true })
    end)

  it("read lets others look, an ACL list is as it says", function()
    local path = open_path()
    local session = connect { auth = alice, acl = "read" }
    local guard = session:mutex(path):acquire(30)
    assert.equal(1, #support.zk():children(path))
    assert.is_string((support.zk():get(guard.node)))
    assert.is_false(pcall(support.zk().create, support.zk(), path .. "/x"))
    guard:release { wait = true }
    session:close()
    session = connect { acl = {
      { scheme = "world", id = "anyone", perms = "cdrwa" } } }
    path = open_path()
    assert.is_true(session:mutex(path):acquire(30):release { wait = true })
    support.zk():delete(path)
  end)

  -- What others have, when somebody's first acquire was refused.
  local function others_have(path)
    local guard, message = connect():mutex(path):acquire(30)
    assert(guard, message)
    assert.is_true(guard:release { wait = true })
  end
  local BOB = "bob:fyVmFCwVbTJYrznoSu1koqYEYF0="
  local ALICE = "alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="
  local function user(id, perms)
    return { scheme = "digest", id = id, perms = perms }
  end
  local SHUT_OUT = "zklock: ZooKeeper refused a node under %s: cannot create "
    .. "(%s): its ACL, by option 'acl', would not let this session list, "
    .. "create and delete"

  it("refuses an ACL that shuts out its own maker, and makes nothing",
    function()
      for _, acl in ipairs {
        { user(BOB, "cdrwa") },
        { user(BOB, "cdrwa"), { scheme = "world", id = "anyone",
          perms = "rc" } },
        { user(BOB, "cdrwa"), { scheme = "world", id = "anyone",
          perms = "rd" } },
        { user(BOB, "cdrwa"), { scheme = "world", id = "anyone",
          perms = "cd" } },
        { { scheme = "ip", id = "10.255.255.1", perms = "cdrwa" } },
      } do
        local path = support.path()
        local top = path:match "^/[^/]+"
        local session = connect { auth = alice, acl = acl }
        for _, lock in ipairs { session:mutex(path), session:rwlock(path .. "w")
          .write } do
          for _, name in ipairs { "acquire", "try_acquire" } do
            local guard, message, code = lock[name](lock)
            assert.is_nil(guard)
            assert.equal(SHUT_OUT:format(lock.path, top), message)
            assert.equal("denied", code)
          end
        end
        assert.is_false(support.zk():exists(top))
        others_have(path)
        support.zk():delete_all(top)
        session:close()
      end
    end)

  it("refuses it in a directory of others, too", function()
    local path = open_path()
    local session = connect { auth = alice, acl = { user(BOB, "cdrwa") } }
    local _, message = session:semaphore(path, 2):acquire(30)
    assert.equal(SHUT_OUT:format(path, path), message)
    assert.is_false(support.zk():exists(path))
    local parent = path:match "^(.*)/"
    assert.same({}, support.zk():children(parent))
    others_have(path)
  end)

  it("takes one under which its maker is one of the users", function()
    local path = open_path()
    local session = connect { auth = { bob, alice },
      acl = { user(ALICE, "cdr"), { scheme = "ip", id = "127.0.0.1",
        perms = "r" } } }
    local guard = assert(session:mutex(path .. "/a/b"):acquire(30))
    -- (Servers show no hash to who may not change an ACL.)
    assert.same({ { perms = 1 + 4 + 8, scheme = "digest", id = "alice:x" },
      { perms = 1, scheme = "ip", id = "127.0.0.1" } },
      support.zk():acl(path .. "/a"))
    -- It is asked of a server once in a connection.
    local function requests()
      local stats = session:stats()
      return stats.requests - stats.heartbeats - stats.nudges
    end
    local before = requests()
    assert(session:mutex(path .. "/a/c"):acquire(30)):release { wait = true }
    assert.is_true(requests() - before <= 7) -- it may look at its node
    assert.is_true(guard:release { wait = true })
    session:close()
    local raw = require "support.raw".connect(support.hosts,
      { auth = "alice:secret" })
    raw:delete_all(path)
    raw:close()
  end)

  it("takes one where the directory's maker may not delete it", function()
    local zk, parent = support.zk(), support.path "parent"
    zk:make(parent)
    zk:set_acl(parent, { { perms = 31 - 8, scheme = "world", id = "anyone" } })
    local session = connect { auth = alice,
      acl = { user(ALICE, "cdrwa") } }
    assert(session:mutex(parent .. "/a"):acquire(30)):release { wait = true }
    zk:set_acl(parent, { { perms = 31, scheme = "world", id = "anyone" } })
    session:close()
    local raw = require "support.raw".connect(support.hosts,
      { auth = "alice:secret" })
    raw:delete_all(parent)
    raw:close()
  end)

  it("leaves what is above a chroot to others, too", function()
    local top = support.path "top"
    local owners = {
      creator = { { perms = 31, scheme = "digest", id = ALICE } },
      read = { { perms = 31, scheme = "digest", id = ALICE },
        { perms = 1, scheme = "world", id = "anyone" } },
    }
    for acl, entries in pairs(owners) do
      local path = ("%s-%s/env/app"):format(top, acl)
      local session = connect { hosts = support.hosts .. path, auth = alice,
        acl = acl }
      local guard = assert(session:mutex "/locks/a":acquire(30))
      -- The chroot itself, and what is below it, are as the option says.
      local zk = require "support.raw".connect(support.hosts,
        { auth = "alice:secret" })
      for _, below in ipairs { "", "/locks", "/locks/a" } do
        assert.same(entries, zk:acl(path .. below))
      end
      -- Whatever is above it, others may use beside us, and not delete.
      for _, above in ipairs { path:match "^(/.*)/.*/", path:match "^(.*)/" } do
        local found = zk:acl(above)
        assert.same(entries[1], found[1])
        assert.same({ perms = 1 + 4, scheme = "world", id = "anyone" },
          found[#found])
      end
      local beside = connect { hosts = support.hosts .. path .. "2", auth = bob,
        acl = acl }
      assert(beside:mutex "/x":acquire(30)):release { wait = true }
      assert.same({ false, "auth" }, { support.zk():delete(path .. "2") })
      guard:release { wait = true }
      session:close()
      beside:close()
      zk:auth "bob:secret"
      zk:delete_all(path:match "^(/.*)/.*/")
      zk:close()
    end
  end)
end)
