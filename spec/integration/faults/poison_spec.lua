-- A server whose jute.maxbuffer is smaller than one of our requests: it reads
-- the length and closes the connection, with earlier requests unanswered.
local kinds = require "integration.family.kinds"
local start_hostile = require "support.hostile".start
local support = require "support"
local wait_in, await = kinds.wait_in, kinds.await

local LIMIT = 65536
local POISON, LARGE = ("p"):rep(LIMIT), ("l"):rep(LIMIT / 2)

local path, hostile, session
before_each(function()
  kinds.start()
  path, hostile = support.path(), start_hostile()
  hostile:behave { kind = "pass", largest = LIMIT }
  session = support.connect { hosts = hostile.hosts, session_timeout = 20 }
end)
after_each(support.finish)

local function is_refused(where, guard, message, code)
  kinds.refused("invalid", guard, message, code)
  assert.matches("at " .. where .. ": ", message, 1, true)
  local bytes = tonumber(message:match "a request of (%d+) bytes")
  assert.is_true(bytes > LIMIT and bytes < LIMIT + 300, message)
  assert.matches("jute.maxbuffer", message, 1, true)
end

-- As many losses as it takes to know.
local function is_calm() assert.equal(4, session:stats().reconnects) end

local function released(guard) assert.is_true(guard:release { wait = true }) end

-- Takes the lock again and again, and calls `after(guard, …)`: a function that
-- stops it.
local function take_on_and_on(mutex, options, after)
  local goes_on, is_over = true, false
  local function again(guard, ...)
    after(guard, ...)
    if guard then guard:release() end
    is_over = not goes_on
    if goes_on then mutex:acquire_async(options, again) end
  end
  mutex:acquire_async(options, again)
  return function()
    goes_on = false
    support.step_until(session, function() return is_over end)
  end
end

describe("A server that breaks off at large requests", function()
  it("refuses that one, with its path and size, and nobody beside it",
    function()
      local holder = assert(session:mutex(path .. "/held"):acquire(30))
      local rounds, stops = 0, {}
      local function lost() error "a hold was lost" end
      holder:on_lost(lost)
      for i = 1, 64 do
        stops[i] = take_on_and_on(session:mutex(path .. "/innocent-" .. i),
          { data = i % 8 == 0 and LARGE or nil }, function(guard, message)
            assert(guard, message):on_lost(lost)
            rounds = rounds + 1
          end)
      end
      support.step_until(session, function() return rounds > 128 end)
      is_refused(path .. "/poison",
        await(wait_in(session:mutex(path .. "/poison"), { data = POISON })))
      is_calm()
      local after = rounds
      support.step_until(session, function() return rounds > after + 256 end)
      for _, stop in ipairs(stops) do stop() end
      is_calm()
      released(holder)
    end)

  -- (That of a semaphore is its inner node's, by the user's path.)
  it("refuses every kind, and again at once without a request", function()
    for i, kind in ipairs(kinds.all) do
      local where = path .. "/" .. i
      local lock = kind.make(session, where)
      if not kind.multi then
        is_refused(where, await(wait_in(lock, { data = POISON })))
        local losses = session:stats().reconnects
        kinds.takes(0, function()
          is_refused(where, lock:acquire { data = POISON })
          kinds.refused("invalid", lock:acquire { data = POISON, timeout = 0 })
        end)
        assert.equal(losses, session:stats().reconnects)
      end
      released(assert(lock:acquire(30)))
    end
  end)

  it("takes what is just below the limit", function()
    local data = ("x"):rep(LIMIT - #path - 200)
    local poison = wait_in(session:mutex(path .. "/a"), { data = POISON })
    local large = wait_in(session:mutex(path .. "/b"), { data = data })
    is_refused(path .. "/a", await(poison))
    released(assert(await(large)))
  end)

  it("ends a revocation that it does not take with an error", function()
    local guard = session:mutex(path, { data = LARGE }):acquire(30)
    hostile:behave { kind = "pass", largest = #LARGE }
    local asked, message, code = session:revoke(path)
    kinds.refused("disconnected", asked, message, code)
    assert.matches(path, message, 1, true)
    support.until_state(session, "connected", { reconnects = 1 })
    assert.is_true(guard:verify())
    released(guard)
  end)
end)
