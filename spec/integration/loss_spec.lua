-- A hold that is lost: who is told, when, and why.  Everything here is a plain
-- script that calls step() only where a test says so.
local kinds = require "integration.family.kinds"
local seize = require "support.seizure".seize
local sessions = require "integration.sessions"
local support = require "support"
local virtual = require "zklock.virtual"
local connect = support.connect

-- What on_lost is called with, and what is true then.
local function listen(guard)
  local calls = {}
  guard:on_lost(function(mine, reason, message)
    assert(rawequal(mine, guard))
    calls[#calls + 1] = reason
    assert(mine:state() == "lost" and mine:reason() == reason)
    assert.matches("^zklock: the hold of .* was lost: %l", message)
  end)
  return calls
end

local function step_for(session, seconds)
  for _ = 1, seconds * 20 do
    session:step()
    support.advance(0.05)
  end
end

local BY_MAX_HOLD = "it was held for as long as max_hold allows$"

-- A lock of each kind whose guards have something of their own.
for _, name in ipairs { "mutex", "multi" } do
  local make = kinds.of[name].make
  local of = (" of a %s, without step(),"):format(name)
  describe("A loss" .. of, function()
    local session, lock, guard, calls

    local function hold(options)
      session = connect(options)
      lock = make(session, support.path())
      guard = assert(lock:acquire(30))
      calls = listen(guard)
    end

    -- It has been lost, and only `is_held` has been asked, which runs nothing.
    local function lose()
      hold()
      support.lose(guard)
      assert.same({}, calls)
    end

    local function told_once()
      assert.same({ "node_deleted" }, calls)
      step_for(session, 1)
      assert.same({ "node_deleted" }, calls)
    end

    -- Each call that tells it, and how its message ends.
    for title, tell in pairs {
      ["is reported by release"] = function() return guard:release() end,
      ["is reported by the lock's release"] = function()
        return lock:release { wait = true }
      end,
      ["is reported by verify"] = function() return guard:verify() end,
      ["is reported by another acquire"] = function() return lock:acquire() end,
      ["is reported by try_acquire"] = function() return lock:try_acquire() end,
    } do
      it(title, function()
        lose()
        local message = kinds.refused("lost", tell())
        told_once()
        assert.matches("the hold of " .. guard.path:match "^[^,]+", message, 1,
          true)
        assert.matches(" was lost: its node was deleted$", message)
        assert.equal("node_deleted", guard:reason())
        assert.equal("lost", (select(3, guard:release())))
        told_once()
        assert(lock:acquire(30)):release()
      end)
    end

    it("is reported by verify, the first to detect it", function()
      hold { session_timeout = 30 }
      support.zk():delete((guard.node:match "[^,]+"))
      assert.equal("lost", (select(3, guard:verify())))
      told_once()
    end)

    it("is reported by with_lock, even if its function raises an error",
      function()
        session = connect()
        lock = make(session, support.path())
        local function lose_inside(mine)
          guard, calls = mine, listen(mine)
          support.lose(mine)
          assert.same({}, calls)
        end
        local ok, message, code, result = lock:with_lock(function(mine)
          lose_inside(mine)
          return "result"
        end)
        told_once()
        assert.same({ false, "lost", "result" }, { ok or false, code, result })
        assert.matches("was lost while it was used: its node was deleted$",
          message)
        assert.same({ false, "ouch" }, { pcall(lock.with_lock, lock,
          function(mine)
            lose_inside(mine)
            error("ouch", 0)
          end) })
        told_once()
        assert(lock:acquire(30)):release()
      end)

    it("is told by close, also from the callback", function()
      for _, closes in ipairs { false, true } do
        hold()
        if closes then guard:on_lost(function() session:close() end) end
        support.lose(guard)
        session:close()
        assert.same({ "node_deleted" }, calls)
        assert.equal("lost", guard:state())
        assert.equal("node_deleted", guard:reason())
        assert.equal("closed", session:state())
      end
    end)

    it("is one after close, too, though nobody listens", function()
      session = connect()
      lock = make(session, support.path())
      assert.matches(BY_MAX_HOLD, kinds.refused("lost", lock:with_lock(
        { max_hold = 1 }, function(mine)
          guard = mine
          while mine:is_held() do support.advance(0.1) end
          session:close()
        end)))
      assert.equal("lost", guard:state())
    end)

    it("is not told to who has released it in time", function()
      hold()
      assert.is_true(guard:release())
      session:step()
      session:close()
      assert.same({}, calls)
      assert.is_nil(guard:reason())
    end)
  end)
end

describe("Without step(), a loss", function()
  it("is told to who asked for it again before the session was closed",
    function()
      local session = connect()
      local lock = session:mutex(support.path(), { max_hold = 0.05 })
      local guard = assert(lock:acquire { owner = "me" })
      support.advance(0.1)
      local said
      lock:acquire_async({ owner = "me" }, function(...) said = { ... } end)
      session:close()
      assert.is_nil(said[1])
      assert.matches(BY_MAX_HOLD, said[2])
      assert.equal("lost", said[3])
      assert.equal("lost", guard:state())
    end)

  it("of the write lock is told to who asks for the read lock", function()
    local lock = connect():rwlock(support.path())
    local guard = assert(lock.write:acquire(30))
    local calls = listen(guard)
    support.lose(guard)
    assert.equal("lost", (select(3, lock.read:acquire(30))))
    assert.same({ "node_deleted" }, calls)
  end)

  it("is told to nobody else by a call that finds another", function()
    local session, guards, calls = connect(), {}, {}
    for i = 1, 2 do
      guards[i] = assert(session:mutex(support.path()):acquire(30))
      calls[i] = listen(guards[i])
    end
    support.lose(guards[1])
    support.lose(guards[2])
    guards[1]:release()
    assert.same({ { "node_deleted" }, {} }, calls)
    session:step()
    assert.same({ { "node_deleted" }, { "node_deleted" } }, calls)
  end)
end)

-- What takes each hold away, and in which words.
local reasons = {
  max_hold_reached = { "it was held for as long as max_hold allows",
    options = { max_hold = 0.05 }, act = function() end },
  node_deleted = { "its node was deleted", act = support.lose },
  lease_expired = { "no server answered until its lease was over",
    act = function(_, _, proxy) proxy:freeze() end },
  connection_lost = { "the connection was lost, and lose_on_suspend is true",
    options = { lose_on_suspend = true },
    act = function(_, _, proxy) proxy:cut() end },
  session_closed = { "another client closed the ZooKeeper session",
    act = function(_, session)
      assert.is_true(seize(support.hosts, session:id()))
    end },
}

for reason, row in pairs(reasons) do
  it("A loss says why: " .. reason, function()
    for _, by_step in ipairs { true, false } do
      local lines = {}
      local function log(level, message)
        if message:find "was lost" then
          lines[#lines + 1] = level .. ": " .. message
        end
      end
      local session, proxy = sessions.behind_proxy { log = log }
      local guard = assert(session:mutex(support.path(), row.options)
        :acquire(30))
      local calls = listen(guard)
      row.act(guard, session, proxy)
      if by_step then
        support.step_until(session, function() return calls[1] end, 10)
      else -- (Past its lease it may yet be renewed, if nobody asks.)
        support.wait_until(function()
          return not guard:is_held() and guard:reason()
        end, 10)
      end
      local text = ("the hold of %s was lost: %s"):format(guard.path, row[1])
      local _, message, code = guard:release()
      assert.same({ "zklock: " .. text, "lost" }, { message, code })
      assert.same({ reason }, calls)
      assert.same({ "warn: " .. text }, lines)
      local late
      guard:on_lost(function(...) late = { ... } end)
      assert.same({ guard, reason, message }, late)
      proxy:heal()
      support.until_state(session, "connected", { pending_releases = 0 })
    end
  end)
end

describe("Silence of the servers", function()
  local T = 8

  -- A holder behind a proxy, and what it is told from now on.
  local function open()
    local told = {}
    local session, proxy = sessions.behind_proxy { session_timeout = T }
    local function tell(what)
      told[#told + 1] = what .. ", " .. session:state()
    end
    local guard = assert(session:mutex(support.path()):acquire(30))
    for _, event in ipairs { "connected", "suspended", "reconnected",
        "expired" } do
      session:on(event, function() tell(event) end)
    end
    guard:on_lost(function(_, reason) tell(reason) end)
    -- A young connection's lease is nearly the session's whole time.
    support.advance(T)
    return session, proxy, told, guard
  end

  local SILENT = { "suspended, suspended", "lease_expired, suspended" }

  -- How it is found, and what else befalls the connection.
  for how, find in pairs {
    ["step()"] = function(session, proxy, told)
      proxy:freeze()
      support.step_until(session, function() return told[2] end, 10)
    end,
    ["a release"] = function(_, proxy, told, guard)
      proxy:freeze()
      support.wait_until(function() return not guard:is_held() end, 10)
      assert.same({}, told)
      assert.equal("lost", (select(3, guard:release())))
      assert.equal("lease_expired", guard:reason())
    end,
    ["a release, before the I/O thread runs"] = function(session, proxy, _,
        guard)
      proxy:freeze()
      virtual.jump(guard:lease())
      assert.equal("lost", (select(3, guard:release())))
      assert.equal("suspended", session:state())
    end,
  } do
    it("is a suspension before it is a loss, and over when one is heard: "
      .. how, function()
      local session, proxy, told, guard = open()
      find(session, proxy, told, guard)
      step_for(session, 0.3)
      assert.same(SILENT, told)
      assert.equal("suspended", session:state())
      proxy:heal()
      support.step_until(session, function() return told[3] end, 10)
      step_for(session, 0.3)
      assert.same({ SILENT[1], SILENT[2], "reconnected, connected" }, told)
    end)
  end

  it("is none to who holds nothing", function()
    local session, proxy, told, guard = open()
    guard:release { wait = true }
    proxy:freeze()
    step_for(session, T / 2) -- longer than a lease, and shorter than silence
    assert.same({}, told)
    assert.equal("connected", session:state())
    proxy:heal()
  end)
end)

-- When the guard is held no more, to the millisecond; no callback is called.
local function end_of(guard)
  while guard:is_held() do support.advance(0.001) end
  return support.now()
end

local function is_about(expected, moment)
  assert.is_true(moment >= expected and moment < expected + 0.005,
    moment - expected)
end

describe("max_hold", function()
  local path
  before_each(function() path = support.path() end)

  it("counts from the grant, not from the call", function()
    local holder = support.hold(path)
    local waiter = kinds.wait_in(connect():mutex(path, { max_hold = 30 }))
    support.advance(40)
    local begun = support.now()
    holder:release()
    is_about(begun + 30, end_of(kinds.await(waiter)))
    waiter.guard:release()
  end)

  it("of acquire goes before that of the lock, and none outlives its hold",
    function()
      local mutex = connect():mutex(path, { max_hold = 1 })
      mutex:acquire(30):release()
      for _, max_hold in ipairs { 90, math.huge } do
        local guard = mutex:acquire { max_hold = max_hold, timeout = 5 }
        support.advance(80)
        assert.is_true(guard:verify())
        assert.is_true(guard:lease() > 1)
        guard:release()
      end
    end)

  it("is not begun anew by reentry", function()
    local mutex = connect():mutex(path, { max_hold = 4 })
    local begun = support.now()
    local guard = mutex:acquire(30)
    support.advance(3)
    local again = mutex:acquire(30)
    is_about(begun + 4, end_of(again))
    kinds.refused("lost", mutex:acquire(30))
    again:release()
    kinds.refused("lost", mutex:acquire(30)) -- as long as one is left
    guard:release()
    mutex:acquire(30):release()
  end)

  it("may be nothing at all", function()
    local guard = connect():mutex(path):acquire { max_hold = 0, timeout = 5 }
    assert.is_false(guard:is_held())
    guard:release()
    kinds.wait_for_nodes(path, 0)
  end)
end)
