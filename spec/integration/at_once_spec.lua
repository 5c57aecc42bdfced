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

  -- What does not wait.  (Locks of each kind: family/contract_spec.lua.)
  local function calls_of(member)
    local barrier = session:barrier(path .. "/b")
    local gate = session:double_barrier(path .. "/d", 2)
    local election = session:election(path .. "/e")
    return {
      with_lock = function()
        return session:with_lock(path .. "/w", 0, error)
      end,
      wait = function() return barrier:wait(0) end,
      enter = function() return gate:enter { timeout = 0 } end,
      campaign = function() return election:campaign { timeout = 0 } end,
      once = function()
        return session:once(path .. "/o", { per = 1, timeout = 0 }, error)
      end,
      leave = function() return member:leave(0) end,
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
    assert(calls.campaign()):release()
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
