-- Servers that take connections and do no good with them are not stormed, and
-- do not keep a session from others.
local start_hostile = require "support.hostile".start
local support = require "support"
local zklock = require "zklock"

local SECONDS, MOST = 3, 10

-- (T = 20 s: a session that nothing hurries.)
local function try(hosts, seconds, options)
  options = options or {}
  options.session_timeout = options.session_timeout or 20
  options.connect_timeout = seconds
  local session, message, code = zklock.connect(hosts, options)
  if session then support.closing(session) end
  return session, message, code
end

local ways = {
  ["never answers"] = { kind = "silent" },
  ["closes at once"] = { kind = "close" },
  ["answers nonsense"] = { kind = "nonsense" },
  ["knows of no session"] = { kind = "expire" },
  ["grants sessions and drops them"] = { kind = "handshake", drop_after = 0 },
  ["drops a session after a moment"] = { kind = "handshake", drop_after = 0.2 },
  ["drops a session at its first request"] = { kind = "handshake",
    drop_at = 1 },
  ["grants sessions and answers nothing more"] = { kind = "handshake" },
  ["loses each connect reply"] = { kind = "pass", lose_connect = "always" },
  ["keeps each connect reply"] = { kind = "pass", mute_connect = "always" },
  ["answers late"] = { kind = "pass", delay_connect = 0.5 },
}

describe("A server that", function()
  before_each(support.start)
  after_each(support.finish)

  for name, manners in pairs(ways) do
    it(name .. " is not stormed", function()
      local hostile = start_hostile()
      hostile:behave(manners)
      local session = try(hostile.hosts, SECONDS)
      if session then -- it is used, and the connection lost again
        session:mutex(support.path()):acquire_async(nil, function() end)
        local begun = support.now()
        support.step_until(session, function()
          return support.now() > begun + SECONDS
        end)
      end
      local most = hostile:most("connection", SECONDS)
      assert.is_true(most >= 1 and most <= MOST, most)
    end)

    it(name .. " hides no good one", function()
      local hostile = start_hostile { count = 1 }
      hostile:behave(manners)
      for _ = 1, 6 do
        local session = assert(try(hostile.hosts .. "," .. support.hosts, 5))
        local guard = assert(session:mutex(support.path()):acquire(5))
        assert.is_true(guard:verify())
        session:close()
      end
    end)
  end
end)
