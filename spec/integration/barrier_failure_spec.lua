-- Barriers and what may befall who sets, lifts or waits for one: connections,
-- sessions, tasks.
local connect_through = require "support.mishaps".connect_through
local new_scheduler = require "support.scheduler".new
local seize = require "support.seizure".seize
local start_proxy = require "support.proxy".start
local support = require "support"
local waits = require "zklock.wait"
local connect, recorder = support.connect, support.recorder

local function await_watches(path, n)
  support.wait_until(function() return support.count_watches(path) == n end, 5,
    ("%d watches of %s"):format(n, path))
end

before_each(support.start)
after_each(support.finish)

describe("Without a connection a barrier", function()
  it("is not set, lifted or asked for: disconnected", function()
    local proxy, path = start_proxy(), support.path()
    local session = connect_through(proxy)
    local barrier = session:barrier(path)
    assert.is_true(barrier:set())
    proxy:refuse()
    support.until_state(session, "suspended")
    local function refused(sentence, _, message, code)
      assert.equal("disconnected", code)
      assert.truthy(message:find("no server " .. sentence
        .. " (last error: ", 1, true), message)
    end
    local doubt = ", though it may have been done"
    refused("has confirmed the barrier " .. path .. doubt, barrier:set())
    refused("has confirmed the lifting of the barrier " .. path .. doubt,
      barrier:lift())
    refused("could be asked what is at " .. path, barrier:is_set())
    assert.is_table(support.zk():exists(path))
    proxy:heal()
    support.until_state(session, "connected")
    assert.same({ true, true }, { barrier:lift() })
  end)

  it("may have been set or lifted where the answer was lost", function()
    local proxy, path, zk = start_proxy(), support.path(), support.zk()
    local session = connect_through(proxy)
    local barrier = session:barrier(path)
    zk:make((path:match "^(.*)/"))
    for _, move in ipairs { "set", "lift" } do
      proxy:lose_reply(move == "set" and "create_if" or "delete_if")
      assert.equal("disconnected", select(3, barrier[move](barrier)))
      proxy:await_loss()
      proxy:heal()
      support.until_state(session, "connected")
      assert.equal(move == "set", not not zk:exists(path))
      assert.same({ true, false }, { barrier[move](barrier) })
    end
  end)

  it("lets nobody pass: disconnected, after as long as was said", function()
    local proxy, path = start_proxy(), support.path()
    local session = connect_through(proxy, { session_timeout = 4 })
    local barrier = session:barrier(path) -- nobody has set it
    proxy:refuse()
    support.until_state(session, "suspended")
    for seconds, within in pairs { [0.2] = " within 0.2 s", [0] = "" } do
      local begun = support.now()
      local ok, message, code = barrier:wait(seconds)
      assert.near(begun + seconds, support.now(), 0.01)
      assert.same({ nil, "disconnected" }, { ok, code })
      local text = ("zklock: no server of %s answered%s, waiting for the "
        .. "barrier %s to be lifted"):format(proxy.hosts, within, path)
      assert.equal(text, message:sub(1, #text))
    end
    local calls, callback = recorder()
    barrier:wait_async(callback)
    proxy:heal()
    support.step_until(session, function() return calls[1] end)
    assert.same({ { true } }, calls)
  end)
end)

describe("Who waits at a barrier", function()
  local session, path, proxy, calls, barrier

  -- It is behind a wire, and the barrier is set.
  before_each(function()
    local callback
    path, proxy, calls, callback = support.path(), start_proxy(), recorder()
    session = connect_through(proxy)
    barrier = session:barrier(path)
    assert(barrier:set())
    barrier:wait_async(callback)
    await_watches(path, 1)
    support.wait_until(function() return session:stats().in_flight == 0 end)
  end)

  local function suspend()
    proxy:refuse()
    support.until_state(session, "suspended")
  end

  local function passes(of)
    support.step_until(session, function() return of[1] end)
    assert.same({ { true } }, of)
  end

  it("passes if it was lifted and set anew meanwhile, and the next does not",
    function()
      suspend()
      support.zk():delete(path)
      support.zk():create(path)
      local later, callback = recorder()
      barrier:wait_async(callback)
      proxy:heal()
      passes(calls)
      await_watches(path, 1)
      session:step()
      assert.same({}, later)
      support.zk():delete(path)
      passes(later)
    end)

  it("costs two requests and one watch after a reconnection, with a thousand",
    function()
      local passed = 0
      for _ = 1, 1000 do
        barrier:wait_async(function() passed = passed + 1 end)
      end
      local function requests()
        return support.while_quiet({ session }, function(beats, nudges)
          return session:stats().requests - beats - nudges
        end)
      end
      requests()
      suspend()
      local before = requests()
      proxy:heal()
      support.until_state(session, "connected")
      await_watches(path, 1)
      assert.equal(before + 2, requests()) -- a proof, and a read
      assert.equal(1, session:stats().watches)
      assert.same({ 0, {} }, { passed, calls })
      support.zk():delete(path)
      passes(calls)
      support.step_until(session, function() return passed == 1000 end)
      assert.equal(0, session:stats().watches)
    end)

  it("goes on in a new session when the old one is over", function()
    for i = 1, 2 do
      local id = session:id()
      suspend()
      assert.is_true(seize(support.hosts, id))
      proxy:heal()
      support.until_state(session, "connected", { expiries = i })
      assert.are_not.equal(id, session:id())
      await_watches(path, 1)
      assert.same({}, calls)
    end
    support.zk():delete(path)
    passes(calls)
  end)
end)

if support.is_54 then
  it("A task that is closed at a barrier leaves no watch", function()
    local path, scheduler = support.path(), new_scheduler()
    local session = connect { loop = scheduler.adapter }
    support.zk():make(path)
    local task = scheduler:spawn(function() session:barrier(path):wait() end)
    scheduler:turn()
    await_watches(path, 1)
    assert.is_true(scheduler:kill(task))
    support.until_state(session, nil, { watches = 0 })
    assert.is_nil(waits.any(session._engine.waits.answers))
    await_watches(path, 0)
  end)
end
