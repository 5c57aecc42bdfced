-- A timeout of 0: one flight to a server, and no wait for a connection.
local start_proxy = require "support.proxy".start
local support = require "support"
local connect = support.connect

describe("A timeout of 0", function()
  before_each(support.start)
  after_each(support.finish)

  local session, proxy, path, begun
  before_each(function()
    path = support.path()
    proxy = start_proxy()
    session = connect { hosts = proxy.hosts, session_timeout = 30 }
    begun = support.now()
  end)

  -- (Whatever waits for a connection, or an answer, does so for that long.)
  local function is_at_once()
    return support.now() - begun < session:timeout()
  end

  local function until_suspended()
    support.until_state(session, "suspended")
  end

  -- What does not wait; each in a form that does not, and one that does.
  local function calls_of(member)
    local mutex = session:mutex(path .. "/m", { handoffs = 3 })
    local sides, none = session:rwlock(path .. "/r"), { timeout = 0 }
    return {
      acquire = function() return mutex:acquire(0) end,
      try_acquire = function() return mutex:try_acquire() end,
      with_lock = function() return mutex:with_lock(error, none) end,
      ["session:with_lock"] = function()
        return session:with_lock(path .. "/w", error, 0)
      end,
      unfair = function()
        return session:mutex(path .. "/u", { fair = false }):acquire(0)
      end,
      write = function() return sides.write:acquire(0) end,
      read = function() return sides.read:acquire(0) end,
      permit = function()
        return session:semaphore(path .. "/s", 2):acquire(0)
      end,
      multi = function() return session:multi { mutex }:acquire(0) end,
      ["multi:try_acquire"] = function()
        return session:multi { mutex }:try_acquire()
      end,
      wait = function() return session:barrier(path .. "/b"):wait(0) end,
      enter = function()
        return session:double_barrier(path .. "/d", 2):enter(none)
      end,
      campaign = function()
        return session:election(path .. "/e"):campaign(none)
      end,
      once = function()
        return session:once(path .. "/o", { per = 1, timeout = 0 }, error)
      end,
      leave = member and function() return member:leave(0) end,
    }
  end

  it("says disconnected at once where the connection is lost", function()
    local member = session:double_barrier(path .. "/alone", 1)
    assert(member:enter(30))
    proxy:refuse()
    until_suspended()
    for name, call in pairs(calls_of(member)) do
      local result, message, code = call()
      assert.is_nil(result, name)
      assert.equal("disconnected", code, name)
      assert.matches("^zklock: no server of ", message, name)
    end
    assert.is_true(is_at_once())
    proxy:heal()
    support.until_state(session, "connected")
    assert(session:mutex(path .. "/m", { handoffs = 3 }):acquire(0)):release()
    assert.is_true(session:barrier(path .. "/b"):wait(0))
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
    proxy:refuse()
    support.step_until(session, function() return #codes == 4 end, 60)
    table.sort(codes)
    assert.same({ "acquire disconnected", "campaign disconnected",
      "enter disconnected", "wait disconnected" }, codes)
    assert.is_true(is_at_once())
    proxy:heal()
  end)

  it("takes what is free, and says what is not, in one flight", function()
    local other = connect()
    local held = assert(other:mutex(path .. "/m"):acquire(30))
    assert(other:barrier(path .. "/b"):set())
    local calls = calls_of()
    assert.equal("timeout", select(3, calls.acquire()))
    assert.equal("busy", select(3, calls.try_acquire()))
    assert.equal("timeout", select(3, calls.wait()))
    assert.equal("timeout", select(3, calls.enter()))
    held:release { wait = true }
    for _, name in ipairs { "acquire", "unfair", "write", "permit",
      "campaign" } do
      assert(calls[name]()):release()
    end
  end)
end)
