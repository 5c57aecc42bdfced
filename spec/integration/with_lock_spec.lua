local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local start_proxy = require "support.proxy".start
local support = require "support"
local connect = support.connect

local function count(...) return { n = select("#", ...), ... } end

describe("with_lock", function()
  it("runs its function under the lock and returns true and the results",
    function()
      local session, path = connect(), support.path()
      local mutex, seen = session:mutex(path), nil
      local function fn(guard)
        seen = guard
        assert.equal(path, guard.path)
        assert.is_true(guard:is_held())
        assert.equal(1, #support.zk():queue(path))
        return 1, nil, "three", nil
      end
      for _, results in ipairs { count(mutex:with_lock(fn)),
          count(session:with_lock(path, 5, fn)) } do
        assert.same({ n = 5, true, 1, nil, "three" }, results)
        assert.equal("released", seen:state())
        support.wait_for_queue(path, 0)
      end
      assert.same({ n = 1, true }, count(mutex:with_lock(function() end)))
      assert.same({ n = 4, true, nil, "message", "lost" },
        count(mutex:with_lock(function() return nil, "message", "lost" end)))
    end)

  it("raises the function's error again and releases", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    for _, value in ipairs { "text", { code = 42 }, 17, true, false } do
      local ok, problem = pcall(mutex.with_lock, mutex, function()
        error(value, 0)
      end)
      assert.is_false(ok)
      assert.is_true(rawequal(value, problem))
      support.wait_for_queue(path, 0)
    end
    -- (Lua 5.5 raises a text in place of nil.)
    assert.same(count(pcall(error)), count(pcall(mutex.with_lock, mutex,
      function() error() end)))
  end)

  it("leaves the position and the traceback of an error as they were",
    function()
      local mutex = connect():mutex(support.path())
      local line = debug.getinfo(1, "l").currentline + 1
      local function the_culprit() error "ouch" end
      local _, problem = pcall(mutex.with_lock, mutex, the_culprit)
      assert.matches("with_lock_spec.lua:" .. line .. ": ouch$", problem)
      local _, is_main = coroutine.running()
      if not support.is_54 or not is_main then return end
      local _, trace = xpcall(mutex.with_lock, debug.traceback, mutex,
        function() the_culprit() end)
      assert.matches("the_culprit", trace)
    end)

  it("lets its function release early", function()
    local path = support.path()
    assert.same({ n = 2, true, "done" }, count(connect():mutex(path):with_lock(
      function(guard)
        assert.is_true(guard:release { wait = true })
        assert.same({}, support.zk():queue(path))
        return "done"
      end)))
  end)

  it("takes anything that can be called", function()
    local callable = setmetatable({}, { __call = function() return 9 end })
    local mutex = connect():mutex(support.path())
    assert.same({ true, 9 }, { mutex:with_lock(callable) })
    assert.same({ true, 9 }, { mutex:with_lock(5, callable) })
  end)

  -- On PUC 5.1 no coroutine can yield through with_lock, and it says so.
  it("lets its function wait in a coroutine, except on PUC 5.1", function()
    local path, session, scheduler = support.path(), sessions.in_loop()
    local results
    scheduler:spawn(function()
      results = { session:mutex(path):with_lock(function()
        return session:mutex(support.path()):acquire(30):release()
      end) }
    end)
    if support.is_51 then
      local ok, problem = pcall(scheduler.run, scheduler)
      assert.is_false(ok)
      assert.matches("zklock: .*5%.1.*with_lock", problem)
    else
      assert.is_true(scheduler:run())
      assert.same({ true, true }, results)
    end
    collectgarbage()
    support.wait_for_queue(path, 0)
  end)

  -- A task can be resumed long after the grant: the program did something else.
  for _, kind in ipairs(kinds.all) do
    it("does not call its function if the hold was lost before: " .. kind.name,
      function()
        local path, proxy = support.path(), start_proxy()
        local session, scheduler = sessions.in_loop { hosts = proxy.hosts }
        local rival = assert(kind.rival(connect(), path):acquire(5))
        local results
        scheduler:spawn(function()
          results = count(kind.make(session, path):with_lock(5, error))
        end)
        scheduler:run_until(function() return session:stats().waiting > 0 end)
        rival:release { wait = true }
        support.wait_until(function() return session:stats().holding > 0 end)
        proxy:refuse()
        support.advance(2 * session:timeout())
        proxy:heal()
        assert.is_true(scheduler:run())
        assert.same({ 3, "lost" }, { results.n, results[3] })
        assert.matches("^zklock: the hold of .* was lost", results[2])
        assert.equal(0, session:stats().holding)
      end)
  end
end)
