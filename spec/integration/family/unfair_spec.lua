-- fair = false: one node, whoever makes it first.
local sessions = require "integration.sessions"
local support = require "support"
local connect = support.connect

describe("An unfair mutex", function()
  local path
  before_each(function() path = support.path() end)

  local function unfair(session)
    return (session or connect { session_timeout = 60 })
      :mutex(path, { fair = false })
  end

  it("does not delete a later holder's node by a delete whose reply was lost "
    .. "(T8)",
    function()
      local session, proxy = sessions.behind_proxy()
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

  -- (The event of its watch comes before the answer: these servers send none.)
  local function is_lost(guard)
    assert.is_true(guard:is_held())
    local ok, _, code = guard:verify()
    assert.same({ false, "lost" }, { ok or false, code })
  end

  it("is not verified when another session's node has its name", function()
    local session, proxy = sessions.behind_proxy()
    local guard, other = unfair(session):acquire(30), connect()
    proxy:mute_events()
    assert.is_true(other:evict(path, "holder"))
    local theirs = unfair(other):acquire(30)
    assert.equal(guard.node, theirs.node)
    is_lost(guard)
    assert.is_true(theirs:verify())
  end)

  it("is not verified when a late request of its session has made its node "
    .. "again", function()
    local session, proxy = sessions.behind_proxy { session_timeout = 30 }
    local zk, guard = support.zk(), nil
    zk:make(path)
    proxy:keep_request "create_both"
    unfair(session):acquire_async(30, function(...) guard = assert(...) end)
    proxy:await_kept()
    support.step_until(session, function() return guard end)
    proxy:mute_events()
    assert.is_true(connect():evict(path, "holder"))
    proxy:apply_late()
    assert.equal(session:id(), zk:exists(guard.node).owner)
    is_lost(guard)
  end)
end)
