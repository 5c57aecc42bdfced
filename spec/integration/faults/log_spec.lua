-- What the log is told when the world fails: a sentence of ours, once.
local start_hostile = require "support.hostile".start
local support = require "support"
local zklock = require "zklock"

local NONE = "warn: no connection to %s: "
local CLOSED = NONE .. "the server closed the connection"
local AT_ONCE = CLOSED .. (os.getenv "SPEC_TLS"
  and " at the beginning of the TLS handshake: " or ": ")
  .. "it is starting, or has maxClientCnxns connections from this address, or "
  .. (os.getenv "SPEC_TLS" and "speaks no TLS on this port"
  or "speaks TLS on this port (then set the option 'tls')")

describe("The log is told", function()
  local lines, hostile
  before_each(function() lines, hostile = {}, start_hostile() end)

  local function log(level, message)
    lines[#lines + 1] = level .. ": " .. message
  end

  local function fails(hosts, seconds, code)
    assert.equal(code or "disconnected", (select(3, zklock.connect(hosts, {
      connect_timeout = seconds, session_timeout = 4, log = log,
      auth = { scheme = "digest", credential = "ann:secret" },
    }))))
  end
  local function open()
    return support.connect { hosts = hostile.hosts, session_timeout = 6,
      log = log }
  end

  -- It holds these lines, or patterns of lines, and no other.
  local function told(...)
    for _, line in ipairs(lines) do
      assert.is_nil(line:find "ZOO_" or line:find "retcode" or line:find "\n")
    end
    table.sort(lines)
    assert.same({ ... }, lines)
  end
  local function until_told(session, line)
    support.step_until(session, function() return lines[#lines] == line end,
      nil, line)
  end

  -- A server of a kind, how long it is tried, and what is said of it.
  for title, row in pairs {
    ["refuses connections"] = { nil, 1, NONE .. "Connection refused" },
    ["closes them"] = { "close", 2, AT_ONCE },
    ["does not answer"] = { "silent", 3.5, NONE .. "it does not answer" },
  } do
    it("once that a server " .. title, function()
      local hosts = row[1] and hostile.hosts or "127.0.0.1:1"
      if row[1] then hostile:behave { kind = row[1] } end
      fails(hosts, row[2])
      assert.is_true(not row[1] or hostile:count "connection" > 1)
      told(row[3]:format(hosts))
    end)
  end

  it("of each server", function()
    hostile = start_hostile { count = 3 }
    hostile:behave { kind = "close" }
    fails(hostile.hosts, 4)
    told(AT_ONCE:format(hostile:host(1)), AT_ONCE:format(hostile:host(2)),
      AT_ONCE:format(hostile:host(3)))
  end)

  it("that a name has no address", function()
    fails("no-such-host.invalid:2181", 2)
    assert.equal(1, #lines)
    assert.matches("^warn: no connection: no%-such%-host%.invalid: %u",
      lines[1])
  end)

  it("that credentials are refused, however often", function()
    hostile:behave { kind = "pass", refuse_auth = "always" }
    fails(hostile.hosts, 5, "auth")
    told "warn: cannot authenticate (/): the credentials are not accepted"
  end)

  it("that a connection is lost, and is back", function()
    local session = open()
    told()
    hostile:cut()
    until_told(session, "info: connected again")
    told("info: connected again", CLOSED:format(hostile.hosts))
  end)

  it("that a session has expired", function()
    local session = open()
    local line = ("warn: the session %s has expired: its holds are lost")
      :format(session:id())
    hostile:behave { kind = "pass", forgets = 1 }
    hostile:cut()
    until_told(session, line)
    told(CLOSED:format(hostile.hosts), line)
  end)

  it("that a connection is cut at each try of a request, once a minute, and "
    .. "how often", function()
      hostile:behave { kind = "pass", largest = 700 }
      local session = open()
      told()
      local mutex = session:mutex(support.path(), { data = ("x"):rep(1024) })
      assert.is_nil((mutex:acquire(70)))
      session:step()
      local cuts, line = {}, CLOSED:format(hostile.hosts)
      for _, one in ipairs(lines) do
        if one:sub(1, #line) == line then
          cuts[#cuts + 1] = one:sub(#line + 1)
        end
      end
      assert.equal(2, #cuts)
      assert.equal("", cuts[1])
      local n = cuts[2]:match "^ %(and (%d+) times since the last such line%)$"
      assert.is_true(tonumber(n) > 8)
      assert.is_true(session:stats().reconnects > 8)
    end)
end)
