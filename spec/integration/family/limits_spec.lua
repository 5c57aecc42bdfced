-- Holds that end by themselves: max_hold, and lose_on_suspend = false.
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect
local wait_in, await = kinds.wait_in, kinds.await

local path
before_each(function() path = support.path() end)

-- When the guard is held no more, to the millisecond; no callback is called.
local function end_of(guard)
  while guard:is_held() do support.advance(0.001) end
  return support.now()
end

local function is_about(expected, moment)
  assert.is_true(moment >= expected and moment < expected + 0.005,
    moment - expected)
end

describe("max_hold", function()
  it("counts from the grant, not from the call", function()
    local holder = support.hold(path)
    local waiter = wait_in(connect():mutex(path, { max_hold = 30 }))
    support.advance(40)
    local begun = support.now()
    holder:release()
    is_about(begun + 30, end_of(await(waiter)))
    waiter.guard:release()
  end)

  it("of acquire goes before that of the lock, and none outlives its hold",
    function()
      local mutex = connect():mutex(path, { max_hold = 1 })
      mutex:acquire(30):release()
      for _, max_hold in ipairs { 90, math.huge } do
        local guard = mutex:acquire { max_hold = max_hold, timeout = 5 }
        support.advance(80)
        assert.is_true(guard:verify())
        assert.is_true(guard:lease() > 1)
        guard:release()
      end
    end)

  it("is not begun anew by reentry", function()
    local mutex = connect():mutex(path, { max_hold = 4 })
    local begun = support.now()
    local guard = mutex:acquire(30)
    support.advance(3)
    local again = mutex:acquire(30)
    is_about(begun + 4, end_of(again))
    kinds.refused("lost", mutex:acquire(30))
    again:release()
    kinds.refused("lost", mutex:acquire(30)) -- as long as one is left
    guard:release()
    mutex:acquire(30):release()
  end)

  it("may be nothing at all", function()
    local guard = connect():mutex(path):acquire { max_hold = 0, timeout = 5 }
    assert.is_false(guard:is_held())
    guard:release()
    kinds.wait_for_nodes(path, 0)
  end)
end)
