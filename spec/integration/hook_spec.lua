-- What a hook that raises leaves behind, as that of `lua` does upon Ctrl-C: in
-- every wait, in a function of the user's, and anywhere in with_lock.  (Real
-- signals: spec/server/interrupt_spec.lua.)
local support = require "support"
local waits = require "zklock.wait"
local zklock = require "zklock"

local getinfo, sethook = debug.getinfo, debug.sethook
local STRIKE = "interrupted!"
local STRIDE = 11 -- instructions

-- What LuaJIT has compiled calls no hooks.
if rawget(_G, "jit") then require "jit".off() end

-- Is the running function of a file of the library, whose name ends so?
local function is_in(file)
  local source = getinfo(3, "S").source
  return source:find("zklock/" .. file, 1, true) and source:find "%.lua$"
end

-- Calls `fn` with a hook that raises at the `n`th instruction of such a file:
-- true if it got through, and its results.
local function strike(file, n, fn)
  local function hook()
    if not is_in(file) then return end
    n = n - 1
    if n > 0 then return end
    sethook()
    error(STRIKE, 0)
  end
  local function through(ok, ...)
    sethook()
    if not ok and (...) ~= STRIKE then error((...), 0) end
    return ok, ...
  end
  sethook(hook, "", 1)
  return through(pcall(fn))
end

-- A hook that raises after so many instructions.
local function raise_after(n)
  sethook(function()
    sethook()
    error(STRIKE, 0)
  end, "", n)
  while true do n = n + 0 end
end

local function connect(options)
  options = options or {}
  options.session_timeout = 60
  return support.connect(options)
end

-- Nobody waits for anything, and nothing is held.
local function check_idle(session)
  support.step_until(session, function()
    local stats = session:stats()
    return stats.holding == 0 and stats.waiting == 0
      and not waits.any(session._engine.waits)
      and not next(session._engine.events.due)
  end, 5, "a session as good as new")
  for _, served in pairs(session._engine.adapters.served) do
    assert(next(served.waiting) == nil, "a loop still attends")
  end
end

