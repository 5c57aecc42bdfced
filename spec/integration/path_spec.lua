-- Where no lock may be made: paths that other clients would take for
-- contenders, that are ZooKeeper's own, or inside another lock of the session.
local kinds = require "integration.family.kinds"
local support = require "support"
local zklock = require "zklock"

local connect, misuse = support.connect, support.misuse

local CONTENDERS = {
  "x-lock-0000000000", "-lock-0000000000", "x-lock--000000001",
  "x-lock--2147483648", "x-__READ__0000000001", "x-__WRIT__2147483647",
  "x-lease-0000000000", "x__lock__0000000000", "__rlock__0000000000",
  "_c_00000000-0000-4000-8000-000000000000-lock-0000000007",
  "user-lock-1234567890", ("x"):rep(150) .. "-lock-0000000000",
}

-- Whoever makes a lock, of each kind, or something like it.
local makers = {
  election = function(session, path) return session:election(path) end,
  barrier = function(session, path) return session:barrier(path) end,
  ["double barrier"] = kinds.makers["double barrier"],
}
for _, name in ipairs { "mutex", "unfair", "kazoo", "read", "semaphore" } do
  makers[name] = kinds.of[name].make
end

-- What is raised where a lock would be made.
local function refusal(kind, session, path)
  local ok, problem = pcall(makers[kind], session, path)
  assert.is_false(ok)
  return problem:match "^[^\n]-zklock: (.*)$"
end

describe("A lock's path", function()
  it("is refused if a component has the form of a contender's name", function()
    local session = connect()
    for _, name in ipairs(CONTENDERS) do
      for _, path in ipairs { "/" .. name, "/a/" .. name, "/" .. name .. "/a",
        "/a/" .. name .. "/b/c" } do
        local expected = ("path must not have a component that reads as a "
          .. 'contender\'s node: "%s" does, in "%s"'):format(name, path)
        for kind in pairs(makers) do
          assert.equal(expected, refusal(kind, session, path))
        end
        assert.equal(expected,
          misuse(function() session:with_lock(path, print) end))
      end
    end
  end)

  it("may look like one that it is not", function()
    local session, prefix = connect(), support.path()
    for _, name in ipairs { "x-lock-", "x-lock-000000000", "lock-0000000000",
      "x-lock-0000000000x", "x-lock-99999999999", "holder", "locks",
      "leases", "zookeeper", zklock.escape "x-lock-0000000000" } do
      for kind, make in pairs(makers) do -- (one path in one way only)
        assert(make(session, ("%s/%s/%s"):format(prefix, kind, name)))
      end
    end
  end)

  it("is refused in ZooKeeper's own tree", function()
    local session = connect()
    for _, path in ipairs { "/zookeeper", "/zookeeper/quota",
      "/zookeeper/quota/a/zookeeper_limits", "/zookeeper/config",
      "/zookeeper/x" } do
      for kind in pairs(makers) do
        assert.equal("path must not be /zookeeper or below it, which is "
          .. ('ZooKeeper\'s own, got "%s"'):format(path),
          refusal(kind, session, path))
      end
    end
    for _, path in ipairs { "/zookeepers", "/zookeeper-2/a",
        "/app/zookeeper" } do
      assert(session:mutex(path))
    end
  end)

  it("is checked together with the chroot", function()
    local zk = support.zk()
    local before = zk:children "/zookeeper"
    for chroot, rule in pairs {
      ["/zookeeper"] = "must not be /zookeeper or below it",
      ["/zookeeper/quota"] = "must not be /zookeeper or below it",
      ["/app/x-lock-0000000000"] = "reads as a contender",
    } do
      local session = connect { hosts = support.hosts .. chroot }
      local said = misuse(function() session:mutex "/a" end)
      assert.truthy(said:find(rule, 1, true), said)
      assert.truthy(said:find((' "/a" with the chroot "%s"'):format(chroot), 1,
        true), said)
      assert.is_table((session:contenders "/a"))
      session:close()
    end
    assert.same(before, zk:children "/zookeeper")
    local session = connect { hosts = support.hosts .. support.path() }
    assert(session:with_lock("/zookeeper/a", 5, function() end))
  end)

  it("may be any for contenders and revoke", function()
    local session, guard = connect(), support.hold(support.path())
    for _, odd in ipairs { "/x-lock-0000000000", "/a/x__lock__0000000000/b",
      "/zookeeper", "/zookeeper/quota", guard.node } do
      assert.same({}, (session:contenders(odd)))
      assert.equal(0, session:revoke(odd))
    end
  end)
end)

describe("What a lock has inside", function()
  it("is no lock's path, whichever is made first", function()
    for _, row in ipairs {
      { "unfair", "holder", "unfair mutex" },
      { "semaphore", "locks", "semaphore of 1 permit" },
      { "semaphore", "leases", "semaphore of 1 permit" },
    } do
      local outer, name, word = row[1], row[2], row[3]
      for other in pairs(makers) do
        local path = support.path()
        local inside = path .. "/" .. name
        local expected = ("%s is inside the %s %s, which this session uses, "
          .. "too: no lock can be there"):format(inside, word, path)
        local session = connect()
        local kept = makers[outer](session, path)
        assert.equal(expected, refusal(other, session, inside))
        -- Beside it, or deeper, there may be one.
        assert(kept and makers[other](session, path .. "/other/" .. name))
        session = connect()
        kept = makers[other](session, inside)
        assert.equal(expected, refusal(outer, session, path))
        assert.is_table(kept)
      end
    end
  end)

  it("is another kind's own affair", function()
    local session, path = connect(), support.path()
    local kept = { session:mutex(path), session:mutex(path .. "/holder"),
      session:mutex(path .. "/locks"), session:rwlock(path .. "/leases"),
      session:semaphore(path .. "/other", 2),
      session:mutex(path .. "/other/holder") }
    assert.equal(6, #kept)
  end)
end)

for name, ending in pairs {
  ["a slash as the 100th"] = "x/",
  ["a slash and a dot there"] = "/.",
  ["a slash and two dots there"] = "/..",
} do
  it("A hold in a chroot of more than 100 bytes with " .. name
    .. " survives heartbeats", function()
    local prefix, timeout = support.path(), 8
    local at_cut = prefix .. "/"
      .. ("c"):rep(100 - #prefix - 1 - math.min(#ending, 2)) .. ending
    local session = connect { session_timeout = timeout,
      hosts = support.hosts .. at_cut .. "rest/of/it" }
    local guard = assert(session:mutex("/lock"):acquire(30))
    for _ = 1, 100 do
      support.advance(timeout / 20)
      assert.is_true(guard:is_held())
    end
    assert.is_true(guard:verify())
    assert.is_true(guard:release { wait = true })
  end)
end
