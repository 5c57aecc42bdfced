-- fair = false: one node, whoever makes it first.
local answers = require "integration.answers"
local kinds = require "integration.family.kinds"
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
    support.zk():delete(guard.node) -- and not the one beside it
    local theirs = unfair(other):acquire(30)
    assert.equal(guard.node, theirs.node)
    is_lost(guard)
    support.advance(1)
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

  it("is lost if its session has made its node once more", function()
    local session, proxy = sessions.behind_proxy()
    local guard = unfair(session):acquire(30)
    answers.log(function(reply)
      if reply.op == "get" and reply.stat then
        reply.stat.czxid = "9999999999"
      end
      return reply
    end)
    proxy:cut()
    support.step_until(session, function() return not guard:is_held() end)
    assert.equal("node_deleted", guard:reason())
  end)

  for _, hidden in ipairs { false, true } do
    it("is tried for at once whenever another's node goes"
      .. (hidden and ", which may not be read" or ""), function()
      local zk, holder, polls, gone = support.zk(), path .. "/holder", 0, {}
      local session, proxy = sessions.behind_proxy { session_timeout = 60 }
      local function stand() zk:create(holder, { ephemeral = not hidden }) end
      zk:make(path)
      stand()
      local log = answers.log(function(reply)
        if not hidden or reply.op ~= "get" then return nil end
        polls = polls + 1
        if polls % 2 == 0 then gone[#gone + 1] = support.now() end
        return { rc = polls % 2 == 1 and -102 or -101 }
      end)
      local waiter = kinds.wait_in(unfair(session))
      -- There is another `holder` when the create arrives.
      if not hidden then proxy:delay(0.2) end
      for i = 1, 8 do
        log:await(i, "multi", "-hold-")
        support.advance(1)
        if not hidden then
          gone[i] = support.now()
          zk:delete(holder)
          stand()
        end
        log:await(i + 1, "multi", "-hold-")
        assert.near(gone[i] + (hidden and 0 or 0.6),
          log:times("multi", "-hold-")[i + 1], 0.01)
      end
      waiter.ticket:cancel()
      kinds.await(waiter)
      zk:delete(holder)
    end)
  end

  -- The reply to the create was lost. Is the other node that is listed its own?
  for what, lie in pairs {
    ["another session's"] = { owner = "0x7f7f00000009" },
    ["an older one"] = { czxid = "1" }, ["a missing one"] = -101,
    ["a hidden one"] = -102,
  } do
    it("is not granted by the name of its other node: " .. what, function()
      local session, proxy = sessions.behind_proxy()
      local name
      support.zk():make(path)
      proxy:lose_reply "create_both"
      local waiter = kinds.wait_in(unfair(session))
      proxy:await_loss()
      answers.log(function(reply, asked)
        if reply.op ~= "exists" or not asked:find("-hold-", 1, true) then
          return nil
        end
        name = name or asked
        if asked ~= name then return nil end
        if type(lie) == "number" then return { rc = lie } end
        for key, value in pairs(lie) do reply.stat[key] = value end
        return reply
      end)
      proxy:heal()
      support.until_state(session, "connected")
      support.advance(2)
      session:step()
      assert.is_true(not waiter.guard or not support.zk():exists(name))
      session:close()
    end)
  end

  it("is asked about again if a server throttles that", function()
    local session, proxy = sessions.behind_proxy()
    local told = 0
    support.zk():make(path)
    proxy:lose_reply "create_both"
    local waiter = kinds.wait_in(unfair(session))
    proxy:await_loss()
    answers.log(function(reply)
      if reply.op ~= "exists" then return nil end
      told = told + 1
      return told == 1 and { rc = -127 } or nil
    end)
    proxy:heal()
    kinds.await(waiter):release()
    assert.equal(2, told)
  end)

  it("is wanted by one of a session at a time", function()
    local session = connect()
    local guard = unfair(session):acquire(30)
    local waiter = kinds.wait_in(unfair(session), 1)
    kinds.wait_for_nodes(path, 2)
    kinds.refused("timeout", kinds.await(waiter))
    kinds.wait_for_nodes(path, 2)
    guard:release()
  end)
end)
