-- A directory's counter is an int32 that the server lets stick at its largest
-- value: nodes share numbers then, and creates in one batch get negative ones
-- (ZOOKEEPER-3249).
local kinds = require "integration.family.kinds"
local support = require "support"
local virtual = require "zklock.virtual"
local connect = support.connect

local END = 2 ^ 31 - 1

describe("The end of a directory's counter (T10)", function()
  -- Whose next number is so many before the end.
  local function set_left(path, left)
    support.zk():make(path)
    assert(virtual.find(support.hosts):set_counter(path, END - left))
    return path
  end

  it("never gives two the lock, and counts from 0 again", function()
    for _, left in ipairs { 70000, 65540, 2, 0 } do
      local path, sessions, numbers = set_left(support.path(), left), {}, {}
      local held, last = nil, ""
      for s = 1, 4 do
        sessions[s] = connect()
        for _ = 1, 5 do -- in one batch, and one by one
          local mutex = sessions[s]:mutex(path, { reentrant = false })
          local function again(turns)
            mutex:acquire_async({ timeout = 30, owner = {} },
              function(guard, message)
                assert(guard, message)
                assert.is_true(guard:token() > last)
                assert.is_falsy(held and held:is_held())
                held, last = guard, guard:token()
                numbers[#numbers + 1] = tonumber(guard.node:match
                  "%-(%-?%d+)$")
                guard:release()
                if turns > 1 then again(turns - 1) end
              end)
          end
          again(4)
        end
      end
      support.wait_until(function()
        for _, session in ipairs(sessions) do session:step() end
        return #numbers == 80
      end)
      for _, number in ipairs(numbers) do
        assert.is_true(number >= 0 and number < END - 65534, number)
      end
      if left < 65535 then assert.is_true(numbers[80] < 1000) end
    end
  end)

  it("is invalid in a directory that carries somebody's data", function()
    local path = set_left(support.path(), 10)
    support.zk():set(path, "mine")
    assert.matches("counter",
      kinds.refused("invalid", connect():mutex(path):acquire(30)))
  end)

  kinds.each(it, "is not met by a user", function(kind)
    local path = support.path()
    local below = kind.name == "semaphore" and { "/locks", "/leases" }
      or kind.multi and { "/a" } or { "" }
    for _, name in ipairs(below) do set_left(path .. name, 0) end
    local lock = kind.make(connect(), path)
    for _ = 1, 3 do
      local guard = assert(lock:acquire(10))
      assert.is_true(guard:verify())
      assert.is_true(guard:release { wait = true })
    end
  end)
end)
