-- What is below the Lua layer keeps the process alive whatever Lua does with
-- it, where spec/fuzz/calls.lua does not meet that by chance.  Each of these
-- killed it once, or could have; none needs the debug library, and each has a
-- process of its own.
local shell = require "support.shell"

local PROLOGUE = [[
local core = require "zklock.core"
local zklock = require "zklock"
local NOWHERE = "127.0.0.1:1"

local function open(extra)
  local settings = { hosts = NOWHERE, session_timeout = 4 }
  for key, value in pairs(extra or {}) do settings[key] = value end
  return assert(core.open(settings))
end

-- An error, if it is one, is a text.
local function try(fn, ...)
  local ok, problem = pcall(fn, ...)
  if not ok and type(problem) ~= "string" then error "no text" end
  return ok, problem
end

local function collect()
  for _ = 1, 4 do collectgarbage() end
end

-- Calls fn when the collector next comes by, inside whatever allocates then.
local function in_finalizer(fn)
  if newproxy then
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = fn
  else
    setmetatable({}, { __gc = fn })
  end
end

-- Calls fn again and again, with a collector in a hurry, and `meanwhile` in
-- finalizers: in some of its allocations, whichever.
local function amid(times, fn, meanwhile)
  local calls, over = 0, false
  local function arm()
    in_finalizer(function()
      calls = calls + 1
      meanwhile()
      if not over then arm() end
    end)
  end
  if _VERSION >= "Lua 5.5" then
    collectgarbage "incremental"
    collectgarbage("param", "pause", 1)
    collectgarbage("param", "stepmul", 10000)
  else
    collectgarbage("setpause", 1)
    collectgarbage("setstepmul", 10000)
    if _VERSION == "Lua 5.4" then collectgarbage("incremental", 1, 1000, 1) end
  end
  collectgarbage() -- or the last cycle's pause has to pass first
  for _ = 1, 60 do arm() end
  for n = 1, times do fn(n) end
  over = true
  collect()
  assert(calls > 60)
end
]]

--- Runs `code`; it must say that it lives, and nothing else.
local function survives(code)
  assert.equal("alive\n", shell.program(PROLOGUE .. code
    .. "\nprint 'alive'\n"))
end

describe("A method of the core", function()
  it("raises an error if its object was collected", function()
    survives [[
      local session = open()
      local share = session:acquire("/a", 1e-3, true, "", nil,
        { kind = "mutex" })
      local kept = { session, share, session:acquire("/b", 1e-3, true, "", nil,
        { kind = "mutex" }) }
      -- Finalizers run in the reverse order, on every Lua.  (wait() waits until
      -- the acquisitions have timed out.)
      in_finalizer(function()
        for _, name in ipairs { "fd", "wait", "stats", "id", "state", "next",
            "noted", "nudge", "close", "leave" } do
          try(kept[1][name], kept[1])
        end
        try(core.open, { hosts = NOWHERE, session_timeout = 4 }, kept[1])
        for i = 2, 3 do
          for _, name in ipairs { "state", "release", "is_held", "lease",
              "token", "node", "again", "watch", "cancel", "turn",
              "find_loss" } do
            try(kept[i][name], kept[i])
          end
        end
      end)
    ]]
  end)

  -- The command that begins it waits for the first of its path, and shares its
  -- place with the one that has its node watched.
  it("ends a wait that stands in line, though its node was to be watched",
  function()
    survives [[
      local session = open()
      local way, ended = { kind = "mutex", local_turns = 1 }, {}
      local first = session:acquire("/a", 60, true, "", nil, way)
      local shares, numbers = {}, {}
      for i = 1, 100 do
        shares[i], numbers[i] = session:acquire("/a", 60, true, "", nil, way)
      end
      for i = #shares, 1, -1 do
        shares[i]:watch()
        shares[i]:cancel()
        local number = numbers[i]
        ended[number] = false
      end
      local deadline, left = core.now() + 30, #shares
      while left > 0 and core.now() < deadline do
        session:wait(1)
        local kind, number = session:next()
        while kind do
          if kind == "refused" and ended[number] == false then
            ended[number], left = true, left - 1
          end
          session:noted()
          kind, number = session:next()
        end
      end
      assert(left == 0, left .. " were not told")
      first:release()
    ]]
  end)

  it("refuses what no protocol of ours knows", function()
    survives [[
      local session = open()
      local huge = { -1e300, -1, 0 / 0, 1e300, math.huge, 2 ^ 31, 2 ^ 63 }
      local function refuses(path, data, way)
        assert(not try(session.acquire, session, path, 5, true, data, nil, way))
        local read, prepared = try(core.lock_options, way)
        assert(not read or not try(session.acquire, session, path, 5, true,
          data, nil, prepared))
      end
      for _, number in ipairs(huge) do
        refuses("/a", "", { kind = "permit", permits = number })
        refuses("/a", "", { kind = "mutex", local_turns = number })
        refuses("/a", "", { kind = "mutex", wait = "poll",
          poll_interval = number })
        session:ask({ { "get", "/a", nil, number } }, number, number)
      end
      refuses("/a", "", { kind = "permit", permits = 0 })
      refuses("/a", "", { kind = "permit", permits = "x" })
      refuses("/a", "", { kind = "permit", layout = "kazoo" })
      refuses("/a", "", { kind = "unfair", layout = "kazoo" })
      refuses("/a", "", { kind = "unfair", local_turns = 1 })
      refuses("/a", "", { kind = "mutex", local_turns = 1, wait = "parent" })
      refuses("/a", "", { kind = {} })
      refuses("/a", "", { kind = "mutex", writer = core.hold() })
      refuses("/a", "", { kind = "read", writer = session:acquire("/a", 5, true,
        "", nil, { kind = "write" }) }) -- it does not hold
      refuses("/a", "", setmetatable({},
        { __index = function() error "x" end }))
      for _, path in ipairs { "", "/", "a", "//", "/a/", "/\0",
          ("/x"):rep(600) } do
        refuses(path, "", { kind = "mutex" })
      end
      local wide = ("x"):rep(2 ^ 20 + 1)
      for _, requests in ipairs { {}, { 5 }, { {} }, { { "exists" } },
          { { "exists", 5 } }, { { "exists", "a" } }, { { "exists", "" } },
          { { "exists", "/a\0" } }, { { "exists", "/" .. wide } },
          { { "x", "/a" } }, { { 5, "/a" } }, { { "set", "/a", wide } },
          { { "set", "/a", "", 1, "b" } }, { { "sync", "/a" }, false } } do
        assert(not try(session.ask, session, requests))
      end
      assert(not try(session.ask, session, "x"))
      assert(not try(session.ask, session, { { "sync", "/a" } }, {}))
      session:ask({ { "exists", "//" }, { "list", "/a/../b" },
        { "get", "/\255" }, { "mkdir", "/" }, { "delete-both", "/" },
        { "create-once", "/", "x" }, { "delete-once", ("/x"):rep(5000) } })
      refuses("/a", ("x"):rep(core.data_max + 1), { kind = "mutex" })
      session:leave()
    ]]
  end)
end)

