-- A hook may raise between any two instructions of ours (strikes.lua): in
-- barriers, elections, once.  (Locks: hook_spec.lua.)
local strikes = require "support.strikes"
local support = require "support"
local waits = require "zklock.wait"

local at_each_instruction, connect = strikes.at_each_instruction,
  strikes.connect

local path, session

before_each(function()
  support.start()
  path, session = support.path(), connect()
end)
after_each(support.finish)

local function check_no_wait()
  assert.is_nil(waits.any(session._engine.waits.answers))
end

local function check_no_watch()
  support.wait_until(function() return session:stats().watches == 0 end)
  assert.equal(0, support.count_watches(path))
end

describe("A hook that raises", function()
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
        strikes.check_idle(session)
      end)
      check_no_watch()
    end)
  end

  it("in step does not keep a barrier's callback from its turn", function()
    local barrier, stats = session:barrier(path), nil
    at_each_instruction(function()
      assert(barrier:set())
      local subject = { calls = 0 }
      barrier:wait_async(function(ok)
        subject.calls, subject.told = subject.calls + 1, ok
      end)
      support.wait_until(function()
        stats = session:stats()
        return stats.watches == 1 and stats.in_flight == 0
      end)
      support.zk():delete(path)
      support.wait_until(function() return session:stats().watches == 0 end)
      return subject
    end, function() session:step() end, function(subject)
      support.step_until(session, function() return subject.calls > 0 end)
      session:step()
      assert.same({ calls = 1, told = true }, subject)
    end)
  end)

  -- Nobody leads or campaigns, or runs, and the next one can.
  local function check_free(election)
    assert.is_false(election:resign())
    assert.is_false(election:is_stopping())
    assert(election:campaign(30)):release()
    strikes.check_idle(session)
  end

  it("in campaign leaves nobody leading", function()
    local election = session:election(path)
    at_each_instruction(function() return {} end, function(got)
      got.guard = election:campaign(30)
    end, function(got, through)
      if through then got.guard:release() end
      check_free(election)
    end)
  end)

  it("in resign: a second one finds nothing to do", function()
    local election = session:election(path)
    at_each_instruction(function() return election:campaign(30) end,
      function() return election:resign { wait = true } end,
      function(guard)
        election:resign()
        assert.equal("released", guard:state())
        check_free(election)
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
    end, function() check_free(election) end)
  end)

  it("in run, when its function has failed, leaves nobody leading", function()
    local election = session:election(path)
    at_each_instruction(function() return { heard = 0 } end, function(got)
      return election:run(function() error "ouch" end, {
        backoff = 0.001,
        on_error = function()
          got.heard = got.heard + 1
          if got.heard == 2 then election:stop() end
        end,
      })
    end, function() check_free(election) end)
  end)

  it("in leader leaves no wait", function()
    local election = session:election(path)
    at_each_instruction(function() end, function() return election:leader() end,
      function() check_free(election) end)
  end)

  it("in step does not keep leader(fn) from its turn", function()
    local lock, told = connect():mutex(path), {}
    local ticket = session:election(path):leader(function(leader)
      told[#told + 1] = leader and leader.token or "nobody"
    end)
    support.step_until(session, function() return told[1] end)
    at_each_instruction(function()
      local guard = lock:acquire(30)
      told = {}
      return guard
    end, function()
      repeat
        session:step()
        support.advance(0.001)
      until told[1]
    end, function(guard)
      support.step_until(session, function() return told[1] end)
      guard:release()
      support.step_until(session, function() return told[2] end)
      assert.same({ guard:token(), "nobody" }, told)
      assert.is_true(session:stats().watches <= 1)
    end)
    ticket:cancel()
    strikes.check_idle(session)
  end)

  it("in once leaves nothing held", function()
    at_each_instruction(function() end, function()
      return session:once(path, { per = 0 }, function() end)
    end, function()
      session:mutex(path):acquire(30):release()
      strikes.check_idle(session)
    end)
    support.wait_for_queue(path, 0)
  end)
end)
