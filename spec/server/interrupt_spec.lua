-- Ctrl-C in a plain script: the stock interpreters have a handler for SIGINT
-- that sets a hook, and the hook raises "interrupted!".  (What that leaves of
-- each call: integration/hook_spec.lua.)
local find = require "support.files".find
local support = require "support"
local spawn = require "support.child".spawn

-- What each child begins with: how an interrupted call ends.
local PROLOGUE = [[
  local path = ...
  local function interrupted(fn)
    say "begun"
    local ok, problem = pcall(fn)
    say(ok, tostring(problem):match "interrupted!$" or problem)
  end
]]

local function start(code, ...) return spawn(PROLOGUE .. code, ...) end

-- Does its Lua thread sleep?
local function is_asleep(child)
  return find(("/proc/%d/stat"):format(child.pid)):match "%) (%a)" == "S"
end

local function interrupt(child)
  child:expect "begun"
  support.wait_until(function() return is_asleep(child) end, 10, "a wait")
  child:signal "INT"
  child:expect "false\tinterrupted!"
end

describe("SIGINT", function()
  it("ends a wait for a lock, and the program goes on", function()
    local path = support.path()
    local held = support.hold(path)
    local child = start([[
      local session = assert(zklock.connect(hosts))
      local mutex = session:mutex(path)
      interrupted(function() return mutex:acquire() end)
      say(session:state())
      hear()
      say((mutex:acquire(30):release()))
      say(session:close())
    ]], path)
    interrupt(child)
    child:expect "connected"
    support.wait_for_queue(path, 1)
    assert.is_true(held:is_held())
    held:release()
    child:say():expect "true":expect "true"
    assert.equal(0, child:wait())
  end)

  it("ends a wait in a program that has long been running", function()
    local path = support.path()
    local child = start([[
      local one = assert(zklock.connect(hosts)):mutex(path)
      local two = assert(zklock.connect(hosts)):mutex(path)
      for _ = 1, 300 do
        local guard = one:acquire()
        two:try_acquire()
        guard:release()
      end
      local guard = one:acquire()
      interrupted(function() while true do two:acquire(0.05) end end)
      say(guard:is_held())
    ]], path)
    support.wait_until(function() return not is_asleep(child) end)
    interrupt(child)
    child:expect "true"
    child:wait()
  end)

  it("leaves the deadline of a wait alone whose hook raises nothing",
    function()
      local path = support.path()
      support.hold(path)
      local child = start([[
        local mutex = assert(zklock.connect(hosts)):mutex(path)
        local calls, begun = 0, zklock.now()
        debug.sethook(function() calls = calls + 1 end, "", 1)
        say "begun"
        local _, _, code = mutex:acquire(3)
        debug.sethook()
        say(code, zklock.now() - begun >= 3, calls < 5000 or calls)
        hear() -- signals that come late
      ]], path)
      child:expect "begun"
      for _ = 1, 20 do
        support.wait_until(function() return is_asleep(child) end)
        child:signal "WINCH"
        child:signal "CONT"
      end
      child:expect "timeout\ttrue\ttrue"
      child:say()
      child:wait()
    end)
end)