describe("A function of the core", function()
  it("opens no session twice, not even from inside", function()
    survives [[
      local session = core.session()
      local settings = setmetatable({ session_timeout = 4 }, {
        __index = function(_, key)
          if key ~= "hosts" then return nil end
          core.open({ hosts = NOWHERE, session_timeout = 4 }, session)
          return NOWHERE
        end })
      assert(not try(core.open, settings, session))
      session:leave()
      local function self_closing()
        local one = core.session()
        core.open(setmetatable({ hosts = NOWHERE, session_timeout = 4 }, {
          __index = function() one:leave() end }), one)
        one:leave()
      end
      self_closing()
    ]]
  end)
end)

describe("A finalizer that closes the session in the middle of", function()
  it("a call is safe", function()
    survives [[
      local session
      local way = setmetatable({}, { __index = function(_, key)
        return key == "kind" and "mutex" or nil
      end })
      amid(150, function()
        session = open()
        try(session.acquire, session, "/a", 5, true, "", nil, way)
        try(session.ask, session, { { "exists", "/a" }, { "get", "/a" } })
        try(session.ask, session, { { "exists", {} } })
        try(session.ask, session, 5)
        try(session.stats, session)
        try(session.id, session)
        try(session.error, session)
        session:leave()
      end, function()
        if session and math.random(20) == 1 then session:leave() end
      end)
      -- So is a field that is asked for.
      session = open()
      assert(not try(session.acquire, session, "/a", 5, true, "", nil,
        setmetatable({}, { __index = function() session:leave() end })))
    ]]
  end)

  -- And what it does of the session's.
  for title, meanwhile in pairs {
    ["an event does not free the event"] = "session:leave()",
    ["an event may hear the rest"]
      = "while session:next() do session:noted() end",
    ["an event may say that it is over"] = "session:noted()",
  } do
    it(title, function()
      survives([[
        local session
        amid(300, function()
          session = open { log = true }
          for _ = 1, 5 do
            try(session.acquire, session, "/a", 0, true, "", nil,
              { kind = "mutex" })
          end
          try(session.wait, session, 1)
          for _ = 1, 20 do
            local kind = session:next()
            assert(kind == nil or type(kind) == "string")
            session:noted()
          end
          session:leave()
        end, function()
          if session and math.random(20) == 1 then
            ]] .. meanwhile .. [[
          end
        end)
      ]])
    end)
  end
end)

describe("The module", function()
  it("may be loaded twice in one Lua", function()
    survives [[
      local share = core.hold()
      package.loaded["zklock.core"] = nil
      local again = require "zklock.core"
      assert(again ~= core)
      again.hold():release()
      try(share.state, share)
      share:release()
    ]]
  end)

  it("needs no debug library", function()
    survives [[
      for name in pairs(package.loaded) do
        if name:find "^zklock" or name == "debug" then
          package.loaded[name] = nil
        end
      end
      debug = nil
      local bare = require "zklock"
      local session, message, code = bare.connect(NOWHERE,
        { connect_timeout = 0.05, loop = "poll" })
      assert(not session and code == "disconnected", message)
      local ok, problem = pcall(bare.connect, 5)
      assert(not ok and problem:find "zklock: ", problem)
    ]]
  end)
end)
