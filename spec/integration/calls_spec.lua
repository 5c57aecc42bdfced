-- How methods are called: with a colon, and no more arguments than they take.
local read_file = require "support.files".read
local support = require "support"
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

local unpack = table.unpack or unpack

-- The methods that doc/api.md has, by what their object is called there.
local function public()
  local api = read_file((os.getenv "SPEC_ROOT" or ".") .. "/doc/api.md")
  local methods = { session = {}, lock = {}, guard = {}, election = {},
    barrier = {}, double_barrier = {}, ticket = {} }
  for kind, name in api:gmatch "\n#+ ([%l_]+):([%l_]+)%(" do
    local of = methods[kind]
    if of then of[#of + 1] = name end
  end
  return methods
end

-- As many as each takes; the others take none.
local full = {
  session = {
    mutex = { "/a", {} }, rwlock = { "/a", {} }, semaphore = { "/a", 1, {} },
    multi = { {}, {} }, with_lock = { "/a", {}, print }, revoke = { "/a" },
    contenders = { "/a" }, on = { "closed", print },
    stat = { "/a", true }, children = { "/a" },
    touch = { "/a", "", "/b" },
    evict = { "/a", "holder", "1" }, election = { "/a", {} },
    barrier = { "/a" }, double_barrier = { "/a", 1, {} },
    once = { "/a", {}, print }, metrics = { {} }, on_trace = { print },
  },
  lock = {
    acquire = { 5 }, try_acquire = { {} }, with_lock = { {}, print },
    acquire_async = { {}, print }, release = { {} },
  },
  guard = { release = { {} }, on_lost = { print }, on_revoke = { print } },
  election = {
    campaign = { 5 }, campaign_async = { {}, print }, run = { {}, print },
    resign = { {} }, observe = { print },
  },
  barrier = { wait = { 5 }, wait_async = { {}, print } },
  double_barrier = {
    enter = { 5 }, enter_async = { {}, print }, leave = { 5 },
    leave_async = { {}, print },
  },
  ticket = {},
}

describe("What the reference calls a method", function()
  local session, things

  before_each(function()
    session = connect()
    local mutex = session:mutex(support.path())
    local multi = session:multi { session:mutex(support.path()) }
    things = {
      { "session", session }, { "lock", mutex }, { "lock", multi },
      { "guard", assert(mutex:acquire(30)) },
      { "guard", assert(multi:acquire(30)) },
      { "election", session:election(support.path()) },
      { "barrier", session:barrier(support.path()) },
      { "double_barrier", session:double_barrier(support.path(), 2) },
      { "ticket", session:mutex(support.path()):acquire_async(type) },
    }
  end)

  -- `fn(kind, thing, name)` for each method of each thing that has it.
  local function each(fn)
    local methods, n = public(), 0
    for _, pair in ipairs(things) do
      local kind, thing = pair[1], pair[2]
      for _, name in ipairs(methods[kind]) do
        if thing[name] then
          n = n + 1
          fn(kind, thing, name)
        end
      end
    end
    assert.is_true(n > 40, n)
  end

  it("wants a colon, whatever it gets for self", function()
    each(function(kind, thing, name)
      local method = thing[name]
      for _, self in ipairs { "/path", 5, {}, print, false } do
        local message = misuse(function() method(self or nil) end)
        assert.equal(1, message:find(name .. " must be called with a colon: "
          .. kind .. ":" .. name .. "(", 1, true), message)
      end
    end)
  end)

  it("takes no more arguments than it says", function()
    each(function(kind, thing, name)
      local given = { unpack(full[kind][name] or {}) }
      given[#given + 1] = { max_hold = 1 }
      local message = misuse(function() thing[name](thing, unpack(given)) end)
      assert.truthy(message:find(
        kind .. ":" .. name .. "(", 1, true), message)
      assert.matches("takes no more arguments, got a table, too$", message)
    end)
    assert.equal("connected", session:state())
    for _, pair in ipairs(things) do
      if pair[1] == "guard" then assert.is_true(pair[2]:is_held()) end
    end
  end)

  -- Of each that takes options: what those are called, which are known, and how
  -- it is written, if it takes a function last.
  local OF_CALL = "data, max_hold, owner, timeout"
  local options = {
    { "lock", "acquire", "acquire options", OF_CALL },
    { "lock", "try_acquire", "try_acquire options",
      "data, max_hold, owner" },
    { "lock", "with_lock", "acquire options", OF_CALL,
      "with_lock([options,] fn)" },
    { "lock", "acquire_async", "acquire options", OF_CALL,
      "acquire_async([options,] fn)" },
    { "lock", "release", "release options", "wait" },
    { "guard", "release", "release options", "wait" },
    { "election", "campaign", "acquire options", OF_CALL },
    { "election", "campaign_async", "acquire options", OF_CALL,
      "campaign_async([options,] fn)" },
    { "election", "resign", "release options", "wait" },
    { "election", "run", "run options",
      "backoff, data, max_backoff, max_hold, on_error", "run([options,] fn)" },
    { "barrier", "wait", "wait options", "timeout" },
    { "barrier", "wait_async", "wait options", "timeout",
      "wait_async([options,] fn)" },
    { "double_barrier", "enter", "acquire options", OF_CALL },
    { "double_barrier", "enter_async", "acquire options", OF_CALL,
      "enter_async([options,] fn)" },
    { "double_barrier", "leave", "leave options", "guard, timeout" },
    { "double_barrier", "leave_async", "leave options", "guard, timeout",
      "leave_async([options,] fn)" },
    { "session", "with_lock", "with_lock options", "data, fair, layout, "
      .. "local_turns, lose_on_suspend, max_hold, owner, poll_interval, "
      .. "reentrant, share_path, timeout, wait",
      "with_lock(path, [options,] fn)" },
    { "session", "once", "once options", "data, per, timeout",
      "once(path, options, fn)" },
  }

  it("takes no other options than it says, and its function last", function()
    local callable = setmetatable({}, { __call = print })
    for _, row in ipairs(options) do
      local kind, name, what, known, usage = unpack(row, 1, 5)
      for _, pair in ipairs(things) do
        local thing, call = pair[2], pair[1] == kind and pair[2][name]
        local function with(...) -- what it is called with
          if kind == "session" then return thing, "/a", ... end
          return thing, ...
        end
        local fn = usage and print or nil
        if call then
          assert.matches(what .. " must be a .*table, got a string",
            misuse(function() call(with("x", fn)) end))
          for _, bad in ipairs { "nosuch", 1 } do
            assert.equal(('unknown option "%s" in %s (known: %s)'):format(bad,
              what, known),
              misuse(function() call(with({ [bad] = 1 }, fn)) end))
          end
        end
        for _, given in ipairs(call and usage and { false, 5, {} } or {}) do
          local wanted = ("argument fn of %s must be a function, got "):format(
            usage)
          assert.equal(wanted .. "nil",
            misuse(function() call(with(given or nil)) end))
          for _, bad in ipairs { 1, "x", {}, true } do
            assert.equal(wanted .. "a " .. type(bad),
              misuse(function() call(with(given or nil, bad)) end))
          end
          for _, first in ipairs(given and { print, callable } or {}) do
            assert.matches(wanted,
              misuse(function() call(with(first, given)) end), 1, true)
          end
        end
      end
    end
  end)

  it("wants a function where it calls one, and a value of the right type",
    function()
      local guard, lock = things[4][2], things[2][2]
      for name, call in pairs {
        on_lost = function(bad) guard:on_lost(bad) end,
        on_revoke = function(bad) guard:on_revoke(bad) end,
        observe = function(bad) things[6][2]:observe(bad) end,
        on_trace = function(bad) session:on_trace(bad or 5) end,
      } do
        for _, bad in ipairs { 5, {}, false } do
          assert.matches(("argument 1 of %s must be a function, got "):format(
            name), misuse(call, bad or nil), 1, true)
        end
      end
      support.misuses {
        { "option 'wait' must be a boolean",
          function() guard:release { wait = 1 } end },
        { "option 'data' must be at most 1024 bytes, got 1025",
          function() lock:acquire { data = ("x"):rep(1025) } end },
        { "option 'owner' must be a value other than NaN",
          function() lock:acquire { owner = 0 / 0 } end },
        { "option 'timeout' must be a number of seconds, not negative, got -1",
          function() session:with_lock("/a", { timeout = -1 }, print) end },
        { "timeout must be a number of seconds, not negative, got -inf",
          function() lock:acquire_async(-math.huge, print) end },
        { "option 'timeout' must be a number of seconds, not negative, got ",
          function() lock:acquire { timeout = 0 / 0 } end },
      }
    end)

  it("takes the path of any node first, if it is one", function()
    for _, name in ipairs { "contenders", "revoke", "stat", "children", "touch",
        "evict", "election", "barrier", "double_barrier", "once" } do
      local call, _, second, third = session[name], unpack(full.session[name])
      for _, bad in ipairs { "", "a", "/a/", "//a", "/a//b", "/a/../b", "/a\0b",
          "/\255", ("/a"):rep(501) } do
        assert.matches("^path must ",
          misuse(function() call(session, bad, second, third) end))
      end
      assert.equal("path must be a string, got nil",
        misuse(function() call(session) end))
    end
  end)

  -- These say what became of what there was, or do what is left to do.
  local harmless = { close = true, state = true, stats = true, step = true,
    id = true, release = true, resign = true, stop = true, is_stopping = true,
    metrics = true }

  it("is misuse when the session is closed", function()
    session:close()
    each(function(kind, thing, name)
      local arguments = full[kind][name] or {}
      if kind ~= "guard" and kind ~= "ticket" and not harmless[name] then
        assert.equal("the session is closed",
          misuse(function() thing[name](thing, unpack(arguments)) end), name)
      end
    end)
  end)

  it("is no method of the module; nil is no argument", function()
    support.misuses {
      { "zklock.connect(hosts, options) takes no more arguments, got a number, "
        .. "too", function() zklock.connect(support.hosts, {}, 5) end },
    }
    assert.is_true(assert(things[2][2]:acquire(5, nil)):release(nil, nil))
  end)
end)
