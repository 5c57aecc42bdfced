-- What the log is told when the world fails: a sentence of ours, once.
local start_hostile = require "support.hostile".start
local support = require "support"
local zklock = require "zklock"

-- Lines for option `log`; each must be a sentence that was not said before.
local function new_lines()
  local lines, seen = {}, {}
  return lines, function(level, message)
    local line = level .. ": " .. message
    if message:find "ZOO_" or message:find "retcode" or message:find "\n" then
      lines.problem = "not a sentence of ours: " .. line
    elseif seen[line] then
      lines.problem = "said twice: " .. line
    end
    seen[line] = true
    lines[#lines + 1] = line
  end
end

local function has(lines, line)
  for _, one in ipairs(lines) do
    if one == line then return true end
  end
end

local function check(lines, ...)
  assert.is_nil(lines.problem)
  for _, line in ipairs { ... } do
    assert.is_true(has(lines, line), ("%s\nis not among\n%s"):format(line,
      table.concat(lines, "\n")))
  end
end

local CLOSED = "warn: no connection to %s: the server closed the connection: "
  .. "it is starting, or has maxClientCnxns connections from this address, or "
  .. "this is a port for TLS"

describe("The log is told #once", function()
  before_each(support.start)
  after_each(support.finish)

  local lines, log
  before_each(function() lines, log = new_lines() end)

  local function fail(hosts, seconds)
    local session, _, code = zklock.connect(hosts, {
      connect_timeout = seconds, session_timeout = 4, log = log,
      auth = { scheme = "digest", credential = "ann:secret" },
    })
    assert.is_nil(session)
    return code
  end
  local function open(hosts)
    return support.connect { hosts = hosts, session_timeout = 6, log = log }
  end
  local function await(session, line)
    support.step_until(session, function() return has(lines, line) end, 15,
      line)
  end

  it("once that a server refuses connections", function()
    assert.equal("disconnected", fail("127.0.0.1:1", 1))
    check(lines, "warn: no connection to 127.0.0.1:1: Connection refused")
    assert.equal(1, #lines)
  end)

  it("once that it closes them", function()
    local hostile = start_hostile()
    hostile:behave { kind = "close" }
    assert.equal("disconnected", fail(hostile.hosts, 2))
    assert.is_true(hostile:count "connection" > 1)
    check(lines, CLOSED:format(hostile.hosts))
    assert.equal(1, #lines)
  end)

  it("once that it does not answer", function()
    local hostile = start_hostile()
    hostile:behave { kind = "silent" }
    assert.equal("disconnected", fail(hostile.hosts, 3.5))
    check(lines,
      ("warn: no connection to %s: it does not answer"):format(hostile.hosts))
    assert.equal(1, #lines)
  end)

  it("of each server", function()
    local hostile = start_hostile { count = 3 }
    hostile:behave { kind = "close" }
    assert.equal("disconnected", fail(hostile.hosts, 4))
    for i = 1, 3 do
      check(lines, CLOSED:format(hostile:host(i)))
    end
    assert.equal(3, #lines)
  end)

  it("that a name has no address", function()
    fail("no-such-host.invalid:2181", 2)
    check(lines)
    assert.equal(1, #lines)
    assert.matches("^warn: no connection: no%-such%-host%.invalid: %u",
      lines[1])
  end)

  it("that credentials are refused, however often", function()
    local hostile = start_hostile()
    hostile:behave { kind = "pass", refuse_auth = "always" }
    assert.equal("auth", fail(hostile.hosts, 5))
    check(lines,
      "warn: cannot authenticate (/): our credentials are not accepted")
  end)

  it("that a connection is lost, and is back", function()
    local hostile = start_hostile()
    local session = open(hostile.hosts)
    assert.same({}, lines)
    hostile:cut()
    await(session, "info: there is a connection again")
    check(lines, ("warn: no connection to %s: the server closed the connection")
      :format(hostile.hosts))
    assert.equal(2, #lines)
  end)

  it("that a session has expired", function()
    local hostile = start_hostile()
    hostile:behave { kind = "handshake", forgets = "always" }
    local session = open(hostile.hosts)
    local line = ("warn: the session %s has expired: what it held is lost")
      :format(session:id())
    hostile:cut()
    await(session, line)
    check(lines)
  end)

  it("that a request is too large", function()
    local hostile, path = start_hostile(), support.path()
    hostile:behave { kind = "pass", largest = 3000 }
    local session = open(hostile.hosts)
    local _, _, code = session:mutex(path, { data = ("x"):rep(5000) })
      :acquire(20)
    assert.equal("invalid", code)
    check(lines, ("warn: no connection to %s: the server closed the connection")
      :format(hostile.hosts))
    local found
    for _, line in ipairs(lines) do
      found = found or line:find("^warn: cannot create a node %(" .. path
        :gsub("%p", "%%%0") .. "%): too large for the servers")
    end
    assert.truthy(found, table.concat(lines, "\n"))
  end)
end)
