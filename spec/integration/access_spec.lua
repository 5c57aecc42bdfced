-- Who may have a lock: credentials, and what ACLs say.
local connect_raw = require "support.raw".connect
local kinds = require "integration.family.kinds"
local support = require "support"
local connect, everybody = support.connect, support.everybody

local unpack = unpack or table.unpack

local alice = { scheme = "digest", credential = "alice:secret" }
local bob = { scheme = "digest", credential = "bob:secret" }
local ALICE = "alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="
local BOB = "bob:fyVmFCwVbTJYrznoSu1koqYEYF0="

local function user(id, perms)
  return { scheme = "digest", id = id, perms = perms }
end

-- Is deleted by the users when the test is over, and its sessions are closed.
local function take_away(path)
  support.closing({}, function()
    local raw = connect_raw(support.hosts, { auth = "alice:secret" })
    raw:auth "bob:secret"
    raw:delete_all(path)
    raw:close()
  end)
  return path
end

-- A path whose parent is open to all.
local function open_path()
  local path = take_away(support.path())
  support.zk():make((path:match("^(.*)/")))
  return path
end

describe("Authentication", function()
  it("keeps others out: acquire returns auth, and lets its owner in", function()
    local path = open_path()
    local owner = connect { auth = alice, acl = "creator" }
    assert(owner:mutex(path):acquire(30)):release { wait = true }
    local second = connect { auth = { alice }, acl = "creator" }
    -- a hold keeps the directory, which the server would remove
    local hold = assert(second:mutex(path):acquire(30))
    for _, options in ipairs { {}, { auth = bob },
        { auth = bob, acl = "creator" } } do
      local mutex, begun = connect(options):mutex(path), support.now()
      for _, name in ipairs { "acquire", "try_acquire" } do
        assert.matches("zklock: ZooKeeper refused a node under " .. path,
          kinds.refused("denied", mutex[name](mutex)), 1, true)
      end
      assert.is_true(support.now() - begun < 0.1)
    end
    assert.is_true(hold:verify())
    assert.is_true(hold:release { wait = true })
  end)

  it("tells each of two that are refused its own reason", function()
    local zk, session = support.zk(), connect()
    local unreadable, childless = open_path(), open_path()
    -- All but to read: a node can be made there, and no list be had.
    zk:create(unreadable, { acl = everybody(30) })
    zk:create(childless, { ephemeral = true })
    local told, count
    local function refuse(path)
      session:mutex(path):acquire_async(5, function(guard, message, code)
        told[path], count = { guard, code, message }, count + 1
      end)
    end
    for _, first in ipairs { unreadable, childless } do
      told, count = {}, 0
      refuse(first)
      refuse(first == unreadable and childless or unreadable)
      support.step_until(session, function() return count == 2 end)
      assert.same({ nil, "denied", ("zklock: ZooKeeper refused a node under "
        .. "%s: cannot list (%s): an ACL forbids it"):format(unreadable,
        unreadable) }, told[unreadable])
      assert.same({ nil, "invalid", ("zklock: ZooKeeper cannot make a lock at "
        .. "%s: cannot create a node (%s): no children for ephemerals")
        :format(childless, childless) }, told[childless])
    end
    session:close()
    zk:delete(unreadable)
    zk:delete(childless)
  end)

  local under = "zklock: ZooKeeper refused a node under /a/b: "

  local function acquire(session) return session:mutex "/a/b":acquire(30) end

  -- Where this directory below a chroot has these permissions, that is refused.
  local refusals = {
    { 30, "/a/b", acquire, under .. "cannot list (CHROOT/a/b): an ACL forbids "
      .. "it" },
    { 17, "/a/b", acquire, under .. "cannot create a node (CHROOT/a/b): an ACL "
      .. "forbids it" },
    { 17, "/a", acquire, under .. "cannot create (CHROOT/a/b): an ACL forbids "
      .. "it" },
    { 17, "", acquire,
      under .. "cannot create (CHROOT/a): an ACL forbids it" },
    { 17, "/a/b", function(session)
      return session:semaphore("/a/b", 2):acquire(30)
    end, under .. "cannot create (CHROOT/a/b/locks): an ACL forbids it" },
    { 31, "/a/b", function(session, chroot)
      local guard = assert(session:mutex "/a/b":acquire(30))
      support.zk():set_acl(chroot .. guard.node, everybody(1 + 16))
      local asked, message, code = session:revoke "/a/b"
      assert.is_true(guard:release { wait = true })
      return asked, message:gsub("%w+%-lock%-%d+", "NODE"), code
    end, 'zklock: 0 of 1 holders of CHROOT/a/b were asked to release it, but '
      .. 'not "NODE": an ACL forbids it' },
    { 30, "/a/b", function(session, chroot)
      support.zk():create(chroot .. "/a/b/c")
      return session:children "/a/b"
    end,
      "zklock: ZooKeeper refused to say what is below CHROOT/a/b: an ACL "
      .. "forbids it" },
    { 30, "/a/b", function(session) return session:contenders "/a/b" end,
      "zklock: ZooKeeper refused to say who contends for CHROOT/a/b: an ACL "
      .. "forbids it" },
  }

  it("that is refused says what, where, and why", function()
    for _, row in ipairs(refusals) do
      local perms, directory, ask, expected = unpack(row)
      local zk, chroot = support.zk(), support.path "chroot"
      zk:make(chroot .. directory)
      zk:set_acl(chroot .. directory, everybody(perms))
      local nothing, message, code =
        ask(connect { hosts = support.hosts .. chroot }, chroot)
      zk:set_acl(chroot .. directory, everybody(31))
      assert.is_nil(nothing)
      assert.equal(expected, (message:gsub(chroot:gsub("%p", "%%%0"),
        "CHROOT")))
      assert.equal("denied", code)
    end
  end)

  it("that is refused does not make verify say that a hold is lost",
    function()
      local path = open_path()
      local guard = assert(connect():mutex(path):acquire(30))
      support.zk():set_acl(guard.node, everybody(30))
      assert.same({ nil, "zklock: ZooKeeper refused to say whether we hold "
        .. path .. ": an ACL forbids it", "denied" }, { guard:verify() })
      assert.equal("held", guard:state())
      assert.is_true(guard:is_held())
      assert.is_true(guard:release { wait = true })
    end)

  -- What others have, when somebody's first acquire was refused.
  local function others_have(path)
    assert.is_true(assert(connect():mutex(path):acquire(30))
      :release { wait = true })
  end
  local SHUT_OUT = "zklock: ZooKeeper refused a node under %s: cannot create "
    .. "(%s): its ACL, by option 'acl', would not let this session list, "
    .. "create and delete"

  it("refuses an ACL that excludes its creator, and creates no node",
    function()
      local acls = { { { scheme = "ip", id = "10.255.255.1",
        perms = "cdrwa" } }, { user(BOB, "cdrwa") } }
      for _, perms in ipairs { "rc", "rd", "cd" } do
        acls[#acls + 1] = { user(BOB, "cdrwa"),
          { scheme = "world", id = "anyone", perms = perms } }
      end
      for _, acl in ipairs(acls) do
        local path = support.path()
        local top = path:match "^/[^/]+"
        local session = connect { auth = alice, acl = acl }
        for _, lock in ipairs { session:mutex(path), session:rwlock(path .. "w")
          .write } do
          for _, name in ipairs { "acquire", "try_acquire" } do
            assert.same({ nil, SHUT_OUT:format(lock.path, top), "denied" },
              { lock[name](lock) })
          end
        end
        assert.is_false(support.zk():exists(top))
        others_have(path)
        support.zk():delete_all(top)
        session:close()
      end
    end)

  it("refuses such an ACL in a directory of another user, too", function()
    local path = open_path()
    local session = connect { auth = alice, acl = { user(BOB, "cdrwa") } }
    local _, message = session:semaphore(path, 2):acquire(30)
    assert.equal(SHUT_OUT:format(path, path), message)
    assert.same({}, support.zk():children(path:match "^(.*)/"))
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
    local before = session:stats().requests
    assert(session:mutex(path .. "/a/c"):acquire(30)):release { wait = true }
    assert.equal(6, session:stats().requests - before)
    assert.is_true(guard:release { wait = true })
  end)

  it("lets other users use the directories above a chroot", function()
    local owners = {
      creator = { user(ALICE, 31) },
      read = { user(ALICE, 31), everybody(1)[1] },
    }
    for acl, entries in pairs(owners) do
      local top = take_away(support.path "top")
      local path = top .. "/env/app"
      local session = connect { hosts = support.hosts .. path, auth = alice,
        acl = acl }
      local guard = assert(session:mutex "/locks/a":acquire(30))
      -- The chroot itself, and what is below it, are as the option says.
      local zk = support.closing(connect_raw(support.hosts,
        { auth = "alice:secret" }))
      for _, below in ipairs { "", "/locks", "/locks/a" } do
        assert.same(entries, zk:acl(path .. below))
      end
      assert.same(entries, zk:acl(path .. guard.node))
      -- Whatever is above it, others may use beside us, and not delete.
      for _, above in ipairs { top, top .. "/env" } do
        local found = zk:acl(above)
        assert.same({ entries[1], everybody(1 + 4)[1] },
          { found[1], found[#found] })
      end
      local beside = connect { hosts = support.hosts .. path .. "2", auth = bob,
        acl = acl }
      assert(beside:mutex "/x":acquire(30)):release { wait = true }
      assert.same({ false, "auth" }, { support.zk():delete(path .. "2") })
      guard:release { wait = true }
    end
  end)
end)
