-- Processes that stop, end, die and fork.
local each = require "support.each"
local forker = require "support.forker"
local support = require "support"
local spawn = require "support.child".spawn
local connect = support.connect

before_each(support.start)
after_each(support.finish)

describe("A holder that is killed", function()
  it("loses the lock within its session timeout", function()
    local path = support.path()
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 2 }))
      local guard = assert(session:mutex((...)):acquire(30))
      say "held"
      hear()
    ]], path)
    child:expect "held"
    local session = connect()
    local guard
    session:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    support.wait_for_queue(path, 2)
    child:signal "KILL"
    support.step_until(session, function() return guard end)
    assert.equal(137, child:wait())
  end)

  it("while it waits holds nobody up (T45)", function()
    local path = support.path()
    local holder = support.hold(path)
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 1 }))
      say "waiting"
      session:mutex((...)):acquire()
    ]], path)
    child:expect "waiting"
    support.wait_for_queue(path, 2)
    local session, guard = connect(), nil
    session:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    support.wait_for_queue(path, 3)
    child:signal "KILL"
    child:wait()
    holder:release()
    support.step_until(session, function() return guard end)
  end)
end)

describe("A holder that is stopped beyond its session timeout", function()
  it("knows before anything else that it holds no more (T3)", function()
    local path = support.path()
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 2 }))
      local mutex = session:mutex((...))
      local guard = assert(mutex:acquire(30))
      local calls = 0
      guard:on_lost(function() calls = calls + 1 end)
      say("held", guard:is_held())
      hear() -- stopped and continued in here
      local held, lease, state = guard:is_held(), guard:lease(), guard:state()
      say("is_held", held)
      say("lease", lease == 0)
      say("state", state == "suspended" or state == "lost")
      local _, _, code = guard:release()
      say("release", code)
      say("state", guard:state())
      local again = mutex:acquire(10)
      say("again", again:is_held())
      for _ = 1, 20 do session:step() end
      say("calls", calls)
      again:release { wait = true }
      session:close()
    ]], path)
    child:expect "held\ttrue"
    local session = connect()
    local guard
    session:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    support.wait_for_queue(path, 2)
    child:signal "STOP"
    support.step_until(session, function() return guard end, 5)
    child:say "go"
    child:signal "CONT"
    child:expect "is_held\tfalse"
    child:expect "lease\ttrue"
    child:expect "state\ttrue"
    child:expect "release\tlost"
    child:expect "state\tlost"
    assert.is_true(guard:is_held())
    guard:release()
    child:expect "again\ttrue"
    child:expect "calls\t1" -- by the release, before step() could tell
    assert.equal(0, child:wait())
  end)

  it("has its on_lost called, once (T3)", function()
    local path = support.path()
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 1 }))
      local guard = assert(session:mutex((...)):acquire(30))
      local calls, why = 0, nil
      guard:on_lost(function(_, _, reason) calls, why = calls + 1, reason end)
      guard:on_revoke(function() end) -- so that it hears of its node's end
      say "held"
      hear()
      local before = calls
      for _ = 1, 100 do
        session:step()
        socket.sleep(0.01)
      end
      say("calls", before, calls, guard:state())
      local _, _, code = guard:release()
      say(code, why)
      session:close()
    ]], path)
    child:expect "held"
    child:signal "STOP"
    support.wait_for_queue(path, 0)
    child:say "go"
    child:signal "CONT"
    child:expect "calls\t0\t1\tlost"
    child:expect "lost\tsilence"
    assert.equal(0, child:wait())
  end)

  it("for less than its lease goes on holding", function()
    local path = support.path()
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 10 }))
      local guard = assert(session:mutex((...)):acquire(30))
      say(guard.node)
      hear()
      say(guard:is_held())
      say(guard:verify())
      say(guard:release { wait = true })
    ]], path)
    local node = child:hear()
    for _ = 1, 5 do
      child:signal "STOP"
      support.sleep(0.05)
      child:signal "CONT"
    end
    child:say "go"
    child:expect "true"
    child:expect "true"
    child:expect "true"
    assert.is_false(support.zk():exists(node))
  end)

  it("while it waits is granted in the end, with a new node (T9)", function()
    local path = support.path()
    local holder = support.hold(path, { session_timeout = 60 })
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 1 }))
      local guard = assert(session:mutex((...)):acquire(20))
      say(guard:is_held(), guard:verify(), guard.node)
      hear()
      session:close()
    ]], path)
    local old = support.wait_for_queue(path, 2)[2]
    child:signal "STOP"
    support.wait_for_queue(path, 1)
    holder:release { wait = true }
    child:signal "CONT"
    local held, verified, node = child:hear():match("(%S+)\t(%S+)\t(%S+)")
    assert.equal("true", held)
    assert.equal("true", verified)
    assert.are_not.equal(path .. "/" .. old, node)
    assert.is_table(support.zk():exists(node))
    child:say()
    child:wait()
  end)
