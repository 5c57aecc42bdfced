local shell = require "support.shell"
local zklock = require "zklock"

describe("The module", function()
  it("raises for an error code that there is not", function()
    local ok, problem = pcall(function() return zklock.errors.timout end)
    assert.is_false(ok)
    assert.matches("module_spec.lua:%d+: zklock: there is no error code "
      .. "\"timout\"$", problem)
  end)

  it("says which ZooKeeper client it has", function()
    assert.equal("st", zklock.backend)
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
    return shell.output(("%s '%s' 2>&1"):format(command, file))
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
end)

describe("Misuse of connect", function()
  local misuse = require "support".misuse
  local connect = zklock.connect

  it("is an unknown option", function()
    assert.matches('unknown option "sesion_timeout" in connect options '
      .. "%(known: acl, auth, ",
      misuse(function() connect("a", { sesion_timeout = 1 }) end))
  end)

  -- A pattern of the message, and options that are refused with it.
  local function refuses(pattern, ...)
    for _, options in ipairs { ... } do
      assert.matches(pattern, misuse(function() connect("a", options) end))
    end
  end

  it("is a value of another type", function()
    refuses("connect options must be a table, got a ", 1, "x", true, print)
    for _, name in ipairs { "log", "on_event" } do
      refuses("option '" .. name .. "' must be a function, got a ",
        { [name] = 1 }, { [name] = "x" }, { [name] = {} }, { [name] = true })
    end
    for _, loop in ipairs { 1, "nosuch", true, {}, { wait = print },
        { wake = print }, { new = 1 } } do
      refuses("option 'loop'", { loop = loop })
    end
  end)

  it("is a time that is not a positive number", function()
    for _, name in ipairs { "session_timeout", "min_session_timeout",
        "tick_time", "connect_timeout" } do
      for _, value in ipairs { 0, -1, 0 / 0, math.huge, -math.huge, 1e6 } do
        refuses("option '" .. name .. "' must be .* 0",
          { [name] = value })
      end
      for _, value in ipairs { "1", {}, true } do
        refuses("option '" .. name .. "' must be a number, got a "
          .. type(value), { [name] = value })
      end
    end
  end)

  it("is a time that does not go with another one", function()
    for _, seconds in ipairs { 0.0005, 0.001, 0.002, 0.099 } do
      refuses("^option 'session_timeout' must be a number of seconds from 0.1 "
        .. "to 86400, got " .. seconds .. "$",
        { session_timeout = seconds, connect_timeout = 0.1 })
    end
    local least = "^option 'min_session_timeout' must be more than 0 and at "
      .. "most option 'session_timeout', got "
    refuses(least .. "5$", { min_session_timeout = 5, session_timeout = 4 })
    refuses(least .. "11$", { min_session_timeout = 11 })
    local tick = "^option 'tick_time' must be more than 0 and at most half of "
      .. "option 'session_timeout' %(both in seconds%), got "
    refuses(tick .. "2$", { tick_time = 2, session_timeout = 3 })
    refuses(tick .. "2000$", { tick_time = 2000 })
  end)

  it("leaves no thread and no descriptor", function()
    local support = require "support"
    local fds, threads = support.count_fds(), support.count_threads()
    for _ = 1, 20 do pcall(connect, "a", { loop = "nosuch" }) end
    -- (Those of an earlier test may still be going.)
    assert.is_true(support.count_fds() <= fds)
    assert.is_true(support.count_threads() <= threads)
  end)

  it("includes an option tls without its required files", function()
    local lacks = "^option 'tls'.ca must be a string, got nil$"
    refuses("^option 'tls' must be a table, got a boolean$", { tls = true })
    refuses(lacks, { tls = {} }, { tls = { cert = "a", key = "b" } })
    refuses("^unknown option \"cacert\" in option 'tls' %(known: ca, cert, "
      .. "key, name%)$", { tls = { cacert = "a" } })
    refuses("^option 'tls'.key must be a string, got a boolean$",
      { tls = { ca = "a", key = true } })
    refuses("^option 'tls' must have both cert and key, or none of them$",
      { tls = { ca = "a", cert = "b" } }, { tls = { ca = "a", key = "b" } })
    refuses("^option 'tls'.ca must be the name of a file, got ",
      { tls = { ca = "" } }, { tls = { ca = "a\0b" } })
    refuses("^option 'tls'.name must be a host name", { tls = { ca = "a",
      name = "" } }, { tls = { ca = "a", name = "a b" } },
      { tls = { ca = "a", name = ("a"):rep(256) } })
    for _, name in ipairs { ".a", "*.a", "[::1]", "%", "%eth0",
      "zk\195\188" } do
      refuses("^option 'tls'.name must be a host name", { tls = { ca = "a",
        name = name } })
    end
  end)

  it("excludes an unusable file of tls: connect returns an error", function()
    local session, message, code = connect("a", { tls = { ca = "/nowhere" } })
    assert.is_nil(session)
    if require "zklock.core".has_streams() then
      assert.equal("auth", code)
      assert.equal("zklock: cannot use tls.ca (/nowhere): No such file or "
        .. "directory", message)
    else
      assert.equal("unsupported", code)
      assert.matches("^zklock: TLS is not supported: ", message)
    end
  end)
end)
