-- Ctrl-C in a plain script: the stock interpreters have a handler for SIGINT
-- that sets a hook, and the hook raises "interrupted!".
local each = require "support.each"
local kinds = require "integration.family.kinds"
local members = require "support.members"
local support = require "support"
local spawn = require "support.child".spawn
local start_proxy = require "support.proxy".start

-- What each child begins with: how an interrupted call ends.
local PROLOGUE = [[
  local path = ...
  local function interrupted(fn)
    say "begun"
    local ok, problem = pcall(fn)
    say(ok, tostring(problem):match "interrupted!$" or problem)
  end
  local function count_threads()
    local n = 0
    for _ in require "lfs".dir "/proc/self/task" do n = n + 1 end
    return n
  end
  local function until_true(condition)
    local deadline = zklock.now() + 40
    repeat
      local result = condition()
      if result then return result end
      socket.sleep(0.003)
    until zklock.now() > deadline
    return false
  end
]]

local function start(code, ...) return spawn(PROLOGUE .. code, ...) end

-- Does its Lua thread sleep?
local function is_asleep(child)
  local file = io.open(("/proc/%d/stat"):format(child.pid))
  if not file then return false end
  local state = file:read("*a"):match "%) (%a)"
  file:close()
  return state == "S"
end

local function interrupt_wait(child)
  support.wait_until(function() return is_asleep(child) end, 10, "a wait")
  child:signal "INT"
  child:expect "false\tinterrupted!"
end

local function interrupt(child)
  child:expect "begun"
  interrupt_wait(child)
end

describe("SIGINT", function()
  it("ends each wait for a lock, and the program goes on", function()
    local other = support.connect()
    each({
      { "acquire", "mutex:acquire()" },
      { "acquire with a timeout", "mutex:acquire(60)" },
      { "with_lock", "mutex:with_lock(print)" },
      { "session:with_lock", "session:with_lock(path, print, 60)" },
      { "a multi", "session:multi { mutex }:acquire()" },
      { "a semaphore", "session:semaphore(path .. '/s', 1):acquire()" },
      { "a barrier", "session:barrier(path .. '/s'):wait()" },
      { "a double barrier",
        "session:double_barrier(path .. '/d', 2):enter()" },
    }, function(row)
      local path = support.path()
      local held = assert(other:mutex(path):acquire(30))
      local held_too = assert(other:semaphore(path .. "/s", 1):acquire(30))
      local child = start(([[
        local session = assert(zklock.connect(hosts))
        local mutex = session:mutex(path)
        interrupted(function() return %s end)
        say(until_true(function()
          return session:stats().waiting == 0
            and not require "zklock.wait".any(session._engine.waits.answers)
        end), session:state())
        hear()
        say((mutex:acquire(30):release()))
        say(session:close())
      ]]):format(row[2]), path)
      interrupt(child)
      child:expect "true\tconnected"
      support.wait_for_queue(path, 1)
      kinds.wait_for_nodes(path .. "/s", 1)
      kinds.wait_for_nodes(path .. "/d", 0)
      -- (The session that holds the permit comes to watch its own node.)
      support.wait_until(function()
        return support.count_watches(path .. "/s")
          == support.count_watches(held_too.node)
      end, 5, "no watches but the holder's")
      assert.is_true(held:is_held() and held_too:is_held())
      held:release()
      held_too:release()
      child:say():expect "true":expect "true"
      assert.equal(0, child:wait())
    end, true)
  end)

  it("ends the wait to leave a double barrier, which is left", function()
    local path = support.path()
    local other = members.enter(support.connect(), path, 2)
    local child = start([[
      local gate = assert(zklock.connect(hosts)):double_barrier(path, 2)
      assert(gate:enter(60))
      interrupted(function() return gate:leave() end)
      say(select(2, pcall(gate.leave, gate, 0)))
    ]], path)
    kinds.await(other)
    interrupt(child)
    assert.matches("not entered by the calling task", child:hear())
    kinds.wait_for_nodes(path, 1)
    members.all_leave { other }
    assert.equal(0, child:wait())
  end)

  it("ends the run of an election, in its campaign or pause, for good",
    function()
    each({
      { "campaign", "print" },
      { "pause", "function() say 'failed' error 'ouch' end" },
    }, function(row, name)
      local path = support.path()
      local held = name == "campaign" and support.hold(path)
      local child = start(([[
        local session = assert(zklock.connect(hosts))
        local election = session:election(path)
        interrupted(function()
          return election:run(%s, { backoff = 60, on_error = function() end })
        end)
        say(election:is_stopping(), election:resign(), session:state())
        hear()
        say(election:run(function() election:stop() end))
      ]]):format(row[2]), path)
      child:expect "begun"
      if held then
        support.wait_for_queue(path, 2)
      else
        child:expect "failed"
      end
      interrupt_wait(child)
      child:expect "false\tfalse\tconnected"
      support.wait_for_queue(path, held and 1 or 0)
      if held then held:release() end
      child:say():expect "true"
      assert.equal(0, child:wait())
    end)
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

  -- Nothing passes between these and the servers.
  it("ends the wait for each answer", function()
    local proxy = start_proxy()
    each({
      { "guard:verify()" }, { "session:contenders(path)" },
      { "session:revoke(path)" }, { "session:stat(path)" },
      { "session:stamp(path)" }, { "guard:release { wait = true }" },
    }, function(row)
      local child = start(([[
        local session = assert(zklock.connect((select(2, ...)),
          { session_timeout = 40 }))
        local guard = assert(session:mutex(path):acquire(30))
        say "held"
        hear()
        interrupted(function() return %s end)
        hear()
        say((guard:release()))
        say(require "zklock.wait".any(session._engine.waits.answers))
        say(session:contenders(path)[1])
        say(session:close())
      ]]):format(row[1]), support.path(), proxy.hosts)
      child:expect "held"
      proxy:freeze()
      child:say()
      interrupt(child)
      proxy:heal()
      child:say():expect "true":expect "nil":expect "nil":expect "true"
      assert.equal(0, child:wait())
    end, true)
  end)

  it("ends close, which has begun", function()
    local path, proxy = support.path(), start_proxy()
    local child = start([[
      local before = count_threads()
      local session = assert(zklock.connect((select(2, ...)),
        { session_timeout = 40 }))
      local guard = assert(session:mutex(path):acquire(30))
      say "held"
      hear()
      interrupted(function() session:close() end)
      say(guard:is_held(), session:state(), session:close())
      hear()
      say(until_true(function() return count_threads() == before end))
    ]], path, proxy.hosts)
    child:expect "held"
    proxy:freeze()
    child:say()
    interrupt(child)
    child:expect "false\tclosed\ttrue"
    proxy:heal()
    support.wait_for_queue(path, 0)
    child:say():expect "true"
    assert.equal(0, child:wait())
  end)

  it("ends connect, and nothing of the session is left", function()
    local proxy = start_proxy()
    proxy:freeze()
    local child = start([[
      local before = count_threads()
      collectgarbage "stop"
      interrupted(function()
        return zklock.connect(path, { connect_timeout = 60 })
      end)
      say(until_true(function() return count_threads() == before end))
      local session = assert(zklock.connect(hosts))
      say(session:close())
    ]], proxy.hosts)
    interrupt(child)
    child:expect "true":expect "true"
    assert.equal(0, child:wait())
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
