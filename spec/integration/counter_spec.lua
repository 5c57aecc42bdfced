-- A directory's counter is an int32 that the server lets stick at its largest
-- value: nodes share numbers then, and creates in one batch get negative ones
-- (ZOOKEEPER-3249).
local kinds = require "integration.family.kinds"
local start_server = require "support.server".start
local raw = require "support.raw"
local snapshot = require "support.snapshot"
local support = require "support"

local END = 2 ^ 31 - 1

describe("The end of a directory's counter (T10) #once #slow", function()
  local server
  local left = { 70000, 65540, 2, 0 } -- so many numbers, in a path for each
  local paths, crowded, somebodys, of_kind = {}, nil, nil, {}

  local function connect()
    return support.connect { hosts = server.hosts, session_timeout = 10 }
  end

  -- Made by a lock.
  local function made(lock)
    assert(lock:acquire(30)):release { wait = true }
  end

  setup(function()
    server = start_server(1)
    support.start()
    local session, counters = connect(), {}
    for i, n in ipairs(left) do
      paths[i] = support.path()
      made(session:mutex(paths[i]))
      counters[paths[i]] = END - n
    end
    crowded = support.path()
    made(session:mutex(crowded))
    counters[crowded] = END - 65536
    somebodys = support.path()
    local zk = raw.connect(server.hosts)
    zk:make(somebodys, { data = "mine" })
    zk:close()
    counters[somebodys] = END - 10
    for _, kind in ipairs(kinds.all) do
      local path = support.path()
      of_kind[kind.name] = path
      made(kind.make(session, path))
      if kind.name == "semaphore" then
        counters[path .. "/locks"] = END
        path = path .. "/leases"
      elseif kind.name == "multi" then
        path = path .. "/a"
      end
      counters[path] = END
    end
    session:close()
    support.finish()
    snapshot.set_counters(server, counters)
  end)
  teardown(function() server:stop() end)
  before_each(support.start)
  after_each(support.finish)

  local function number_of(node)
    return tonumber(node:match "%-(%-?%d+)$")
  end

  for i, n in ipairs(left) do
    it(("never gives two the lock, and counts from 0 again: %d to go")
      :format(n), function()
      local path, sessions, numbers = paths[i], {}, {}
      local inside, most, grants, last = 0, 0, 0, ""
      for s = 1, 4 do
        local session = connect()
        sessions[s] = session
        for _ = 1, 5 do -- in one batch, and one by one
          local mutex = session:mutex(path, { reentrant = false })
          local function again(turns)
            mutex:acquire_async({ timeout = 30, owner = {} },
              function(guard, message)
                assert(guard, message)
                assert.is_true(guard:token() > last)
                last = guard:token()
                numbers[#numbers + 1] = number_of(guard.node)
                inside, grants = inside + 1, grants + 1
                most = math.max(most, inside)
                inside = inside - 1
                guard:release()
                if turns > 1 then again(turns - 1) end
              end)
          end
          again(4)
        end
      end
      support.wait_until(function()
        for _, session in ipairs(sessions) do session:step() end
        return grants == 80
      end, 30)
      assert.equal(1, most)
      for _, number in ipairs(numbers) do
        assert.is_true(number >= 0 and number < END - 65534, number)
      end
      if n < 65535 then assert.is_true(numbers[80] < 1000) end
    end)
  end

  it("is waited for while somebody is inside; busy to who does not wait",
    function()
      local path = crowded
      local holder, other = connect(), connect()
      local guard = assert(holder:mutex(path):acquire(30))
      assert.equal(END - 65536, number_of(guard.node))
      local mutex = other:mutex(path)
      local _, _, code = mutex:acquire(0.5)
      assert.equal("timeout", code)
      _, _, code = mutex:try_acquire()
      assert.equal("busy", code)
      _, _, code = holder:mutex(path):try_acquire { owner = {} }
      assert.equal("busy", code)
      local mine
      mutex:acquire_async(10, function(granted) mine = granted end)
      support.sleep(0.3)
      other:step()
      assert.is_nil(mine)
      assert.is_true(guard:verify())
      assert.is_true(guard:release())
      support.step_until(other, function() return mine end)
      assert.equal(0, number_of(mine.node))
      assert.is_true(mine:release { wait = true })
      assert(mutex:try_acquire()):release { wait = true }
    end)

  it("is invalid in a directory that carries somebody's data", function()
    local _, message, code = connect():mutex(somebodys):acquire(30)
    assert.equal("invalid", code)
    assert.is_truthy(message:find("counter", 1, true), message)
  end)

  kinds.each(it, "is not met by a user at all", function(kind)
    local lock = kind.make(connect(), of_kind[kind.name])
    for _ = 1, 3 do
      local guard = assert(lock:acquire(10))
      assert.is_true(guard:verify())
      assert.is_true(guard:release { wait = true })
    end
  end)
end)
