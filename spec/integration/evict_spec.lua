-- What becomes of contenders whose node an operator takes away with evict.
local kinds = require "integration.family.kinds"
local raw = require "support.raw"
local support = require "support"
local connect, misuse = support.connect, support.misuse

-- The name of a node below a lock's path.
local function name_of(guard) return guard.node:sub(#guard.path + 2) end

-- A hold that hears of it at once, and not with the next heartbeat.
local function hold(lock)
  local guard = assert(lock:acquire(30))
  guard:on_revoke(function() end)
  return guard
end

local function await_loss(guard, holder)
  support.step_until(holder, function() return not guard:is_held() end)
  assert.equal("node_deleted", guard:reason())
  assert.equal("lost", select(3, guard:release()))
end

describe("evict", function()
  local path, session, zk

  before_each(function()
    path, session, zk = support.path(), connect(), support.zk()
  end)

  local function token_at(node)
    for _, row in ipairs(session:contenders(path)) do
      if row.node == node then return row.token end
    end
  end

  -- Those who wait first: each of them comes again, and has the lock later.
  kinds.each(it, "takes each row of contenders away", function(kind)
    local holder = connect()
    local guard = hold(kind.make(holder, path))
    local waiter, rows = kinds.wait_in(kind.rival(connect(), path)), nil
    support.wait_until(function()
      rows = session:contenders(path)
      return #rows > 1 or kind.name == "unfair" and #rows == 1
    end)
    for i = #rows, 1, -1 do
      assert.is_true(session:evict(path, rows[i].node), rows[i].node)
      local stat = zk:exists(path .. "/" .. rows[i].node)
      assert.is_true(not stat or stat.czxid ~= rows[i].token)
    end
    await_loss(guard, holder)
    kinds.await(waiter):release()
  end, function(kind) return not kind.multi end)

  it("with a token leaves another node alone that was made by the same name",
    function()
      for _, node in ipairs { "holder", "x-lock-0000000000",
          "locks/x-lock-0000000000" } do
        local full = path .. "/" .. node
        zk:make(full)
        local token = token_at(node)
        zk:delete(full)
        zk:make(full) -- no session owns it
        assert.is_false(session:evict(path, node, token), node)
        assert.is_not_nil(zk:exists(full), node)
        -- (The zeros of a token say nothing.)
        assert.is_true(session:evict(path, node,
          (token_at(node):gsub("^0+", ""))), node)
        assert.is_false(session:evict(path, node, token), node)
        assert.is_false(zk:exists(full), node)
      end
    end)

  it("takes a name that is longer than any path of ours", function()
    local node = ("n"):rep(3000) .. "-lock-0000000001"
    zk:make(path)
    zk:create(path .. "/" .. node)
    assert.equal(node, session:contenders(path)[1].node)
    assert.is_true(session:evict(path, node))
  end)

  it("is invalid for a node that has children, and leaves them", function()
    local node = "x-lock-0000000001"
    zk:make(path .. "/" .. node .. "/child", { data = "kept" })
    assert.same({ nil, ('zklock: ZooKeeper refused the eviction of "%s" from '
      .. "%s: not empty"):format(node, path), "invalid" },
      { session:evict(path, node) })
    assert.equal("kept", (zk:get(path .. "/" .. node .. "/child")))
    zk:delete_all(path .. "/" .. node)
  end)

  it("is auth where the directory's ACL forbids it", function()
    local auth = { scheme = "digest", credential = "alice:secret" }
    zk:make((path:match "^(.*)/"))
    local alice = connect { auth = auth, acl = "creator" }
    local guard = hold(alice:mutex(path))
    assert.matches("from " .. path .. ": an ACL forbids it", kinds.refused(
      "denied", session:evict(path, name_of(guard))), 1, true)
    assert.is_true(guard:verify())
    assert.is_true(connect { auth = auth }:evict(path, name_of(guard)))
    await_loss(guard, alice)
    alice:close()
    local own = raw.connect(support.hosts, { auth = "alice:secret" })
    own:delete_all(path)
    own:close()
  end)

  it("takes nothing that is not spelled as a contender's node", function()
    local foreign = { "", "config", "locks", "leases", "locks/", "leases/",
      "x-lock-1", "x-lock-00000000001", "x-lock-0000000001/child",
      "a/x-lock-0000000001", "/x-lock-0000000001", "../x-lock-0000000001",
      "./holder", "locks/holder", "locks/locks/x-lock-0000000001",
      "locks/../x-lock-0000000001", "locks//x-lock-0000000001",
      "locks/x-lease-0000000001", "leases/x-lock-0000000001",
      "locks/x-__READ__0000000001", "x-lease-0000000001", "holder/", "Holder",
      "x-lock-0000000001\0", "\0x-lock-0000000001", "holder\0",
      "x\n-lock-0000000001", "\255-lock-0000000001" }
    for _, node in ipairs(foreign) do
      local said = misuse(function() session:evict(path, node) end)
      assert.matches("^node must ", said)
      assert.is_nil(said:find "[%c\127-\255]", said)
    end
    for _, node in ipairs { "x-lock-0000000001", "x-lock--000000001",
        "x-lock--2147483648", "x-__READ__0000000001", "-__WRIT__0000000001",
        "x__lock__0000000001", "x__rlock__0000000001", "holder",
        "locks/x-lock-0000000001", "leases/x-lease-0000000001",
        "a b-lock-0000000001", "\195\164-lock-0000000001" } do
      assert.is_false(session:evict(path, node), node)
    end
    for _, text in ipairs { "", "x", "-1", "1.5", " 1", "0x1", ("1"):rep(20),
        "1\0" } do
      assert.matches("^token must be a fencing token, got ",
        misuse(function() session:evict(path, "holder", text) end))
    end
    support.misuses {
      { "node must be a string, got nil", function() session:evict(path) end },
      { "node must be a string, got a number",
        function() session:evict(path, 5) end },
      { "token must be a string, got a number",
        function() session:evict(path, "holder", 1) end },
    }
  end)
end)
