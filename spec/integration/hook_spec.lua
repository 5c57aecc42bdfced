-- A hook may raise between any two instructions of ours: see strikes.lua.
local strikes = require "support.strikes"
local support = require "support"
local waits = require "zklock.wait"
local zklock = require "zklock"

local STRIKE, at_each_instruction, check_free, check_idle, connect =
  strikes.STRIKE, strikes.at_each_instruction, strikes.check_free,
  strikes.check_idle, strikes.connect
local sethook = debug.sethook

describe("A hook that raises", function()
  local session, path, lock

  before_each(function()
    support.start()
    session, path = connect(), support.path()
    lock = session:mutex(path)
  end)
  after_each(support.finish)

  local function nothing() return {} end
  local function is_free() check_free(session, lock, path) end

  -- What leaves nothing held, wherever it is struck.
  for call, act in pairs {
    acquire = function(got) got.guard = lock:acquire(30) end,
    try_acquire = function(got) got.guard = lock:try_acquire() end,
    with_lock = function()
      return lock:with_lock(function(guard) assert(guard:is_held()) end)
    end,
    ["with_lock, when fn has raised,"] = function()
      local _, problem = pcall(lock.with_lock, lock, error)
      if problem == STRIKE then error(problem, 0) end
    end,
  } do
    it("in " .. call .. " leaves nothing held", function()
      at_each_instruction(nothing, act, function(got, through)
        if through and got.guard then got.guard:release() end
        is_free()
      end)
    end)
  end

  it("in acquire by the holder leaves it one share", function()
    local guard = lock:acquire(30)
    at_each_instruction(nothing, function(got)
      got.guard = lock:acquire(30)
    end, function(got, through)
      if through then got.guard:release() end
      assert.is_true(guard:is_held())
      assert.equal(1, session:stats().holding)
      assert.equal(guard, guard._stack[#guard._stack])
    end)
    guard:release()
    is_free()
  end)

  it("in acquire, when the wait times out, leaves nothing", function()
    local held = connect():mutex(path):acquire(30)
    at_each_instruction(nothing, function() return lock:acquire(0.002) end,
      function()
        support.wait_for_queue(path, 1)
        assert.is_nil(waits.any(session._engine.waits.answers))
      end)
    held:release { wait = true }
    is_free()
  end)

  it("in multi leaves nothing held", function()
    local parts = { a = session:mutex(path .. "/a"),
      b = session:mutex(path .. "/b") }
    local multi = session:multi { parts.a, parts.b }
    local function are_free()
      for name, part in pairs(parts) do
        check_free(session, part, path .. "/" .. name)
      end
    end
    at_each_instruction(nothing, function(got)
      got.guard = multi:acquire(30)
    end, function(got, through)
      if through then got.guard:release() end
      are_free()
    end)
    at_each_instruction(function() return multi:acquire(30) end,
      function(guard) guard:release() end,
      function(guard)
        assert.is_true(guard:release())
        are_free()
      end)
  end)

  for name, options in pairs { release = {},
      ["release { wait = true }"] = { wait = true } } do
    it("in " .. name .. ": a second one is true", function()
      at_each_instruction(function() return lock:acquire(30) end,
        function(guard) return guard:release(options) end,
        function(guard)
          assert.is_true(guard:release())
          assert.equal("released", guard:state())
          is_free()
        end)
    end)
  end

  it("in release of a lost hold: a second one says so", function()
    at_each_instruction(function()
      local guard = lock:acquire { max_hold = 0.001 }
      support.wait_until(function() return not guard:is_held() end)
      return guard
    end, function(guard) return guard:release() end, function(guard)
      assert.equal("lost", select(3, guard:release()))
      is_free()
    end)
  end)

  it("in verify, contenders and their like leaves no wait", function()
    local guard = lock:acquire(30)
    for _, ask in ipairs {
      function() return guard:verify() end,
      function() return session:contenders(path) end,
      function() return session:revoke(path) end,
      function() return session:stat(path) end,
      function() return session:children(path) end,
      function() return session:stamp(path .. "/stamp") end,
      function() return session:evict(path, "holder") end,
    } do
      at_each_instruction(nothing, ask, function()
        assert.is_nil(waits.any(session._engine.waits.answers))
        assert.is_true(guard:is_held())
      end)
    end
    guard:release()
    is_free()
  end)

  it("in step does not keep a callback from its turn", function()
    local lost, other = session:mutex(support.path()), support.path()
    local second = session:mutex(other)
    at_each_instruction(function()
      local calls = { a = 0, b = 0, lost = 0, again = 0 }
      local guard = lost:acquire { max_hold = 0.001 }
      for _, name in ipairs { "lost", "again" } do
        guard:on_lost(function() calls[name] = calls[name] + 1 end)
      end
      for name, one in pairs { a = lock, b = second } do
        one:acquire_async(5, function(mine, message)
          calls[name] = calls[name] + 1
          calls[name .. "_guard"] = assert(mine, message)
        end)
      end
      -- all that is to be told has come
      support.wait_until(function()
        return session:stats().holding == 2 and not guard:is_held()
      end)
      calls.guard = guard
      return calls
    end, function() session:step() end, function(calls)
      support.step_until(session, function()
        return calls.a > 0 and calls.b > 0 and calls.lost > 0
          and calls.again > 0
      end)
      for _ = 1, 3 do session:step() end
      assert.same({ 1, 1, 1, 1 },
        { calls.a, calls.b, calls.lost, calls.again })
      calls.guard:release()
      calls.a_guard:release()
      calls.b_guard:release()
      is_free()
      check_free(session, second, other)
    end)
  end)

  it("in close leaves it closed", function()
    local threads = support.count_threads()
    at_each_instruction(function()
      local own = connect()
      local subject = { session = own, closed = 0, told = 0 }
      own:on("closed", function() subject.closed = subject.closed + 1 end)
      subject.guard = own:mutex(path):acquire(30)
      own:mutex(path):acquire_async(function(_, _, code)
        assert(code == "closed")
        subject.told = subject.told + 1
      end)
      return subject
    end, function(subject) return subject.session:close() end,
    function(subject)
      assert.is_true(subject.session:close())
      assert.equal("closed", subject.session:state())
      assert.is_false(subject.guard:is_held())
      assert.same({ 1, 1 }, { subject.closed, subject.told })
      support.wait_until(function()
        return support.count_threads() <= threads
      end)
      support.wait_for_queue(path, 0)
    end)
  end)

  it("in connect leaves no session open", function()
    local threads, fds = support.count_threads(), support.count_fds()
    at_each_instruction(nothing, function(got)
      got.session = zklock.connect(support.hosts)
    end, function(got, through)
      if through then got.session:close() end
      support.wait_until(function()
        return support.count_threads() <= threads
          and support.count_fds() <= fds + 1
      end)
    end)
  end)

  -- A callback that is struck after a while; `run(fn)`: how it comes to run.
  for where, run in pairs {
    ["a callback"] = function(fn) fn() end,
    ["with_lock in a callback"] = function(fn) lock:with_lock(fn) end,
  } do
    it("inside " .. where .. " is the caller's, not the log's", function()
      local lines, calls, problem = {}, 0, nil
      session = connect { log = function(level, message)
        if level ~= "debug" then lines[#lines + 1] = message end
      end }
      lock = session:mutex(path)
      session:mutex(support.path()):acquire_async(function(guard)
        guard:release()
        run(function()
          sethook(function() sethook() error(STRIKE, 0) end, "", 100)
          while true do calls = calls + 1 end
        end)
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

  describe("in what is built on locks,", function()
    before_each(function() path = support.path() end)

    local function check_no_wait()
      assert.is_nil(waits.any(session._engine.waits.answers))
    end

    local function check_no_watch()
      support.wait_until(function() return session:stats().watches == 0 end)
      assert.equal(0, support.count_watches(path))
    end

    it("in a barrier's methods leaves no wait, and no watch", function()
      local barrier = session:barrier(path)
      barrier:set()
      for _, call in ipairs {
        function() return barrier:wait(0.002) end,
        function() return barrier:wait(0) end,
        function() return barrier:set() end,
        function() return barrier:is_set() end,
        function() return session:barrier(path .. "/other"):lift() end,
      } do
        at_each_instruction(function() end, call, check_no_wait)
      end
      check_no_watch()
      assert.same({ true, true }, { barrier:lift() })
      assert.is_true(barrier:wait())
    end)

    for name, move in pairs {
      enter = function(gate, got) got.guard = gate:enter(30) end,
      leave = function(gate, got) got.left = gate:leave(30) end,
      ["leave by a guard"] = function(gate, got)
        got.left = gate:leave { guard = got.guard }
      end,
    } do
      it("in " .. name .. " leaves nobody inside a double barrier", function()
        local gate = session:double_barrier(path, 1)
        at_each_instruction(function()
          return { guard = name ~= "enter" and assert(gate:enter(30)) or nil }
        end, function(got) move(gate, got) end, function(got, through)
          if name ~= "enter" and through then
            assert.is_true(got.left)
          elseif name ~= "enter" and got.guard:is_held() then
            -- It was struck before it had begun.
            assert.is_true(gate:leave(30))
          elseif through then
            assert.is_true(got.guard:release())
          end
          assert.is_false(pcall(gate.leave, gate))
          support.until_state(session, nil, { pending_releases = 0 })
          check_idle(session)
        end)
        check_no_watch()
      end)
    end

    -- Nobody leads or campaigns, or runs, and the next one can.
    local function is_free_again(election)
      assert.is_false(election:resign())
      assert.is_false(election:is_stopping())
      assert(election:campaign(30)):release()
      check_idle(session)
    end

    it("in campaign leaves nobody leading", function()
      local election = session:election(path)
      at_each_instruction(function() return {} end, function(got)
        got.guard = election:campaign(30)
      end, function(got, through)
        if through then got.guard:release() end
        is_free_again(election)
      end)
    end)

    it("in resign: a second one finds nothing to do", function()
      local election = session:election(path)
      at_each_instruction(function() return election:campaign(30) end,
        function() return election:resign { wait = true } end,
        function(guard)
          election:resign()
          assert.equal("released", guard:state())
          is_free_again(election)
        end)
    end)

    it("in run leaves nobody leading, and comes out", function()
      local election = session:election(path)
      at_each_instruction(function() return { calls = 0 } end, function(got)
        return election:run(function(guard)
          assert(guard:is_held())
          got.calls = got.calls + 1
          if got.calls == 2 then election:stop() end
        end)
      end, function() is_free_again(election) end)
    end)

    it("in leader leaves no wait", function()
      local election = session:election(path)
      at_each_instruction(function() end,
        function() return election:leader() end,
        function() is_free_again(election) end)
    end)

    it("in once leaves nothing held", function()
      at_each_instruction(function() end, function()
        return session:once(path, { per = 0 }, function() end)
      end, function()
        session:mutex(path):acquire(30):release()
        check_idle(session)
      end)
      support.wait_for_queue(path, 0)
    end)
  end)
end)