end)

describe("A process that ends", function()
  it("gives everything back at once, however it ends", function()
    each({
      { "without close", 0, "" },
      { "by os.exit", 0, "os.exit(0)" },
      { "by os.exit, with its status", 3, "os.exit(3)" },
      { "by os.exit after release", 0, "guard:release() os.exit(0)" },
      { "by os.exit after close", 0, "session:close() os.exit(0)" },
      { "by an error", 1, "error 'ouch'" },
      { "by closing its Lua state", 0, "os.exit(0, true)" },
      { "in a coroutine", 0, "coroutine.wrap(function() os.exit(0) end)()" },
    }, function(row)
      local path, status = support.path(), row[2]
      local child = spawn([[
        local path = ...
        local session = assert(zklock.connect(hosts, { session_timeout = 60 }))
        local guard = assert(session:mutex(path):acquire(30))
        local waiter = session:mutex(path .. "/other")
        waiter:acquire_async({ owner = 1 }, function() end)
        waiter:acquire_async({ owner = 2 }, function() end)
        say "held"
        hear()
      ]] .. row[3], path)
      child:expect "held"
      child:say()
      assert.equal(status, child:wait())
      -- at once, not after its session timeout
      support.wait_for_queue(path, 0)
      support.wait_for_queue(path .. "/other", 0)
      if status == 0 then assert.equal("", child:output()) end
    end)
  end)

  it("with many sessions open is quick", function()
    local path = support.path()
    local child = spawn([[
      local keep = {}
      for i = 1, 20 do
        keep[i] = assert(zklock.connect(hosts, { session_timeout = 60 }))
        keep[i]:mutex((...) .. "/" .. i):acquire(30)
      end
      say "held"
    ]], path)
    child:expect "held"
    assert.equal(0, child:wait(5))
    for i = 1, 20 do
      support.wait_for_queue(path .. "/" .. i, 0)
    end
  end)

  it("while no server answers is held up for two seconds at most", function()
    local path = support.path()
    local proxy = require "support.proxy".start()
    local child = spawn([[
      hosts, path = ...
      local session = assert(zklock.connect(hosts, { session_timeout = 4 }))
      local guard = assert(session:mutex(path):acquire(30))
      say "held"
      hear()
      guard:release()
    ]], proxy.hosts, path)
    child:expect "held"
    proxy:freeze()
    child:say()
    assert.equal(0, child:wait(5))
    proxy:heal()
    proxy:cut()
    support.wait_until(function() return #support.zk():queue(path) == 0 end, 8)
  end)
end)

describe("The library's threads #stock", function()
  it("are started by connect, not by require, and take no signal", function()
    spawn([[
      local n = 0
      for name in require "lfs".dir "/proc/self/task" do
        if tonumber(name) then n = n + 1 end
      end
      say(n)
    ]]):expect "1"
    connect():mutex(support.path()):acquire()
    local masks, n = {}, 0
    for name in require "lfs".dir "/proc/self/task" do
      if tonumber(name) and tonumber(name) ~= support.pid() then
        n = n + 1
        for line in io.lines("/proc/self/task/" .. name .. "/status") do
          masks[#masks + 1] = line:match("^SigBlk:%s*(%x+)")
        end
      end
    end
    assert.is_true(n >= 1)
    for _, mask in ipairs(masks) do assert.equal("fffffffe7ffbfeff", mask) end
  end)
end)

describe("After a fork", function()
  it("the child cannot use the parent's session, nor disturb it (T51)",
    function()
      local path = support.path()
      local child = forker.spawn([[
        local unistd = require "posix.unistd"
        local wait = require "posix.sys.wait".wait
        local path = ...
        local session = assert(zklock.connect(hosts, { session_timeout = 5 }))
        local mutex = session:mutex(path)
        local guard = assert(mutex:acquire(30))
        local parent = unistd.getpid()
        local calls = {
          acquire = function() mutex:acquire() end,
          try_acquire = function() mutex:try_acquire() end,
          acquire_async = function() mutex:acquire_async(nil, print) end,
          with_lock = function() mutex:with_lock(print) end,
          release = function() mutex:release() end,
          cancel = function() mutex:cancel() end,
          guard_release = function() guard:release() end,
          verify = function() guard:verify() end,
          state = function() guard:state() end,
          mutex = function() session:mutex "/a" end,
          session_with_lock = function() session:with_lock("/a", print) end,
          on = function() session:on("closed", print) end,
          id = function() session:id() end,
          timeout = function() session:timeout() end,
          session_state = function() session:state() end,
          stats = function() session:stats() end,
          metrics = function() session:metrics() end,
          on_trace = function() session:on_trace(print) end,
          fd = function() session:fd() end,
          step = function() session:step() end,
          close = function() session:close() end,
        }
        local pid = unistd.fork()
        if pid == 0 then
          local text = "zklock: this session belongs to process " .. parent
          for name, call in pairs(calls) do
            local ok, message = pcall(call)
            if ok or not message:find(text, 1, true) then
              say("wrong", name, ok, message)
            end
          end
          say("is_held", guard:is_held(), guard:lease())
          -- its own session works
          local own = assert(zklock.connect(hosts))
          local _, _, code = own:mutex(path):try_acquire()
          say("own", code)
          own:close()
          guard, mutex, session, calls = nil, nil, nil, nil
          collectgarbage()
          collectgarbage()
          os.exit(0)
        end
        local _, how, status = wait(pid)
        say("child", how, status)
        socket.sleep(5.5) -- longer than the session timeout
        say("parent", guard:is_held(), guard:verify())
        say(guard:release { wait = true })
        session:close()
      ]], path)
      child:expect "is_held\tfalse\t0"
      child:expect "own\tbusy"
      child:expect "child\texited\t0"
      child:expect "parent\ttrue\ttrue"
      child:expect "true"
      assert.equal(0, child:wait())
      assert.equal("", child:output())
    end)

  it("the child's os.exit, error and end leave the parent alone", function()
    local path = support.path()
    local child = forker.spawn([[
      local unistd = require "posix.unistd"
      local wait = require "posix.sys.wait".wait
      local session = assert(zklock.connect(hosts, { session_timeout = 60 }))
      local guard = assert(session:mutex((...)):acquire(30))
      guard.pending = session:mutex((...) .. "/b"):acquire(30)
      local begun = socket.gettime()
      for i = 1, 3 do
        local pid = unistd.fork()
        if pid == 0 then
          if i == 1 then os.exit(0) end
          if i == 2 then os.exit(0, true) end
          return
        end
        wait(pid)
      end
      say("quick", socket.gettime() - begun < 1)
      say(guard:verify())
      session:close()
    ]], path)
    child:expect "quick\ttrue"
    child:expect "true"
    assert.equal(0, child:wait())
  end)
end)
