-- Credentials are in nothing that we say, whatever goes wrong.
local support = require "support"
local zklock = require "zklock"

local SECRET = "s3cr3t-W0rt"

describe("A secret", function()
  -- All that is said while `fn(say, options)` runs.
  local function everything_said(fn)
    local said = {}
    local function say(...)
      for i = 1, select("#", ...) do
        said[#said + 1] = tostring((select(i, ...)))
      end
    end
    fn(say, function(options)
      options.log = say
      options.on_event = say
      options.auth = options.auth
        or { scheme = "digest", credential = "ann:" .. SECRET }
      options.connect_timeout = options.connect_timeout or 2
      return options
    end)
    assert.is_true(#said > 0)
    return table.concat(said, "\n")
  end

  local function look_into(session, say)
    say(session, session:id(), session:state())
    for key, value in pairs(session:stats()) do say(key, value) end
  end

  local cases = {}

  cases["options that are mistaken"] = function(say, with)
    for _, auth in ipairs { SECRET, { SECRET }, { digest = SECRET },
        { [SECRET] = "digest" }, { { scheme = "digest", [SECRET] = 1 } },
        { scheme = "digest", credential = SECRET },
        { scheme = "digest", credential = ":" .. SECRET },
        { scheme = "digest", credential = "ann:" .. SECRET .. "\0" },
        { scheme = "", credential = SECRET },
        { { scheme = "digest", credential = "ann:" .. SECRET }, [SECRET] = 1 },
      } do
      say(select(2, pcall(zklock.connect, "h", with { auth = auth })))
    end
    say(select(2, pcall(zklock.connect, "h", with { nosuch = 1 })))
    say(select(2, pcall(zklock.connect, "h:x", with {})))
    say(select(2, pcall(zklock.connect, "h", with { acl = {
      { scheme = "digest", id = "ann:" .. SECRET, perms = "cdrwa" } } })))
  end

  cases["no server"] = function(say, with)
    say(zklock.connect("127.0.0.1:1", with { connect_timeout = 1 }))
    say(zklock.connect("nosuch.invalid", with { connect_timeout = 1 }))
  end

  cases["a scheme that nobody knows"] = function(say, with)
    say(zklock.connect(support.hosts, with {
      auth = { scheme = "nosuch", credential = SECRET } }))
  end

  cases["credentials that are refused at a reconnection"] =
    function(say, with)
      local hostile = require "support.hostile".start()
      local session = support.closing(assert(zklock.connect(hostile.hosts,
        with {})))
      hostile:behave { kind = "pass", refuse_auth = "always" }
      hostile:cut()
      support.until_state(session, "suspended")
      say(session:mutex(support.path()):acquire(5))
      say(session:mutex(support.path()):try_acquire())
      look_into(session, say)
      session:step()
    end

  cases["ACLs that refuse"] = function(say, with)
    local session = support.closing(assert(zklock.connect(support.hosts,
      with { acl = { { scheme = "ip", id = "10.1.2.3", perms = "cdrwa" } } })))
    say(session:mutex(support.path()):acquire(30))
    say(session:semaphore(support.path(), 2):acquire(30))
    look_into(session, say)
    session:step()
    say(session:close())
    say(session, session:id())
  end

  for name, case in pairs(cases) do
    it("is not told by " .. name, function()
      local said = everything_said(case)
      assert.is_nil(said:find(SECRET, 1, true), said)
    end)
  end
end)
