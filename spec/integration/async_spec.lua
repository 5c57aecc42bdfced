local support = require "support"
local connect, recorder = support.connect, support.recorder

-- (What a callback raises comes out of a step of its own: loop_spec.lua.)
describe("acquire_async", function()
  it("allows its callback to acquire, release and close (T34)", function()
    local session, path, tokens = connect(), support.path(), {}
    session:mutex(path):acquire_async(nil, function(guard)
      tokens[1] = guard:token()
      local inner = session:mutex(support.path()):acquire(30)
      tokens[2] = inner:token()
      inner:release()
      guard:release { wait = true }
      session:mutex(path):acquire_async(nil, function(again)
        tokens[3] = again:token()
        session:close()
      end)
    end)
    support.wait_until(function()
      if session:state() ~= "closed" then session:step() end
      return tokens[3]
    end)
    assert.is_true(tokens[1] < tokens[2] and tokens[2] < tokens[3])
    assert.equal("closed", session:state())
  end)

  it("raises, or logs if there is a log, what a callback raises, and where",
    function()
      local function deep() error "ouch" end
      local lines = {}
      local function note(level, line)
        lines[#lines + 1] = level .. " " .. line
      end
      for _, log in ipairs { false, note } do
        local session, problem = connect { log = log or nil }, nil
        session:mutex(support.path()):acquire_async(nil, function(guard)
          guard:release()
          deep()
          return guard
        end)
        support.wait_until(function()
          local ok, what = pcall(session.step, session)
          problem = not ok and what
            or table.concat(lines, "\n"):match "error an error in a .*ouch.*"
          return problem
        end)
        local _, places = problem:gsub("async_spec.lua:%d+: in ", "")
        assert.is_true(places >= 2, problem)
      end
    end)
end)

it("A ticket is of no use after the grant, nor after close, and may be "
  .. "dropped", function()
  local session, path = connect(), support.path()
  local calls, callback = recorder()
  session:mutex(support.path()):acquire_async(nil, callback)
  support.collect()
  local ticket = session:mutex(path):acquire_async(nil, callback)
  support.step_until(session, function() return calls[2] end)
  ticket:cancel()
  session:step()
  assert.is_true(calls[1][1]:is_held() and calls[2][1]:is_held())
  ticket = connect():mutex(path):acquire_async(nil, callback)
  local waiting = session:mutex(path):acquire_async({ owner = {} },
    callback)
  session:close()
  waiting:cancel()
  ticket:cancel()
  assert.equal(3, #calls)
  assert.equal("closed", calls[3][3])
end)
