--- What must not grow: memory, descriptors, threads, nodes, watches.
local Meters = require "zklock.meters"
local allocator = require "memory.allocator".found
local support = require "support"
local zklock = require "zklock"

local function usage()
  collectgarbage()
  collectgarbage()
  return {
    kib = support.memory(),
    lua_kib = collectgarbage "count",
    fds = support.count_fds(),
    threads = support.count_threads(),
    blocks = allocator and allocator.live() or 0,
  }
end

-- What is kept for the next time is there at one moment, and not at another;
-- what each of the times leaves behind is more.
local KEPT = 8 -- blocks

local function in_words(what, times, before, after)
  return ("%s: %d; %d → %d KiB resident, %.0f → %.0f KiB of Lua, "
    .. "%d → %d blocks, %d → %d fds, %d → %d threads"):format(what, times,
    before.kib, after.kib, before.lua_kib, after.lua_kib, before.blocks,
    after.blocks, before.fds, after.fds, before.threads, after.threads)
end

-- Runs `body` a tenth of the times, looks, and runs it the rest of them. The
-- garbage is collected after each tenth: by what the process grows before Lua's
-- collector begins is as much as all that Lua has, and no leak.
local function endure(what, times, body)
  local function a_tenth()
    for _ = 1, times / 10 do body() end
    collectgarbage()
  end
  a_tenth()
  local before = usage()
  for _ = 2, 10 do a_tenth() end
  local after
  local is_flat = pcall(support.wait_until, function()
    after = usage()
    return after.blocks <= before.blocks + KEPT and after.fds <= before.fds
      and after.threads <= before.threads
  end, 5)
  local text = in_words(what, times, before, after)
  assert.is_true(is_flat, text)
  assert.is_true(after.lua_kib < before.lua_kib + 64, text)
  assert.is_true(after.kib < before.kib + 2048, text)
end

describe("Memory", function()
  it("stays constant over 10 000 sessions", function()
    local path = support.path()
    endure("sessions", 10000, function()
      local session = assert(zklock.connect(support.hosts))
      session:mutex(path):acquire():release()
      session:close()
    end)
  end)

  it("stays constant over 100 000 waits that time out", function()
    local path = support.path()
    support.hold(path, { session_timeout = 20 })
    local session = support.connect { session_timeout = 20 }
    local lock = session:mutex(path)
    -- Many at a time, in a row of their own each.
    endure("timeouts", 100000 / 50, function()
      local ended = 0
      for _ = 1, 50 do
        lock:acquire_async({ timeout = 0.001 }, function(_, _, code)
          assert(code == "timeout", code)
          ended = ended + 1
        end)
      end
      support.step_until(session, function() return ended == 50 end, 30)
    end)
    assert.equal(0, session:stats().waiting)
    -- (The last ones go with the answers to the last deletes.)
    support.step_until(session, function()
      return session:stats().watches <= 1
    end, 10, "the watches of those who waited are gone")
  end)

  it("stays constant over 10 000 paths that are used once", function()
    local session = support.connect()
    local other = support.connect()
    local prefix, n = support.path "of", 0
    local function once(options)
      n = n + 1
      local path = ("%s/%d"):format(prefix, n)
      local guard = assert(other:mutex(path, options):acquire(10))
      local none, _, code = session:mutex(path, options):acquire(0.001)
      assert(not none and code == "timeout", code)
      guard:release()
    end
    -- So many have meters of their own, which stay.
    for _ = 1, Meters.most do once() end
    for _, options in ipairs { {}, { fair = false } } do
      endure("paths", 10000, function() once(options) end)
    end
  end)
end)
