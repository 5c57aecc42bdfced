-- fair = false: one node, whoever makes it first.
local kinds = require "integration.family.kinds"
local start_proxy = require "support.proxy".start
local support = require "support"
local connect = support.connect

describe("An unfair mutex", function()
  local path
  before_each(function() path = support.path() end)

  local function unfair(session)
    return (session or connect { session_timeout = 60 })
      :mutex(path, { fair = false })
  end

  it("does not delete a later holder with a delete whose reply was lost (T8)",
    function()
      local proxy = start_proxy()
      local session = connect { hosts = proxy.hosts, session_timeout = 10 }
      local mutex = unfair(session)
      local guard = mutex:acquire(30)
      proxy:lose_reply "delete_both"
      guard:release()
      proxy:await_loss()
      local other = assert(unfair():acquire(30))
      proxy:heal()
      support.until_state(session, "connected", { pending_releases = 0 })
      assert.is_true(other:verify())
      other:release { wait = true }
      assert(mutex:acquire(30)):release()
    end)

  it("is lost when its node is deleted and made again by another, and deletes "
    .. "nothing (T8)", function()
    local session, zk = connect { session_timeout = 2 }, support.zk()
    zk:make(path) -- one that does not vanish when it is empty
    for _, seconds in ipairs { 0, 0.5 } do
      for _, is_told in ipairs { true, false } do
        local guard, lost = unfair(session):acquire(30), nil
        support.advance(seconds) -- the holder's own watch is armed, or not
        guard:on_lost(function() lost = true end)
        zk:delete(guard.node)
        zk:create(guard.node, { ephemeral = true })
        local czxid = zk:exists(guard.node).czxid
        if is_told then
          support.step_until(session, function() return lost end)
          assert.is_false(guard:is_held())
          kinds.refused("lost", guard:release())
        else
          guard:release { wait = true } -- returns true or lost
        end
        assert.equal(czxid, zk:exists(guard.node).czxid)
        zk:delete(guard.node)
      end
    end
  end)

  -- (The event of its watch comes before the answer: these servers send none.)
  local function is_lost(guard)
    assert.is_true(guard:is_held())
    local ok, _, code = guard:verify()
    assert.same({ false, "lost" }, { ok or false, code })
  end

  it("is not verified when another session's node has its name", function()
    local proxy, other = start_proxy(), connect()
    local guard = unfair(connect { hosts = proxy.hosts }):acquire(30)
    proxy:mute_events()
    assert.is_true(other:evict(path, "holder"))
    local theirs = unfair(other):acquire(30)
    assert.equal(guard.node, theirs.node)
    is_lost(guard)
    assert.is_true(theirs:verify())
  end)

  -- A late request of its own session has made its node again.
  local function with_a_late_twin()
    local proxy, zk, guard = start_proxy(), support.zk(), nil
    zk:make(path)
    local session = connect { hosts = proxy.hosts, session_timeout = 30 }
    proxy:keep_request "create_both"
    unfair(session):acquire_async(30, function(...) guard = assert(...) end)
    proxy:await_kept()
    support.step_until(session, function() return guard end)
    proxy:mute_events()
    assert.is_true(connect():evict(path, "holder"))
    proxy:apply_late()
    assert.equal(session:id(), zk:exists(guard.node).owner)
    return guard, session, proxy
  end

  it("is not verified when a late request of its session has made its node "
    .. "again", function()
    is_lost((with_a_late_twin()))
  end)

  it("is lost when the node that is read again is that of a late request",
    function()
      local guard, session, proxy = with_a_late_twin()
      proxy:heal()
      proxy:cut()
      support.until_state(session, "connected", { reconnects = 2 })
      local begun = support.now()
      support.step_until(session, function() return not guard:is_held() end)
      assert.is_true(support.now() - begun < 0.5) -- no heartbeat has told it
      kinds.refused("lost", guard:release())
      unfair():acquire(30):release()
    end)
end)
