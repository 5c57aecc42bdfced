-- Ctrl-C in the waits of barriers and double barriers.  (As interrupt_spec has
-- it for locks; all else: spec/integration.)
local members = require "support.members"
local kinds = require "integration.family.kinds"
local spawn = require "support.child".spawn
local support = require "support"
local connect = support.connect

before_each(function() kinds.start() end)
after_each(support.finish)

describe("A process with barriers", function()
  -- Does its Lua thread sleep?
  local function is_asleep(child)
    local file = assert(io.open(("/proc/%d/stat"):format(child.pid)))
    local state = file:read("*a"):match "%) (%a)"
    file:close()
    return state == "S"
  end

  for name, wait in pairs {
    wait = "barrier:wait()",
    enter = "session:double_barrier(path .. '/alone', 2):enter()",
    leave = "gate:leave()",
  } do
    it("goes on after Ctrl-C in " .. name .. ", and nothing is left", function()
      local path = support.path()
      local other = members.enter(connect(), path .. "/gate", 2)
      local child = spawn(([[
        local path = ...
        local session = assert(zklock.connect(hosts, { session_timeout = 60 }))
        local barrier = session:barrier(path .. "/barrier")
        local gate = session:double_barrier(path .. "/gate", 2)
        assert(barrier:set())
        assert(gate:enter(60))
        say "waiting"
        local ok, problem = pcall(function() return %s end)
        say(ok, tostring(problem):match "interrupted!$" or problem)
        hear()
        say(pcall(gate.leave, gate, 0))
        say(barrier:lift())
        say(barrier:wait())
        session:close()
      ]]):format(wait), path)
      kinds.await(other)
      child:expect "waiting"
      support.wait_until(function() return is_asleep(child) end)
      child:signal "INT"
      child:expect "false\tinterrupted!"
      assert.is_table(support.zk():exists(path .. "/barrier"))
      support.wait_until(function()
        return support.count_watches(path .. "/barrier") == 0
      end)
      kinds.wait_for_nodes(path .. "/alone", 0)
      kinds.wait_for_nodes(path .. "/gate", name == "leave" and 1 or 2)
      child:say()
      if name == "leave" then
        assert.matches("not entered by the calling task", child:hear())
      else
        assert.matches("true\tnil\t.*\ttimeout", child:hear())
      end
      child:expect "true\ttrue"
      child:expect "true"
      members.all_leave { other }
      assert.equal(0, child:wait())
    end)
  end
end)
