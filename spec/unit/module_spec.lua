local zklock = require "zklock"
local core = require "zklock.core"

describe("The module", function()
  it("lists the error codes", function()
    local words = {
      "timeout", "busy", "cancelled", "lost", "expired", "disconnected",
      "closed", "auth", "denied", "invalid", "conflict", "deadlock",
      "unsupported",
    }
    for _, word in ipairs(words) do
      assert.equal(word, zklock.errors[word])
    end
    local n = 0
    for _ in pairs(zklock.errors) do n = n + 1 end
    assert.equal(#words, n)
  end)

  it("raises for an error code that there is not", function()
    local ok, problem = pcall(function() return zklock.errors.timout end)
    assert.is_false(ok)
    assert.matches("module_spec.lua:%d+: zklock: there is no error code "
      .. "\"timout\"$", problem)
  end)

  it("says which ZooKeeper client it was built for", function()
    assert.is_truthy(zklock.backend == "st" or zklock.backend == "mt")
    assert.is_truthy(package.cpath:find("/" .. zklock.backend .. "/", 1, true))
  end)

  it("has a version, and the same one by Lua's custom", function()
    assert.is_string(zklock.version)
    assert.equal("zklock " .. zklock.version, zklock._VERSION)
  end)

  it("sets no global", function()
    local before = {}
    for name in pairs(_G) do before[name] = true end
    for name in pairs(package.loaded) do
      if name:find "^zklock" then package.loaded[name] = nil end
    end
    require "zklock"
    for name in pairs(_G) do assert.is_true(before[name], name) end
  end)

  -- What `command` says of the module's file.
  local function ask(command)
    local file = assert(package.searchpath and
      package.searchpath("zklock.core", package.cpath)
      or package.cpath:match("[^;]+"):gsub("%?", "zklock/core"))
    local pipe = io.popen(("%s '%s' 2>&1"):format(command, file))
    local text = pipe:read "*a"
    pipe:close()
    return text
  end

  it("exports nothing but its luaopen function #stock", function()
    local symbols = {}
    for line in ask("nm -D --defined-only"):gmatch "[^\n]+" do
      symbols[#symbols + 1] = line:match("%S+$")
    end
    assert.same({ "luaopen_zklock_core" }, symbols)
  end)

  it("is hardened against errors in memory #stock", function()
    local imports = ask "nm -D --undefined-only"
    assert.matches("__stack_chk_fail", imports) -- -fstack-protector-strong
    assert.matches("_chk", (imports:gsub("__stack_chk_fail", ""))) -- FORTIFY
    assert.matches("GNU_RELRO", ask "readelf -lW") -- -z relro
    assert.matches("BIND_NOW", ask "readelf -dW") -- -z now
    assert.matches("GNU_STACK +%S+ +%S+ +%S+ +%S+ +%S+ +RW ", ask "readelf -lW")
  end)

  it("has a clock that runs on", function()
    local a = core.now()
    local b = core.now()
    assert.is_true(b >= a and b - a < 1)
  end)

  it("does not let its userdata's metatables out", function()
    local session = assert(core.open { hosts = "127.0.0.1:1",
      session_timeout = 4 })
    assert.equal("zklock", getmetatable(session))
    session:leave()
  end)
end)

describe("Misuse of connect", function()
  local misuse = require "support".misuse
  local connect = zklock.connect

  it("is an unknown option", function()
    assert.equal('unknown option "sesion_timeout" in connect options (known: '
      .. 'acl, auth, connect_timeout, least_session_timeout, log, loop, '
      .. 'on_event, session_timeout, tick_time, tls)',
      misuse(function() connect("a", { sesion_timeout = 1 }) end))
    assert.matches("unknown option \"1\"",
      misuse(function() connect("a", { "b" }) end))
  end)

  it("is options that are no table", function()
    for _, value in ipairs { 1, "x", true, print } do
      assert.matches("connect options must be a table, got a " .. type(value),
        misuse(function() connect("a", value) end))
    end
  end)

  it("is a time that is not a positive number", function()
    for _, name in ipairs { "session_timeout", "least_session_timeout",
        "tick_time", "connect_timeout" } do
      for _, value in ipairs { 0, -1, 0 / 0, math.huge, -math.huge, 1e6 } do
        local text = misuse(function() connect("a", { [name] = value }) end)
        assert.matches("option '" .. name .. "' must be more than 0", text)
      end
      for _, value in ipairs { "1", {}, true } do
        local text = misuse(function() connect("a", { [name] = value }) end)
        assert.matches("option '" .. name .. "' must be a number, got a "
          .. type(value), text)
      end
    end
  end)

  it("is a session timeout that nobody could keep", function()
    for _, seconds in ipairs { 0.0005, 0.001, 0.002, 0.099 } do
      assert.equal("option 'session_timeout' must be at least 0.1 (seconds), "
        .. "got " .. seconds, misuse(function() connect("a", {
          session_timeout = seconds, connect_timeout = 0.1 }) end))
    end
  end)

  it("is a least session timeout above the one that is asked for", function()
    local text = "option 'least_session_timeout' must not be more than option "
      .. "'session_timeout', got %s and %s"
    local both = { least_session_timeout = 5, session_timeout = 4 }
    assert.equal(text:format("5", "4"),
      misuse(function() connect("a", both) end))
    assert.equal(text:format("11", "10"),
      misuse(function() connect("a", { least_session_timeout = 11 }) end))
  end)

  it("is a tick of which the session timeout has not two", function()
    local text = "option 'tick_time' must be at most half of option "
      .. "'session_timeout' (both in seconds), got %s and %s"
    local both = { tick_time = 2, session_timeout = 3 }
    assert.equal(text:format("2", "3"),
      misuse(function() connect("a", both) end))
    assert.equal(text:format("2000", "10"),
      misuse(function() connect("a", { tick_time = 2000 }) end))
  end)

  it("is a callback that cannot be called", function()
    for _, name in ipairs { "log", "on_event" } do
      for _, value in ipairs { 1, "x", {}, true } do
        assert.matches("option '" .. name .. "' must be a function, got a ",
          misuse(function() connect("a", { [name] = value }) end))
      end
    end
  end)

  it("is a loop that nobody knows", function()
    for _, value in ipairs { 1, "nosuch", true, {}, { wait = print },
        { wake = print }, { new = 1 } } do
      assert.matches("option 'loop'",
        misuse(function() connect("a", { loop = value }) end))
    end
  end)

  it("is an authentication that is not { scheme =, credential = }", function()
    assert.matches("option 'auth'",
      misuse(function() connect("a", { auth = "digest" }) end))
    assert.matches("option 'auth' %[1%].scheme must be a string, got nil",
      misuse(function() connect("a", { auth = { credential = "a:b" } }) end))
    assert.matches("option 'auth' %[1%].credential must be a string, got nil",
      misuse(function() connect("a", { auth = { scheme = "digest" } }) end))
    local two = { { scheme = "digest", credential = "a:b" }, { scheme = 1 } }
    assert.matches("option 'auth' %[2%].scheme must be a string, got a number",
      misuse(function() connect("a", { auth = two }) end))
    assert.matches("option 'auth' %[1%]",
      misuse(function() connect("a", { auth = { "digest" } }) end))
    assert.matches("option 'auth' %[1%] has an unknown key",
      misuse(function() connect("a", { auth = { scheme = "", x = 1 } }) end))
  end)

  it("is an ACL for the creator without authentication", function()
    for _, acl in ipairs { "creator", "read" } do
      assert.matches("option 'acl' .*needs option 'auth'",
        misuse(function() connect("a", { acl = acl }) end))
    end
  end)

  it("is an ACL of another shape", function()
    local function try(acl)
      return misuse(function() connect("a", { acl = acl }) end)
    end
    assert.matches("option 'acl'", try "closed")
    assert.matches("option 'acl'", try {})
    assert.matches("option 'acl'", try(1))
    assert.matches("option 'acl' %[1%]", try { "world" })
    assert.matches("option 'acl' %[1%].scheme",
      try { { id = "anyone", perms = "r" } })
    assert.matches("option 'acl' %[1%].id",
      try { { scheme = "world", perms = "r" } })
    assert.matches("option 'acl' %[1%].perms",
      try { { scheme = "world", id = "anyone" } })
    assert.matches("letters c, d, r, w, a",
      try { { scheme = "world", id = "anyone", perms = "rx" } })
    assert.matches("letters c, d, r, w, a",
      try { { scheme = "world", id = "anyone", perms = "rr" } })
    assert.matches("unknown option \"permissions\"",
      try { { scheme = "world", id = "anyone", permissions = 31 } })
  end)

  it("leaves no thread and no descriptor", function()
    local support = require "support"
    local fds, threads = support.count_fds(), support.count_threads()
    for _ = 1, 20 do pcall(connect, "a", { loop = "nosuch" }) end
    -- (Those of an earlier test may still be going.)
    assert.is_true(support.count_fds() <= fds)
    assert.is_true(support.count_threads() <= threads)
  end)

  it("is an option that this client cannot serve, as a result", function()
    local session, message, code = connect("a", { tls = { ca = "x" } })
    assert.is_nil(session)
    assert.equal("unsupported", code)
    assert.matches("TLS", message)
  end)
end)