describe("A hook that raises", function()
  local session, path

  before_each(function() session, path = connect(), support.path() end)

  local function is_free()
    assert.equal(0, session:stats().holding)
    check_idle(session)
    assert(connect():mutex(path):acquire(30)):release { wait = true }
  end

  -- Before a wait blocks, and after it has been woken.
  local function in_every_wait(calls)
    for name, call in pairs(calls) do
      for _, n in ipairs { 1, 10 } do
        local ok, problem = strike("loop/poll", n, call)
        assert.is_false(ok, name)
        assert.equal(STRIKE, problem)
        assert(not waits.any(session._engine.waits), name)
      end
    end
  end

  it("in a wait for a lock ends the wait", function()
    local held, lock = support.hold(path), session:mutex(path)
    local calls = {
      acquire = function() lock:acquire() end,
      with_lock = function() lock:with_lock(error) end,
      multi = function() session:multi { lock }:acquire() end,
      multi_with_lock = function()
        session:multi { lock }:with_lock(error)
      end,
      once = function() session:once(path, { per = 0 }, error) end,
    }
    in_every_wait(calls)
    support.wait_for_queue(path, 1)
    held:release()
    in_every_wait(calls) -- which would be granted
    is_free()
  end)

  it("in an election leaves it", function()
    local held, election = support.hold(path), session:election(path)
    local calls = {
      campaign = function() election:campaign() end,
      run = function() election:run(error) end,
      leader = function() election:leader() end,
    }
    in_every_wait(calls)
    support.wait_for_queue(path, 1)
    held:release()
    in_every_wait(calls)
    assert.same({ false, STRIKE }, { strike("loop/poll", 1, function()
      election:run({ backoff = 3600, on_error = function() end },
        function() error "ouch" end)
    end) })
    assert.is_false(election:is_stopping())
    is_free()
  end)

  it("in a question leaves what is held alone", function()
    local guard = session:mutex(path):acquire(30)
    in_every_wait {
      verify = function() guard:verify() end,
      contenders = function() session:contenders(path) end,
      revoke = function() session:revoke(path) end,
      stat = function() session:stat(path) end,
      children = function() session:children(path) end,
      touch = function() session:touch(path .. "/touched") end,
      evict = function() session:evict(path, "holder") end,
    }
    assert.is_true(guard:is_held())
    guard:release()
    is_free()
  end)

  it("in a release that is to be confirmed has released", function()
    for _, n in ipairs { 1, 10 } do
      local guard = session:mutex(path):acquire(30)
      assert.is_false(strike("loop/poll", n, function()
        guard:release { wait = true }
      end))
      assert.equal("released", guard:state())
      assert.is_true(guard:release())
    end
    is_free()
  end)

  it("at a barrier leaves no wait, no watch and no member", function()
    local barrier = session:barrier(path)
    local gate = session:double_barrier(support.path(), 2)
    in_every_wait {
      is_set = function() barrier:is_set() end,
      lift = function() session:barrier(path .. "/other"):lift() end,
      set = function() barrier:set() end,
      enter = function() gate:enter() end,
    }
    barrier:set()
    in_every_wait { wait = function() barrier:wait() end }
    local other, entered = connect(), nil
    other:double_barrier(gate.path, 2):enter_async(30, function(guard)
      entered = guard
    end)
    assert(gate:enter(30))
    support.step_until(other, function() return entered end)
    assert.is_false(strike("loop/poll", 1, function() gate:leave() end))
    assert.is_false(pcall(gate.leave, gate))
    assert.is_true(entered:release { wait = true })
    support.wait_until(function() return session:stats().watches == 0 end)
    check_idle(session)
  end)

  it("in connect leaves no session open", function()
    local threads = support.count_threads()
    for _, n in ipairs { 1, 10 } do
      assert.is_false(strike("loop/poll", n, function()
        zklock.connect(support.hosts)
      end))
    end
    support.wait_until(function()
      return support.count_threads() <= threads
    end)
  end)

  -- Raises at a later instruction each time, until the call gets through.
  local function at_instructions(fn, after)
    local n = (tonumber(os.getenv "SPEC_SEED") or 1) % STRIDE
    repeat
      n = n + STRIDE
      local through = strike("", n, fn)
      after(through)
    until through
    assert(n > 100, "it has struck in vain")
  end

  it("anywhere in with_lock finds the lock given back", function()
    local lock, other = session:mutex(path), connect():mutex(path)
    at_instructions(function()
      lock:with_lock(function(guard) assert(guard:is_held()) end)
    end, function()
      assert.equal(0, session:stats().holding)
      assert(other:acquire(30)):release()
    end)
    is_free()
  end)

  it("on the way out of acquire leaves a guard that release() finds", function()
    local lock, other = session:mutex(path), connect():mutex(path)
    local guard
    at_instructions(function() guard = lock:acquire(30) end, function(through)
      if through then
        guard:release()
      else
        pcall(lock.release, lock)
      end
      support.collect()
      assert(other:acquire(30)):release()
    end)
    is_free()
  end)

  it("anywhere in acquire and close: a second close leaves nothing", function()
    local threads = support.count_threads()
    at_instructions(function()
      session = connect()
      session:mutex(path):acquire(30)
      session:mutex(support.path()):acquire_async(function() end)
      session:close()
    end, function()
      session:close()
      assert.equal("closed", session:state())
      support.wait_for_queue(path, 0)
    end)
    support.collect()
    support.wait_until(function()
      return support.count_threads() <= threads
    end)
  end)

  local lock

  -- `run(fn)`: how a callback comes to run.
  for where, run in pairs {
    ["a callback"] = function(fn) fn() end,
    ["with_lock in a callback"] = function(fn) lock:with_lock(fn) end,
  } do
    it("inside " .. where .. " is the caller's, not the log's", function()
      local lines, problem = {}, nil
      session = connect { log = function(level, message)
        if level ~= "debug" then lines[#lines + 1] = message end
      end }
      lock = session:mutex(path)
      session:mutex(support.path()):acquire_async(function(guard)
        guard:release()
        run(function() raise_after(100) end)
      end)
      session:mutex(support.path()):acquire_async(function(guard)
        guard:release()
        error "a user's own"
      end)
      support.wait_until(function()
        local ok, why = pcall(session.step, session)
        if not ok then problem = why end
        return problem and #lines > 0
      end)
      assert.equal(STRIKE, problem)
      assert.equal(1, #lines)
      assert.matches("an error in a callback: .*a user's own", lines[1])
      session:step() -- nothing was put off
      is_free()
    end)
  end
end)
