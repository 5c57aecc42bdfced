-- A hook may raise between any two instructions of ours (strikes.lua): in
-- elections, in once.
local strikes = require "support.strikes"
local support = require "support"
local at_each_instruction, connect = strikes.at_each_instruction,
  strikes.connect

local path, session, election

-- Nobody leads or campaigns, or runs, and the next one can.
local function check_free()
  assert.is_false(election:resign())
  assert.is_false(election:is_stopping())
  local guard = assert(election:campaign(30))
  guard:release()
  strikes.check_idle(session)
end

describe("A hook that raises", function()
  before_each(function()
    support.start()
    path, session = support.path(), connect()
    election = session:election(path)
  end)
  after_each(support.finish)

  it("in campaign leaves nobody leading", function()
    at_each_instruction(function() return {} end, function(got)
      got.guard = election:campaign(30)
    end, function(got, through)
      if through then got.guard:release() end
      if support.is_51 and not through then election:resign() end
      check_free()
    end)
    support.wait_for_queue(path, 0)
  end)

  it("in resign: a second one finds nothing to do", function()
    at_each_instruction(function() return election:campaign(30) end,
      function() return election:resign { wait = true } end,
      function(guard)
        election:resign()
        assert.equal("released", guard:state())
        check_free()
      end)
  end)

  it("in run leaves nobody leading, and comes out", function()
    at_each_instruction(function() return { calls = 0 } end, function(got)
      return election:run(function(guard)
        assert(guard:is_held())
        got.calls = got.calls + 1
        if got.calls == 2 then election:stop() end
      end)
    end, function(_, through)
      if support.is_51 and not through then election:resign() end
      check_free()
    end)
    support.wait_for_queue(path, 0)
  end)

  it("in run, when its function has failed, leaves nobody leading", function()
    at_each_instruction(function() return { heard = 0 } end, function(got)
      return election:run(function() error "ouch" end, {
        backoff = 0.001,
        on_error = function()
          got.heard = got.heard + 1
          if got.heard == 2 then election:stop() end
        end,
      })
    end, function() check_free() end)
  end)

  it("in leader leaves no wait", function()
    at_each_instruction(function() end, function() return election:leader() end,
      check_free)
  end)

  it("in step does not keep leader(fn) from its turn", function()
    local other = connect()
    local lock = other:mutex(path)
    local told = {}
    local ticket = election:leader(function(leader)
      told[#told + 1] = leader and leader.token or "nobody"
    end)
    support.step_until(session, function() return told[1] end)
    at_each_instruction(function()
      local guard = lock:acquire(30)
      told = {}
      return guard
    end, function(guard)
      local deadline = support.now() + 0.02
      repeat session:step() until told[1] or support.now() > deadline
      return guard
    end, function(guard)
      support.step_until(session, function() return told[1] end)
      assert.same({ guard:token() }, told)
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
      return session:once(path .. "-o", { per = 0 }, function() end)
    end, function()
      session:mutex(path .. "-o"):acquire(30):release()
      strikes.check_idle(session)
    end)
    support.wait_for_queue(path .. "-o", 0)
  end)
end)
