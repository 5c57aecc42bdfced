-- A timeout of 0: one flight to a server, and no wait for a connection.
local start_proxy = require "support.proxy".start
local support = require "support"
local connect = support.connect

describe("A timeout of 0", function()
  local session, proxy, path

  before_each(function()
    path, proxy = support.path(), start_proxy()
    session = connect { hosts = proxy.hosts, session_timeout = 30 }
  end)

  -- What does not wait; each in a form that does not, and one that does.
  local function calls_of(member)
    local mutex = session:mutex(path .. "/m", { handoffs = 3 })
    local unfair = session:mutex(path .. "/u", { fair = false })
    local sides, none = session:rwlock(path .. "/r"), { timeout = 0 }
    local multi = session:multi { mutex }
    local permits = session:semaphore(path .. "/s", 2)
    local barrier = session:barrier(path .. "/b")
    local gate = session:double_barrier(path .. "/d", 2)
    local election = session:election(path .. "/e")
    return {
      acquire = function() return mutex:acquire(0) end,
      try_acquire = function() return mutex:try_acquire() end,
      with_lock = function() return mutex:with_lock(error, none) end,
      ["session:with_lock"] = function()
        return session:with_lock(path .. "/w", error, 0)
      end,
      unfair = function() return unfair:acquire(0) end,
      write = function() return sides.write:acquire(0) end,
      read = function() return sides.read:acquire(0) end,
      permit = function() return permits:acquire(0) end,
      multi = function() return multi:acquire(0) end,
      ["multi:try_acquire"] = function() return multi:try_acquire() end,
      wait = function() return barrier:wait(0) end,
      enter = function() return gate:enter(none) end,
      campaign = function() return election:campaign(none) end,
      once = function()
        return session:once(path .. "/o", { per = 1, timeout = 0 }, error)
      end,
      leave = member and function() return member:leave(0) end,
    }
  end

  it("says disconnected at once where the connection is lost", function()
    local member = session:double_barrier(path .. "/alone", 1)
    assert(member:enter(30))
    local calls = calls_of(member)
    proxy:refuse()
    support.until_state(session, "suspended")
    local begun = support.now()
    for name, call in pairs(calls) do
      local result, message, code = call()
      assert.same({ nil, "disconnected" }, { result, code }, name)
      assert.matches("^zklock: no server of ", message, name)
    end
    assert.is_true(support.now() - begun < 0.1)
    proxy:heal()
    support.until_state(session, "connected")
    assert(calls.acquire()):release()
    assert.is_true(calls.wait())
  end)

  it("says so when the connection is lost before the answer", function()
    local codes = {}
    local function note(name)
      return function(_, _, code) codes[#codes + 1] = name .. " " .. code end
    end
    proxy:freeze()
    session:mutex(path .. "/m"):acquire_async(0, note "acquire")
    session:barrier(path .. "/b"):wait_async(0, note "wait")
    session:election(path .. "/e"):campaign_async(0, note "campaign")
    session:double_barrier(path .. "/d", 2):enter_async(0, note "enter")
    session:step()
    assert.same({}, codes)
    local begun = support.now()
    proxy:refuse()
    support.step_until(session, function() return #codes == 4 end)
    assert.is_true(support.now() - begun < 0.1)
    table.sort(codes)
    assert.same({ "acquire disconnected", "campaign disconnected",
      "enter disconnected", "wait disconnected" }, codes)
    proxy:heal()
  end)
end)
