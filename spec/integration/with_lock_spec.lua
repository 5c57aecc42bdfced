local support = require "support"
local new_scheduler = require "support.scheduler".new
local connect, misuse = support.connect, support.misuse

local function count(...) return select("#", ...), ... end

describe("with_lock", function()
  before_each(support.start)
  after_each(support.finish)

  it("runs its function under the lock and returns true and the results",
    function()
      local path = support.path()
      local mutex = connect():mutex(path)
      local seen
      local n, ok, a, b, c, d = count(mutex:with_lock(function(guard)
        seen = guard
        assert.is_true(guard:is_held())
        assert.equal(1, #support.zk():queue(path))
        return 1, nil, "three", nil
      end))
      assert.equal(5, n)
      assert.is_true(ok)
      assert.equal(1, a)
      assert.is_nil(b)
      assert.equal("three", c)
      assert.is_nil(d)
      assert.equal("released", seen:state())
      support.wait_for_queue(path, 0)
    end)

  it("returns true alone where the function returns nothing", function()
    local mutex = connect():mutex(support.path())
    local n, ok = count(mutex:with_lock(function() end))
    assert.equal(1, n)
    assert.is_true(ok)
  end)

  it("returns results that look like an error", function()
    local n, ok, a, b, c = count(connect():mutex(support.path())
      :with_lock(function() return nil, "message", "lost" end))
    assert.equal(4, n)
    assert.same({ true, nil, "message", "lost" }, { ok, a, b, c })
  end)

  it("does not run its function if the lock is not granted", function()
    local path = support.path()
    support.hold(path)
    local ran = false
    local n, ok, message, code = count(connect():mutex(path):with_lock(
      function() ran = true end, { timeout = 0.05 }))
    assert.equal(3, n)
    assert.is_nil(ok)
    assert.matches("^zklock: timed out after 0.05 s", message)
    assert.equal("timeout", code)
    assert.is_false(ran)
  end)

  it("takes seconds, or the options of acquire", function()
    local path = support.path()
    local guard = support.hold(path)
    local mutex = connect():mutex(path)
    local _, _, code = mutex:with_lock(print, 0.05)
    assert.equal("timeout", code)
    _, _, code = mutex:with_lock(print, 0)
    assert.equal("timeout", code)
    guard:release()
    local _, data = mutex:with_lock(function(mine)
      return (support.zk():get(mine.node))
    end, { data = "mine", timeout = 5 })
    assert.equal("mine", data)
  end)

  it("raises the function's error again and releases", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    local values = { "text", { code = 42 }, 17, true, false }
    for _, value in ipairs(values) do
      local ok, problem = pcall(mutex.with_lock, mutex, function()
        error(value, 0)
      end)
      assert.is_false(ok)
      assert.is_true(rawequal(value, problem))
      support.wait_for_queue(path, 0)
    end
    local ok, problem = pcall(mutex.with_lock, mutex, function()
      error()
    end)
    assert.is_false(ok)
    assert.is_nil(problem)
  end)

  it("leaves the position of an error as it was", function()
    local mutex = connect():mutex(support.path())
    local line = debug.getinfo(1, "l").currentline + 2
    local _, problem = pcall(mutex.with_lock, mutex, function()
      error "ouch"
    end)
    assert.matches("with_lock_spec.lua:" .. line .. ": ouch$", problem)
  end)

  if support.is_54 then
    it("does not unwind the traceback of an error", function()
      local mutex = connect():mutex(support.path())
      local function the_culprit() error "ouch" end
      local _, trace = xpcall(mutex.with_lock, debug.traceback, mutex,
        function()
          the_culprit()
        end)
      assert.matches("the_culprit", trace)
    end)
  end

  it("says lost, and hands on the results, when the hold is lost", function()
    local path = support.path()
    local mutex = connect { session_timeout = 1 }:mutex(path)
    local n, ok, message, code, a, b, c = count(mutex:with_lock(function(guard)
      support.zk():delete(guard.node)
      support.wait_until(function() return not guard:is_held() end)
      return 1, nil, 3
    end))
    assert.equal(6, n)
    assert.is_nil(ok)
    local text = "zklock: the hold of " .. path
      .. " was lost while it was used: "
    assert.equal(text, message:sub(1, #text))
    assert.equal("lost", code)
    assert.same({ 1, nil, 3 }, { a, b, c })
  end)

  it("raises the function's error even if the hold is lost (T26)", function()
    local mutex = connect { session_timeout = 1 }:mutex(support.path())
    local ok, problem = pcall(mutex.with_lock, mutex, function(guard)
      support.zk():delete(guard.node)
      support.wait_until(function() return not guard:is_held() end)
      error("mine", 0)
    end)
    assert.is_false(ok)
    assert.equal("mine", problem)
  end)

  it("lets its function release early", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    local n, ok, a = count(mutex:with_lock(function(guard)
      assert.is_true(guard:release { wait = true })
      assert.same({}, support.zk():queue(path))
      return "done"
    end))
    assert.equal(2, n)
    assert.is_true(ok)
    assert.equal("done", a)
  end)

  it("nests: the lock is held until the outermost ends (T38)", function()
    local path = support.path()
    local session = connect()
    local mutex = session:mutex(path)
    local tokens = {}
    assert.is_true((mutex:with_lock(function(outer)
      tokens[1] = outer:token()
      assert.is_true((session:mutex(path):with_lock(function(inner)
        tokens[2] = inner:token()
        return mutex:with_lock(function() end)
      end)))
      assert.is_true(outer:is_held())
      assert.equal(1, #support.zk():queue(path))
    end)))
    assert.equal(tokens[1], tokens[2])
    support.wait_for_queue(path, 0)
  end)

  it("holds two locks at once", function()
    local session = connect()
    local a, b = support.path "a", support.path "b"
    local ok, inner = session:mutex(a):with_lock(function()
      return (session:mutex(b):with_lock(function()
        assert.equal(1, #support.zk():queue(a))
        assert.equal(1, #support.zk():queue(b))
      end))
    end)
    assert.is_true(ok and inner)
  end)

  it("is there for the session, too", function()
    local session, path = connect(), support.path()
    local ok, n = session:with_lock(path, function(guard)
      assert.equal(path, guard.path)
      return 7
    end, { timeout = 5, data = "x", max_hold = 9, owner = "o",
      reentrant = false, on_suspend = "lose" })
    assert.is_true(ok)
    assert.equal(7, n)
    support.wait_for_queue(path, 0)
    assert.is_true((session:with_lock(path, function() end, 5)))
    assert.is_true((session:with_lock(path, function() end)))
  end)

  it("times out for the session, too", function()
    local path = support.path()
    support.hold(path)
    local _, _, code = connect():with_lock(path, print, { timeout = 0.05 })
    assert.equal("timeout", code)
    _, _, code = connect():with_lock(path, print, 0.05)
    assert.equal("timeout", code)
  end)

  it("is misuse without a function", function()
    local session, path = connect(), support.path()
    local mutex = session:mutex(path)
    for _, bad in ipairs { 1, "x", {}, true } do
      assert.equal("argument 1 of with_lock must be a function, got a "
        .. type(bad), misuse(function() mutex:with_lock(bad) end))
      assert.equal("argument 2 of with_lock must be a function, got a "
        .. type(bad), misuse(function() session:with_lock(path, bad) end))
    end
    assert.equal("argument 1 of with_lock must be a function, got nil",
      misuse(function() mutex:with_lock() end))
  end)

  it("is misuse with bad options", function()
    local session, path = connect(), support.path()
    local mutex = session:mutex(path)
    assert.matches("unknown option",
      misuse(function() mutex:with_lock(print, { timeuot = 1 }) end))
    assert.matches("unknown option",
      misuse(function() session:with_lock(path, print, { timeuot = 1 }) end))
    assert.matches("timeout must be",
      misuse(function() mutex:with_lock(print, -1) end))
    assert.matches("timeout must be",
      misuse(function() session:with_lock(path, print, { timeout = -1 }) end))
    assert.matches("'reentrant' must be a boolean",
      misuse(function() session:with_lock(path, print, { reentrant = 1 }) end))
    assert.matches("path must be absolute",
      misuse(function() session:with_lock("x", print) end))
  end)

  it("takes anything that can be called", function()
    local callable = setmetatable({}, { __call = function() return 9 end })
    local ok, n = connect():mutex(support.path()):with_lock(callable)
    assert.is_true(ok)
    assert.equal(9, n)
  end)

  -- On PUC 5.1 no coroutine can yield through with_lock, and it says so.
  it("lets its function wait in a coroutine, except on PUC 5.1", function()
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local path, other = support.path(), support.path()
    local ok, problem
    scheduler:spawn(function()
      ok, problem = session:mutex(path):with_lock(function()
        return session:mutex(other):acquire(30):release()
      end)
    end)
    if support.is_51 then
      ok, problem = pcall(scheduler.run, scheduler)
      assert.is_false(ok)
      assert.matches("zklock: .*5%.1.*with_lock", problem)
    else
      assert.is_true(scheduler:run())
      assert.is_true(ok, problem)
      assert.is_true(problem)
    end
    collectgarbage()
    support.wait_for_queue(path, 0)
  end)
end)
