-- A hook that strikes where somebody waits at a barrier, enters or leaves: see
-- strikes.lua.
local strikes = require "support.strikes"
local support = require "support"
local waits = require "zklock.wait"

local at_each_instruction, connect = strikes.at_each_instruction,
  strikes.connect

describe("A hook that raises", function()
  before_each(support.start)
  after_each(support.finish)

  it("in a barrier's methods leaves no wait, and no watch", function()
    local session, path = connect(), support.path()
    local barrier = session:barrier(path)
    barrier:set()
    for _, call in ipairs {
      function() return barrier:wait(0.002) end,
      function() return barrier:wait(0) end,
      function() return barrier:set() end,
      function() return barrier:is_set() end,
      function() return session:barrier(path .. "/other"):lift() end,
    } do
      at_each_instruction(function() end, call, function()
        assert.is_nil(waits.any(session._engine.waits.answers))
      end)
    end
    support.wait_until(function() return session:stats().watches == 0 end)
    assert.equal(0, support.count_watches(path))
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
      local session, path = connect(), support.path()
      local gate = session:double_barrier(path, 1)
      at_each_instruction(function()
        local got = {}
        if name ~= "enter" then got.guard = assert(gate:enter(30)) end
        return got
      end, function(got) move(gate, got) end, function(got, through)
        if name ~= "enter" and through then
          assert.is_true(got.left)
        elseif name ~= "enter" and got.guard:is_held() then
          -- It was struck before it had begun.
          assert.is_true(gate:leave(30))
        elseif through then
          assert.is_true(got.guard:release())
        elseif support.is_51 then
          pcall(gate.leave, gate)
        end
        assert.is_false(pcall(gate.leave, gate))
        support.step_until(session, function()
          local stats = session:stats()
          return stats.holding == 0 and stats.waiting == 0
            and stats.pending_releases == 0
            and not waits.any(session._engine.waits.answers)
            and not next(session._engine.events.due)
        end, 5, "a session as good as new")
      end)
      support.wait_until(function() return session:stats().watches == 0 end)
      assert.equal(0, support.count_watches(path))
    end)
  end

  it("in step does not keep a barrier's callback from its turn", function()
    local session, path = connect(), support.path()
    local barrier = session:barrier(path)
    at_each_instruction(function()
      assert(barrier:set())
      local subject = { calls = 0, told = {} }
      local watches = session:stats().watches
      barrier:wait_async(function(ok)
        subject.calls = subject.calls + 1
        subject.told = ok
      end)
      support.wait_until(function()
        local stats = session:stats()
        return stats.watches > watches and stats.in_flight == 0
      end)
      support.zk():delete(path)
      support.wait_until(function()
        return session:stats().watches == watches
      end)
      return subject
    end, function() session:step() end, function(subject)
      support.step_until(session, function() return subject.calls > 0 end, 2)
      session:step()
      assert.same({ 1, true }, { subject.calls, subject.told })
    end)
  end)
end)
