local support = require "support"
local spawn = require "support.child".spawn
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

before_each(support.start)
after_each(support.finish)

describe("acquire", function()
  it("grants a free lock, in every form of its argument", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local forms = {
      {}, { 30 }, { 0 }, { 30.5 }, { math.huge }, { {} }, { { timeout = 30 } },
      { { timeout = 0 } }, { { timeout = math.huge } }, { { data = "x" } },
      { { max_hold = 30 } }, { { owner = "me" } },
      { { timeout = 30, data = "x", max_hold = 30, owner = {} } },
    }
    for i, form in ipairs(forms) do
      local guard, message, code = mutex:acquire(form[1])
      assert.is_table(guard, i .. ": " .. tostring(message))
      assert.is_nil(message)
      assert.is_nil(code)
      assert.is_true(guard:is_held())
      assert.is_true(guard:release())
    end
  end)

  it("makes one node in ZooKeeper and takes it away again", function()
    local session, path = connect(), support.path()
    local mutex = session:mutex(path)
    assert.is_false(support.zk():exists(path))
    local guard = mutex:acquire()
    local queue = support.zk():queue(path)
    assert.equal(1, #queue)
    assert.equal(path .. "/" .. queue[1], guard.node)
    guard:release { wait = true }
    -- (An empty directory may have vanished already.)
    assert.same({}, support.zk():children(path) or {})
  end)

  it("names its node briefly, and never twice the same", function()
    local session, path = connect(), support.path()
    local seen = {}
    for _ = 1, 5 do
      local guard = session:mutex(path):acquire()
      local mark, number = guard.node:match("/(%w+)%-lock%-(%d+)$")
      assert.equal(6, #mark)
      assert.equal(10, #number)
      assert.is_nil(seen[mark])
      seen[mark] = true
      guard:release { wait = true }
    end
  end)

  it("makes missing parents, which are containers", function()
    local session = connect()
    local path = support.path() .. "/a/b"
    local guard = session:mutex(path):acquire(30)
    guard:release { wait = true }
    -- The server removes empty containers, here at once.
    support.wait_until(function()
      return not support.zk():exists(path:match("^(.*)/a/b$") .. "/a")
    end, 5, "the removal of empty containers")
  end)

  it("works under a parent that somebody made persistent (T55)", function()
    local session, path = connect(), support.path()
    support.zk():make(path)
    local guard = session:mutex(path):acquire(30)
    assert.is_true(guard:is_held())
    guard:release { wait = true }
    support.sleep(0.5) -- a container would be removed
    assert.is_table(support.zk():exists(path))
  end)

  it("is a timeout after the time that it was given", function()
    local path = support.path()
    support.hold(path)
    local mutex = connect():mutex(path)
    for _, seconds in ipairs { 0.15, 0.4 } do
      local begun = support.now()
      local guard, message, code = mutex:acquire(seconds)
      local took = support.now() - begun
      assert.is_nil(guard)
      assert.equal(zklock.errors.timeout, code)
      -- (Whom it has seen by then is another test's.)
      local text = ("zklock: timed out after %s s waiting for %s")
        :format(seconds, path)
      assert.equal(1, message:find(text, 1, true), message)
      assert.is_true(took >= seconds, took)
      assert.is_true(took < seconds + support.slack, took)
    end
  end)

  it("reads well in an assert", function()
    local path = support.path()
    support.hold(path)
    local child = spawn([[
      local session = assert(zklock.connect(hosts))
      assert(session:mutex((...)):acquire(1))
    ]], path)
    assert.equal(1, child:wait())
    assert.equal("zklock: timed out after 1 s waiting for " .. path
      .. " (1 ahead of us", child:output():match("^%S+ %S+:%d+: ([^\n;)]*)"))
  end)

  it("counts those who are ahead", function()
    local path = support.path()
    support.hold(path)
    local waiter = connect()
    waiter:mutex(path):acquire_async(nil, function() end)
    support.wait_for_queue(path, 2)
    local _, message = connect():mutex(path):acquire(1)
    assert.matches("%(2 ahead of us", message)
  end)

  it("of no time grants only what is free at once", function()
    local path = support.path()
    local guard = support.hold(path)
    local mutex = connect():mutex(path)
    local begun = support.now()
    local nothing, message, code = mutex:acquire(0)
    assert.is_nil(nothing)
    assert.equal("timeout", code)
    assert.matches("^zklock: timed out after 0 s waiting for ", message)
    assert.is_true(support.now() - begun < support.slack)
    guard:release { wait = true }
    assert.is_table((mutex:acquire(0)))
  end)

  it("waits for ever without a time, or with an infinite one", function()
    local path = support.path()
    for _, form in ipairs { false, math.huge, { timeout = math.huge }, {} } do
      local guard = support.hold(path)
      local waiter = connect()
      local granted
      waiter:mutex(path):acquire_async(form or nil, function(mine)
        granted = mine
      end)
      support.wait_for_queue(path, 2)
      support.sleep(0.05)
      waiter:step()
      assert.is_nil(granted)
      guard:release()
      support.step_until(waiter, function() return granted end)
      granted:release { wait = true }
    end
  end)

  it("keeps one deadline however often those ahead change (T43)", function()
    local path = support.path()
    support.hold(path)
    local leaver, waiter = connect(), connect()
    local tickets = {}
    for i = 1, 4 do
      tickets[i] = leaver:mutex(path):acquire_async(nil, function() end)
      support.wait_for_queue(path, i + 1)
    end
    local code, took
    local begun = support.now()
    waiter:mutex(path):acquire_async(1.5, function(_, _, why)
      code, took = why, support.now() - begun
    end)
    for i = 4, 1, -1 do
      support.sleep(0.35)
      tickets[i]:cancel()
      leaver:step()
    end
    support.step_until(waiter, function() return code end)
    assert.equal("timeout", code)
    assert.is_true(took >= 1.5 and took < 1.5 + support.slack, took)
  end)

  it("is granted in order of arrival", function()
    local path = support.path()
    local guard = support.hold(path)
    local order, sessions = {}, {}
    for i = 1, 5 do
      sessions[i] = connect()
      sessions[i]:mutex(path):acquire_async(nil, function(mine)
        order[#order + 1] = i
        mine:release()
      end)
      support.wait_for_queue(path, i + 1)
    end
    guard:release()
    support.wait_until(function()
      for i = 1, 5 do sessions[i]:step() end
      return #order == 5
    end)
    assert.same({ 1, 2, 3, 4, 5 }, order)
  end)

  it("keeps its place when one in the middle leaves (T45)", function()
    local path = support.path()
    local guard = support.hold(path)
    local order, sessions, tickets = {}, {}, {}
    for i = 1, 4 do
      sessions[i] = connect()
      tickets[i] = sessions[i]:mutex(path):acquire_async(nil, function(mine)
        if not mine then return end
        order[#order + 1] = i
        mine:release()
      end)
      support.wait_for_queue(path, i + 1)
    end
    tickets[2]:cancel()
    support.wait_for_queue(path, 4)
    guard:release()
    support.wait_until(function()
      for i = 1, 4 do sessions[i]:step() end
      return #order == 3
    end)
    assert.same({ 1, 3, 4 }, order)
  end)

  it("passes from one process to the next", function()
    local path = support.path()
    local code = [[
      local path = ...
      local session = assert(zklock.connect(hosts))
      local guard = assert(session:mutex(path):acquire(10))
      say("held", guard:token())
      hear()
      guard:release()
      say "released"
      session:close()
    ]]
    local a = spawn(code, path)
    local token = a:hear():match("held\t(%d+)")
    local b = spawn(code, path)
    support.wait_for_queue(path, 2)
    a:say()
    a:expect "released"
    local next_token = b:hear():match("held\t(%d+)")
    assert.is_true(next_token > token)
    b:say()
    assert.equal(0, a:wait())
    assert.equal(0, b:wait())
    assert.equal("", a:output() .. b:output())
  end)

  it("takes a reused object a thousand times (T39)", function()
    local mutex = connect():mutex(support.path())
    local last = ""
    for i = 1, 1000 do
      local guard = assert(i % 2 == 0 and mutex:try_acquire()
        or mutex:acquire(i % 3 == 0 and 5 or nil))
      assert.is_true(guard:token() > last)
      last = guard:token()
      assert.is_true(guard:release())
    end
  end)

  it("is misuse with a bad time", function()
    local mutex = connect():mutex(support.path())
    for _, bad in ipairs { -1, -0.001, 0 / 0, -math.huge } do
      assert.matches("^timeout must be a number of seconds, not negative, got ",
        misuse(function() mutex:acquire(bad) end))
      assert.matches("^timeout must be a number of seconds",
        misuse(function() mutex:acquire { timeout = bad } end))
      assert.matches("^option 'max_hold' must be a number of seconds",
        misuse(function() mutex:acquire { max_hold = bad } end))
    end
    assert.equal("timeout must be a number, got a string",
      misuse(function() mutex:acquire { timeout = "5" } end))
    assert.equal("acquire options must be a number or a table, got a string",
      misuse(function() mutex:acquire("5") end))
    assert.equal("acquire options must be a number or a table, got a boolean",
      misuse(function() mutex:acquire(true) end))
  end)

  it("is misuse with an unknown option", function()
    local mutex = connect():mutex(support.path())
    assert.equal('unknown option "timeuot" in acquire options (known: data, '
      .. 'max_hold, owner, timeout)',
      misuse(function() mutex:acquire { timeuot = 5 } end))
    assert.matches("unknown option",
      misuse(function() mutex:acquire { reentrant = true } end))
    assert.matches("unknown option", misuse(function() mutex:acquire { 5 } end))
  end)

  it("is misuse with data that is no string, or too long", function()
    local mutex = connect():mutex(support.path())
    for _, bad in ipairs { 1, {}, true } do
      assert.equal("option 'data' must be a string, got a " .. type(bad),
        misuse(function() mutex:acquire { data = bad } end))
    end
    local long = ("x"):rep(1048577)
    assert.matches("^option 'data' must be at most %d+ bytes, got 1048577$",
      misuse(function() mutex:acquire { data = long } end))
  end)

  it("is misuse with an owner that is no name for anything", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    assert.matches("^option 'owner' must not be NaN",
      misuse(function() mutex:acquire { owner = 0 / 0 } end))
    assert.equal(0, #support.zk():queue(path))
    assert.is_true(mutex:acquire { owner = false }:release())
  end)

  it("leaves nothing behind after any misuse", function()
    local session = connect()
    local path = support.path()
    local mutex = session:mutex(path)
    for _ = 1, 50 do
      pcall(mutex.acquire, mutex, -1)
      pcall(mutex.acquire, mutex, { data = 1 })
      pcall(mutex.try_acquire, mutex, { timeout = 1 })
    end
    assert.is_false(support.zk():exists(path))
  end)
end)

describe("try_acquire", function()
  it("takes a free lock", function()
    local mutex = connect():mutex(support.path())
    local guard, message, code = mutex:try_acquire()
    assert.is_true(guard:is_held())
    assert.is_nil(message)
    assert.is_nil(code)
  end)

  it("says busy when it is taken", function()
    local path = support.path()
    local guard = support.hold(path)
    local mutex = connect():mutex(path)
    local begun = support.now()
    local nothing, message, code = mutex:try_acquire()
    assert.is_nil(nothing)
    assert.equal("busy", code)
    assert.equal("zklock: " .. path .. " is taken", message)
    assert.is_true(support.now() - begun < support.slack)
    guard:release()
    support.wait_for_queue(path, 0)
    assert.is_table((mutex:try_acquire()))
  end)

  it("says busy when others only wait for it", function()
    local path = support.path()
    local zk = support.zk()
    zk:make(path)
    local node = zk:create(path .. "/somebody-lock-",
      { ephemeral = true, sequential = true })
    local _, _, code = connect():mutex(path):try_acquire()
    assert.equal("busy", code)
    zk:delete(node)
  end)

  it("does not find its own node of a moment ago in its way", function()
    local mutex = connect():mutex(support.path())
    for _ = 1, 200 do
      assert.is_true(assert(mutex:try_acquire()):release())
    end
  end)

  it("takes options, but no timeout", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    local guard = mutex:try_acquire { data = "hello", max_hold = 5, owner = 1 }
    assert.equal("hello", (support.zk():get(guard.node)))
    assert.equal("try_acquire takes no timeout",
      misuse(function() mutex:try_acquire { timeout = 1 } end))
    assert.matches("must be a table",
      misuse(function() mutex:try_acquire(30) end))
    assert.matches("unknown option",
      misuse(function() mutex:try_acquire { wait = 5 } end))
  end)
end)

describe("What a contender's node carries", function()
  local function data_of(guard) return (support.zk():get(guard.node)) end

  it("is host:pid", function()
    local guard = connect():mutex(support.path()):acquire()
    assert.matches("^[^:]+:" .. support.pid() .. "$", data_of(guard))
  end)

  it("is the lock's option data, or that of acquire", function()
    local mutex = connect():mutex(support.path(), { data = "of the lock" })
    local guard = mutex:acquire()
    assert.equal("of the lock", data_of(guard))
    guard:release { wait = true }
    guard = mutex:acquire { data = "of the call" }
    assert.equal("of the call", data_of(guard))
  end)

  it("may be empty, binary, and as big as ZooKeeper takes", function()
    local mutex = connect():mutex(support.path())
    for _, data in ipairs { "", "\0\1\255\0", ("x"):rep(1000000) } do
      local guard = assert(mutex:acquire { data = data, timeout = 5 })
      assert.is_true(data == data_of(guard))
      guard:release { wait = true }
    end
  end)
end)
