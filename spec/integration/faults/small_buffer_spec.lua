-- A server whose jute.maxbuffer is smaller than one of our requests: it reads
-- the length and closes the connection, with earlier requests unanswered.
local kinds = require "integration.family.kinds"
local start_hostile = require "support.hostile".start
local support = require "support"
local wait_in, await = kinds.wait_in, kinds.await

local LIMIT, SECONDS, WORKERS = 700, 6, 64
local LARGE = ("l"):rep(1024)

local path, hostile, session
before_each(function()
  path, hostile = support.path(), start_hostile()
  hostile:behave { kind = "pass", largest = LIMIT }
  session = support.connect { hosts = hostile.hosts, session_timeout = 20 }
end)

describe("A server that breaks off at a request", function()
  it("is asked again with growing pauses, and no other request is refused",
    function()
      local holder = assert(session:mutex(path .. "/held"):acquire(30))
      local rounds, goes_on = 0, true
      local function lost() error "a hold was lost" end
      holder:on_lost(lost)
      local large = wait_in(session:mutex(path .. "/large"),
        { data = LARGE, timeout = SECONDS })
      local ends = support.now() + SECONDS
      for i = 1, WORKERS do
        local mutex = session:mutex(path .. "/small-" .. i)
        local function again(guard, ...)
          assert(guard, ...)
          guard:on_lost(lost)
          rounds = rounds + 1
          guard:release()
          if goes_on then mutex:acquire_async(nil, again) end
        end
        mutex:acquire_async(nil, again)
      end
      support.step_until(session, function() return support.now() > ends end)
      local _, _, code = await(large)
      assert.is_true(code == "timeout" or code == "disconnected", code)
      local cuts = session:stats().reconnects
      assert.is_true(cuts > 4 and cuts < 16, cuts)
      support.until_state(session, "connected")
      local after = rounds
      support.step_until(session, function()
        return rounds > after + 4 * WORKERS
      end)
      goes_on = false
      support.until_state(session, nil, { waiting = 0, holding = 1 })
      assert.is_true(session:stats().reconnects <= cuts + 1)
      assert.is_true(holder:release { wait = true })
    end)

  it("ends a revocation that it does not take with an error", function()
    hostile:behave { kind = "pass" }
    local guard = session:mutex(path, { data = LARGE }):acquire(30)
    hostile:behave { kind = "pass", largest = LIMIT }
    local asked, message, code = session:revoke(path)
    kinds.refused("disconnected", asked, message, code)
    assert.matches(path, message, 1, true)
    support.until_state(session, "connected", { reconnects = 1 })
    assert.is_true(guard:verify())
    assert.is_true(guard:release { wait = true })
  end)
end)
