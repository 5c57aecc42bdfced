-- Processes that stop, end, die and fork.
local each = require "support.each"
local forker = require "support.forker"
local kinds = require "integration.family.kinds"
local support = require "support"
local spawn = require "support.child".spawn
local connect = support.connect
local wait_in, await = kinds.wait_in, kinds.await

describe("A process that", function()
  it("is stuck, in Lua or in C, has its max_hold enforced all the same",
    function()
      local path, children, waiters = support.path(), {}, {}
      for i, stuck in ipairs {
        "while not stop() do end",
        "os.execute 'sleep 4'", -- longer than max_hold
        "socket.sleep(4)", -- longer than max_hold
        "while not stop() do stop(); collectgarbage() end",
      } do
        children[i] = spawn([[
          local session = assert(zklock.connect(hosts,
            { session_timeout = 30 }))
          local mutex, lost = session:mutex((...), { max_hold = 1 }), 0
          local guard = assert(mutex:acquire(30))
          guard:on_lost(function() lost = lost + 1 end)
          say("held")
          hear()
          local begun = zklock.now()
          local function stop() return zklock.now() - begun > 4 end
          ]] .. stuck .. [[
          say(zklock.now())
          say(guard:is_held(), guard:lease(), guard:state(), lost)
          for _ = 1, 10 do session:step() end
          say(lost, (select(3, guard:release())))
          session:close()
        ]], path .. "/" .. i)
        children[i]:expect "held"
        waiters[i] = wait_in(support.connect():mutex(path .. "/" .. i))
      end
      for _, child in ipairs(children) do child:say() end
      await((unpack or table.unpack)(waiters))
      for i, child in ipairs(children) do
        assert.is_true(waiters[i].at < tonumber(child:hear())) -- it was stuck
        child:expect "false\t0\tlost\t0"
        child:expect "1\tlost"
        assert.equal(0, child:wait())
        assert.is_true(waiters[i].guard:verify())
        waiters[i].guard:release()
      end
    end)
end)

describe("A holder that is stopped beyond its session timeout", function()
  it("finds the hold lost before it does anything else (T3)", function()
    local path = support.path()
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 2 }))
      local mutex = session:mutex((...))
      local guard = assert(mutex:acquire(30))
      local calls, told = 0, {}
      guard:on_lost(function() calls = calls + 1 end)
      local other = assert(session:mutex((...) .. "/other"):acquire(30))
      other:on_lost(function(_, reason) told[#told + 1] = reason end)
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
      say("calls", calls, #told, told[1])
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
    -- Of the first by the release, before step() could tell.
    child:expect "calls\t1\t1\tlease_expired"
    assert.equal(0, child:wait())
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
      { "with many sessions", 0, [[
        keep = {}
        for i = 1, 20 do
          keep[i] = assert(zklock.connect(hosts, { session_timeout = 60 }))
            :mutex(path .. "/other"):acquire_async(print)
        end
      ]] },
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
end)

describe("A session's thread #stock", function()
  it("is started by connect, not by require, and takes no signal", function()
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

describe("After a fork #stock", function()
  it("the child cannot use the parent's session, nor disturb it (T51)",
    function()
      local path = support.path()
      local child = forker.spawn([[
        local unistd = require "posix.unistd"
        local wait = require "posix.sys.wait".wait
        local path = ...
        local session = assert(zklock.connect(hosts, { session_timeout = 5 }))
        local mutex = session:mutex(path, { local_turns = 10 })
        local guard = assert(mutex:acquire(30))
        local turns = {}
        for i = 1, 3 do
          mutex:acquire_async({ owner = {} }, function(own, message)
            turns[i] = assert(own, message):turn()
            own:release()
          end)
        end
        local parent = unistd.getpid()
        local arguments = { acquire_async = { print }, with_lock = { print },
          mutex = { "/a" }, on = { "closed", print }, on_trace = { print } }
        local pid = unistd.fork()
        if pid == 0 then
          local text = "zklock: this session belongs to process " .. parent
          for object, names in pairs {
            [mutex] = "acquire try_acquire acquire_async with_lock release "
              .. "cancel",
            [guard] = "release verify state",
            [session] = "mutex on id timeout state stats metrics on_trace fd "
              .. "step close",
          } do
            for name in names:gmatch "%S+" do
              local ok, message = pcall(object[name], object,
                (table.unpack or unpack)(arguments[name] or {}))
              if ok or not message:find(text, 1, true) then
                say("wrong", name, ok, message)
              end
            end
          end
          say("is_held", guard:is_held(), guard:lease())
          -- its own session works
          local own = assert(zklock.connect(hosts))
          local _, _, code = own:mutex(path):try_acquire()
          say("own", code)
          own:close()
          guard, mutex, session = nil, nil, nil
          collectgarbage()
          collectgarbage()
          os.exit(0)
        end
        local _, how, status = wait(pid)
        say("child", how, status)
        socket.sleep(5.5) -- longer than the session timeout
        say("parent", guard:is_held(), guard:verify())
        say((guard:release()))
        while not turns[3] do session:step() end
        say((unpack or table.unpack)(turns))
        session:close()
      ]], path)
      child:expect "is_held\tfalse\t0"
      child:expect "own\tbusy"
      child:expect "child\texited\t0"
      child:expect "parent\ttrue\ttrue"
      child:expect "true"
      child:expect "1\t2\t3"
      assert.equal(0, child:wait())
      assert.equal("", child:output())
    end)
end)
