-- What links to virtual servers do for the stories of make explore alone. (The
-- rest of their faults and traps: spec/integration, which stands on them.)
local raw = require "support.raw"
local start_proxy = require "support.proxy".start
local support = require "support"
local virtual = require "zklock.virtual"

describe("A link to a virtual server", function()
  local proxy, session
  before_each(function()
    proxy = start_proxy()
    session = support.connect { hosts = proxy.hosts, session_timeout = 6 }
  end)

  it("that is half open is closed for the server alone", function()
    local id = session:id():gsub("^0x0*", "")
    local function is_served()
      return raw.word(support.hosts, "cons"):find(id, 1, true) ~= nil
    end
    assert.is_true(is_served())
    proxy:half_open()
    support.advance(0.5)
    session:step()
    assert.same({ false, "connected" }, { is_served(), session:state() })
    support.until_state(session, "connected", { reconnects = 1 })
    assert.is_true(is_served())
  end)

  -- How many connections there have been, soon after `fault`.
  local function breaks(fault, ...)
    fault(proxy, ...)
    session:mutex(support.path()):acquire_async(nil, function() end)
    support.advance(0.1)
    proxy:heal()
    support.advance(0.5)
    session:step()
    return (virtual.link_visits(proxy.hosts))
  end

  it("that has dropped requests breaks when it is healed", function()
    assert.equal(2, breaks(proxy.drop, "requests"))
  end)

  -- (No request is under way, whose reply the client would miss.)
  it("that has dropped an event breaks when it is healed", function()
    local path, guard = support.path(), nil
    local holder = support.connect():mutex(path):acquire(1)
    session:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    support.wait_for_queue(path, 2)
    support.advance(0.3)
    session:step()
    proxy:drop "replies"
    holder:release { wait = true }
    support.advance(0.05)
    proxy:heal()
    support.step_until(session, function() return guard end)
    assert.equal(2, (virtual.link_visits(proxy.hosts)))
  end)

  it("breaks after the reply that is to be the last", function()
    assert.equal(2, breaks(proxy.cut_after_reply, "create"))
  end)

  it("breaks at the nth message, unless the trap is disarmed", function()
    for n, code in pairs { "disconnected", "disconnected", false } do
      virtual.link_cut_at(proxy.hosts, n)
      local stat, _, why = session:stat "/" -- two requests
      assert.same({ code or nil, not code }, { why, stat ~= nil })
      support.until_state(session, "connected")
      proxy:disarm()
      assert.is_table(session:stat "/")
    end
  end)
end)
