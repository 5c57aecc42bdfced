-- Tests of code that uses locks, for busted: without ZooKeeper and without waiting.
--
--     busted --lua=lua5.4 examples/testing_spec.lua
--
-- The servers run in this process, and the tests move the clock.  An hour takes
-- some milliseconds.  doc/cookbook.md explains how to begin.
local testing = require "zklock.testing" -- before zklock and your code
local zklock = require "zklock"

-- The code under test: a worker writes the parts of a report, as long as it
-- holds the lock of the report.
local worker = {}

function worker.run(session, parts, write)
  local guard, message, code = session:mutex "/locks/report":acquire(60)
  if not guard then return nil, message, code end
  local lost = false
  guard:on_lost(function(_, why) lost = why end)
  for _, part in ipairs(parts) do
    if not guard:is_held() then break end
    write(part)
  end
  local ok, why = guard:release()
  return ok, why, lost
end

describe("A worker", function()
  local server, session, written

  before_each(function()
    server = testing.server()
    session = assert(zklock.connect(server.hosts))
    written = {}
  end)
  after_each(testing.reset)

  -- Each part takes so many seconds.
  local function takes(seconds)
    return function(part)
      written[#written + 1] = part
      testing.advance(seconds)
    end
  end

  it("waits while another client holds the lock", function()
    server:hold("/locks/report", { seconds = 30 })
    local begun = testing.now()
    assert.is_true(worker.run(session, { 1, 2 }, takes(1)))
    assert.is_true(testing.now() - begun >= 30 + 2)
    assert.same({ 1, 2 }, written)
  end)

  it("gives up after a minute", function()
    local other = server:hold "/locks/report"
    local ok, _, code = worker.run(session, { 1, 2 }, takes(1))
    assert.is_nil(ok)
    assert.equal("timeout", code)
    assert.same({}, written)
    assert.is_true(other:is_held())
  end)

  it("stops when its session expires in the middle of the work", function()
    testing.after(15, function() server:expire(session) end)
    local ok, _, lost = worker.run(session, { 1, 2, 3, 4 }, takes(10))
    assert.is_nil(ok)
    assert.equal("session_closed", lost) -- on_lost was called
    assert.same({ 1, 2 }, written)
  end)

  it("goes on after a short disconnection", function()
    testing.after(5, function() server:disconnect(session) end)
    testing.after(7, function() server:reconnect(session) end)
    assert.is_true(worker.run(session, { 1, 2, 3 }, takes(10)))
    assert.same({ 1, 2, 3 }, written)
  end)

  it("stops after a long one, before the next client has the lock", function()
    local next_client
    testing.after(5, function()
      server:silence(session)
      next_client = server:contend "/locks/report"
    end)
    local ok, _, lost = worker.run(session, { 1, 2, 3, 4 }, takes(4))
    assert.is_nil(ok)
    assert.equal("lease_expired", lost)
    assert.same({ 1, 2, 3 }, written)
    assert.is_false(next_client:is_held())
    testing.advance(20)
    assert.is_true(next_client:is_held())
  end)
end)

describe("A hold with a limit", function()
  after_each(testing.reset)

  it("ends by itself: on_lost is called", function()
    local server = testing.server()
    local session = assert(zklock.connect(server.hosts))
    local guard = assert(session:mutex "/locks/job":acquire { max_hold = 600 })
    local reason
    guard:on_lost(function(_, why) reason = why end)
    testing.advance(599)
    assert.is_true(guard:is_held())
    testing.advance(2)
    assert.is_false(guard:is_held())
    assert.equal("max_hold_reached", reason)
  end)
end)
