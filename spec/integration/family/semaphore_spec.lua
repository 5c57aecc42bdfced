-- Up to so many holders.
local kinds = require "integration.family.kinds"
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, misuse = support.connect, support.misuse
local wait_in, await = kinds.wait_in, kinds.await
local refused = kinds.refused

describe("A semaphore", function()
  local path
  before_each(function() path = support.path() end)

  -- In a session of its own.
  local function semaphore(permits, options)
    return connect(options):semaphore(path, permits or 1)
  end
  local function leases() return #kinds.nodes(path .. "/leases") end

  it("gives one owner a permit for each acquisition", function()
    local mine = semaphore(2)
    local one, two = assert(mine:acquire(30)), assert(mine:acquire(30))
    assert.are_not.equal(one.node, two.node)
    assert.are_not.equal(one:token(), two:token())
    refused("busy", mine:try_acquire())
    assert.is_true(mine:release()) -- the innermost
    assert.is_true(one:is_held())
    assert.is_false(two:is_held())
    assert.is_true(assert(mine:acquire(30)):release())
    assert.is_true(mine:release())
    assert.is_false(one:is_held())
    assert.is_false(pcall(mine.release, mine))
    mine:with_lock(function()
      mine:with_lock(function() refused("busy", mine:try_acquire()) end)
    end)
  end)

  it("never grants more permits than it has to fifty waiters (T11)", function()
    local sessions, waiters, granted = {}, {}, {}
    for i = 1, 10 do sessions[i] = connect() end
    for i = 1, 50 do
      waiters[i] = wait_in(sessions[i % 10 + 1]:semaphore(path, 3), 0)
    end
    await((unpack or table.unpack)(waiters))
    for _, waiter in ipairs(waiters) do
      if waiter.guard then
        granted[#granted + 1] = waiter.guard
      else
        assert.equal("timeout", waiter.code)
      end
    end
    assert.is_true(#granted >= 1 and #granted <= 3, #granted)
    kinds.wait_for_nodes(path, #granted)
    assert.equal(#granted, leases())
    for _, guard in ipairs(granted) do
      assert.is_true(guard:verify())
      guard:release()
    end
  end)

  it("is obeyed by each with its own number of permits", function()
    local narrow, wide = semaphore(1), semaphore(3)
    local one, two, three = narrow:acquire(30), wide:acquire(30),
      wide:acquire(30)
    refused("busy", wide:try_acquire())
    one:release()
    two:release { wait = true }
    refused("busy", narrow:try_acquire())
    assert.is_true(assert(wide:acquire(30)):release())
    three:release { wait = true }
    assert(narrow:acquire(30)):release()
  end)

  it("takes whole numbers of permits from 1 on", function()
    local session = connect()
    for _, bad in ipairs { 0, -1, 1.5, 0 / 0, math.huge, -math.huge, 1e7 } do
      assert.matches("^permits must be a whole number from 1 to 1000000, got ",
        misuse(function() session:semaphore(path, bad) end))
    end
    for _, bad in ipairs { "3", {}, true } do
      assert.equal("permits must be a number, got a " .. type(bad),
        misuse(function() session:semaphore(path, bad) end))
    end
    assert.equal("permits must be a number, got nil",
      misuse(function() session:semaphore(path) end))
    assert.is_table(session:semaphore(path, 1000000))
    assert.is_table(session:semaphore(support.path(), 3.0))
  end)

  -- One is inside the inner mutex and has made its permit, one is at the gate.
  it("deletes the nodes of a wait that ends, at the gate or for a permit (T23)",
    function()
      local holder, proxy = semaphore():acquire(30), start_proxy()
      local function ends(fn, options, inside)
        local waiter = wait_in(semaphore(1, inside), options)
        support.wait_until(function() return leases() == 2 end)
        local behind = kinds.queue_in(semaphore(), path, 0.3)
        refused("timeout", await(behind))
        kinds.wait_for_nodes(path, 3)
        fn(waiter)
        kinds.wait_for_nodes(path, 1)
      end
      ends(function(waiter) waiter.ticket:cancel() end)
      ends(function() end, 2)
      ends(function(waiter) waiter.session:close() end)
      ends(function() proxy:refuse() end, nil,
        { hosts = proxy.hosts, session_timeout = 2 })
      assert.is_true(holder:verify())
      holder:release()
    end)
end)
