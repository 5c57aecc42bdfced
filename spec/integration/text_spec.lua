-- What we say, whatever goes wrong: text that strangers have chosen stays one
-- line, and credentials are in none of it.
local support = require "support"
local zklock = require "zklock"

-- What each becomes in a sentence, outside of quotes.
local TEXTS = {
  ["a\nb"] = "a\\x0ab",
  ["a\r\nb"] = "a\\x0d\\x0ab",
  ["a\0b"] = "a\\x00b",
  ["a\27[31mb"] = "a\\x1b[31mb",
  ["a\127b"] = "a\\x7fb",
  ["a\194\133b"] = "a\\xc2\\x85b", -- C1: next line
  ["a\255b"] = "a\\xffb",
  ["a\192\138b"] = "a\\xc0\\x8ab", -- an overlong newline
  ["a\237\160\128b"] = "a\\xed\\xa0\\x80b", -- half a pair
  ["a\226\128\168b"] = "a\\xe2\\x80\\xa8b", -- a separator of lines
  ["a\226\128\174b"] = "a\\xe2\\x80\\xaeb", -- from right to left from here on
  ["a\195"] = "a\\xc3",
  ["\195\164\226\130\172"] = "\195\164\226\130\172", -- and this is plain
}

local function said_by(fn, ...)
  local _, message = pcall(fn, ...)
  message = tostring(message)
  assert.is_nil(message:find "[%c]", message)
  return message
end

describe("Misuse", function()
  it("shows any untrusted text escaped", function()
    for text, plain in pairs(TEXTS) do
      -- (Not all of these are valid as hosts, and those are not tried.)
      if text ~= plain then
        local message = said_by(zklock.connect, "h/" .. text)
        assert.is_nil(message:find(text, 1, true), plain)
      end
      local message = said_by(zklock.connect, "h", { acl = {
        { scheme = "world", id = "anyone", perms = text } } })
      assert.truthy(message:find(('got "%s"'):format(plain), 1, true), message)
      message = said_by(zklock.connect, "h", { [text] = 1 })
      assert.truthy(message:find(('unknown option "%s"'):format(plain), 1,
        true), message)
      message = said_by(function() return zklock.errors[text] end)
      assert.truthy(message:find(('no error code "%s"'):format(plain), 1,
        true), message)
    end
  end)

  it("shows no more than 200 bytes of it", function()
    local message = said_by(zklock.connect, "h", { [("x"):rep(100000)] = 1 })
    assert.truthy(message:find('"' .. ("x"):rep(200) .. '"... in', 1, true))
    local key = ("x"):rep(199) .. "\195\164"
    message = said_by(zklock.connect, "h", { [key] = 1 })
    assert.truthy(message:find('"' .. ("x"):rep(199) .. '"... in', 1, true))
  end)

  it("shows a host's name escaped, of which none has such characters",
    function()
      for text, plain in pairs(TEXTS) do
        local message = said_by(zklock.connect, text .. ":2181")
        assert.matches("^.-zklock: argument 1 of connect %(hosts%) ", message)
        assert.is_true(text == plain or not message:find "[\128-\255]", message)
      end
    end)

  it("still says a quote and a backslash so that they can be told", function()
    local message = said_by(zklock.connect, "h", { ['a"\\b'] = 1 })
    assert.truthy(message:find([[unknown option "a\"\\b" in]], 1, true))
  end)
end)

it("A message shows an untrusted path escaped", function()
  local lines = {}
  local session = support.connect {
    log = function(_, line) lines[#lines + 1] = line end,
  }
  local message = said_by(session.mutex, session, "/a\n2026/11/22 [emerg] x")
  assert.truthy(message:find([["/a\x0a2026/11/22 [emerg] x"]], 1, true))
  -- Valid as a path, and no plain text: what follows would be read first.
  local path = support.path() .. "/\226\128\174a"
  local plain = path:gsub("\226\128\174", "\\xe2\\x80\\xae")
  local mutex = session:mutex(path)
  assert.equal("zklock mutex " .. plain, tostring(mutex))
  local guard = assert(mutex:acquire(30))
  assert.equal(("zklock guard of %s (held)"):format(plain), tostring(guard))
  local multi = session:multi { mutex }
  local whole = assert(multi:acquire(30))
  assert.is_nil(tostring(multi):find(path, 1, true))
  assert.is_nil(tostring(whole):find(path, 1, true))
  whole:release()
  local _, busy = support.connect():mutex(path):try_acquire()
  assert.truthy(busy:find("^zklock: " .. plain:gsub("%p", "%%%0")
    .. " is taken"), busy)
  support.zk():delete(guard.node)
  local _, lost = guard:verify()
  local text = ("the hold of %s was lost: its node was deleted"):format(plain)
  assert.equal("zklock: " .. text, lost)
  support.step_until(session, function() return lines[1] end)
  assert.equal(text, lines[1])
  local done, under = mutex:with_lock(0, function(mine)
    support.zk():delete(mine.node)
    mine:verify()
  end)
  assert.is_nil(done)
  assert.is_nil(under:find(path, 1, true), under)
  support.zk():delete_all(path)
end)

it("A log entry is one line for any error of a callback", function()
  local lines = {}
  local session = support.connect {
    log = function(_, message) lines[#lines + 1] = message end,
  }
  session:mutex(support.path()):acquire_async(5, function(guard)
    guard:release()
    error "ouch\n2026/11/22 [emerg] 1#0: forged\27[2J"
  end)
  support.step_until(session, function() return lines[1] end)
  assert.is_nil(lines[1]:find "[%c]", lines[1])
  assert.matches("^an error in a callback: .*ouch | 2026", lines[1])
  assert.matches("forged\\x1b%[2J | stack traceback: | ", lines[1])
end)

local SECRET = "s3cr3t-W0rt"

describe("A secret", function()
  local function look_into(session, say)
    say(session, session:id(), session:state())
    for key, value in pairs(session:stats()) do say(key, value) end
  end

  local cases = {}

  -- (Mistakes in `auth` and `acl` themselves: unit/access_spec.lua.)
  cases["options that are mistaken"] = function(say, with)
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
    it("is not shown by " .. name, function()
      local said = {}
      local function say(...)
        for i = 1, select("#", ...) do
          said[#said + 1] = tostring((select(i, ...)))
        end
      end
      case(say, function(options)
        options.log = say
        options.on_event = say
        options.auth = options.auth
          or { scheme = "digest", credential = "ann:" .. SECRET }
        options.connect_timeout = options.connect_timeout or 2
        return options
      end)
      assert.is_true(#said > 0)
      said = table.concat(said, "\n")
      assert.is_nil(said:find(SECRET, 1, true), said)
    end)
  end
end)
