-- What users hold has the methods that they are told of, and no others; the
-- state of a session is written in one place.
local State = require "zklock.state"
local scripted = require "support.scripted_core"

local library = scripted.load()

-- The methods of an object, in alphabetical order.
local function methods_of(object)
  local names = {}
  for name, value in pairs(getmetatable(object)) do
    if type(value) == "function" and not name:find "^__" then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return table.concat(names, " ")
end

describe("The methods of #layer", function()
  local script, session
  before_each(function()
    script = scripted.new()
    script.on_wait = function() script:enter "connected" end
    session = library.connect("host:1", { loop = "poll" })
    script.on_wait = function()
      script:grant(script.claims[#script.claims])
    end
  end)

  local of_lock = "acquire acquire_async cancel holders release try_acquire "
    .. "with_lock"
  local of_guard = "is_held lease on_lost on_revoke reason release state "
    .. "token token_number turn verify"

  it("a session are public", function()
    assert.equal("barrier children close contenders double_barrier election "
      .. "evict fd id metrics multi mutex on on_trace once revoke rwlock "
      .. "semaphore stamp stat state stats step timeout with_lock",
      methods_of(session))
  end)

  it("a lock, its guard and its ticket are public", function()
    local lock = session:mutex "/a"
    assert.equal(of_lock, methods_of(lock))
    assert.equal(of_guard, methods_of(lock:acquire()))
    assert.equal("cancel", methods_of(session:mutex("/b"):acquire_async(print)))
  end)

  it("a multi, its guard and its ticket are public", function()
    local lock = session:multi { session:mutex "/a" }
    assert.equal(of_lock, methods_of(lock))
    assert.equal((of_guard:gsub("token token_number turn", "tokens")),
      methods_of(lock:acquire()))
    assert.equal("cancel", methods_of(lock:acquire_async(print)))
  end)
end)

describe("The methods of #layer what is built on locks,", function()
  local session
  before_each(function()
    local script = scripted.new()
    script.on_wait = function() script:enter "connected" end
    session = library.connect("host:1", { loop = "poll" })
  end)

  it("an election, are public", function()
    assert.equal("campaign campaign_async cancel is_stopping leader resign run "
      .. "stop", methods_of(session:election "/a"))
  end)

  it("a barrier, are public", function()
    assert.equal("cancel is_set lift set wait wait_async",
      methods_of(session:barrier "/a"))
  end)

  it("a double barrier, are public", function()
    assert.equal("cancel enter enter_async leave leave_async",
      methods_of(session:double_barrier("/a", 2)))
  end)
end)

describe("The state of a session", function()
  local function after(...)
    local state = State.new()
    for _, name in ipairs { ... } do assert.is_true(state:enter(name)) end
    return state
  end

  it("goes on until it is closed, and then to its end", function()
    local state = after("failed", "connected", "suspended", "expired", "failed",
      "connected", "closed", "closed", "ended", "left", "left")
    assert.is_true(state.is.left)
    for _, name in ipairs { "connected", "expired", "closed", "ended" } do
      assert.is_false(state:enter(name))
    end
    assert.equal("left", state.is.name)
  end)

  it("does not end before it is closed", function()
    for _, name in ipairs { "connected", "suspended", "expired", "failed" } do
      local state = after(name)
      assert.is_false(state.is.closed)
      assert.is_false(state:enter "ended")
      assert.is_false(state:enter "left")
      assert.is_true(state:enter "closed")
      assert.is_true(state.is.closed)
      assert.is_false(state.is.left)
    end
  end)

  it("has a reason only while there is no first connection", function()
    local state = after()
    assert.is_false(state:is_decided())
    assert.is_true(state:enter("failed", "auth"))
    assert.is_true(state:is_decided())
    assert.equal("auth", state.code)
    assert.is_true(state:enter "connected")
    assert.is_false(state.code)
    assert.is_false(state:may_enter "failed")
  end)

  it("tells a reconnection from a new ZooKeeper session", function()
    assert.is_false(after():is_same_session())
    assert.is_true(after("connected"):is_same_session())
    assert.is_true(after("connected", "suspended"):is_same_session())
    assert.is_false(after("connected", "expired"):is_same_session())
    assert.is_false(after("connected", "expired", "failed"):is_same_session())
  end)
end)
