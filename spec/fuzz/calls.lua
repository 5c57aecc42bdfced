--- Fuzzes every entry point of zklock.core and of the public API: sequences of
-- calls on live objects, with any arguments and options, also from callbacks,
-- finalizers, metamethods and other coroutines.  The process lives; the public
-- API answers as it says it does, or raises a sentence of zklock's.
--
--     lua calls.lua SEED CALLS
--
-- In virtual time: the seed says what is called, in which order, and what the
-- servers and the collector do meanwhile.
local virtual = require "zklock.virtual"
local core = require "zklock.core"
local options = require "zklock.options"
local sessions = require "zklock.session"
local settings = require "zklock.settings"
local zklock = require "zklock"

local seed, most_calls = tonumber(arg[1]), tonumber(arg[2])
local trace = os.getenv "TRACE"
math.randomseed(seed)
local random = math.random
local unpack = table.unpack or unpack -- luacheck: ignore

-- When the collector runs by itself depends on addresses.  (On LuaJIT it begins
-- again with each call of collectgarbage.)
local gc = collectgarbage
local function collect(...)
  gc(...)
  gc "stop"
end
gc "stop"
if rawget(_G, "jit") then jit.off() end

-- A server, and one that takes connections and never says a word.
local hosts, SILENT = "127.0.0.1:2181", "127.0.0.1:3181"
virtual.seed(seed)
virtual.ensemble { addresses = { hosts }, seed = seed, max_timeout_ms = 60000,
  max_connections = 0 }
assert(virtual.link_new(SILENT, hosts, { 0 }))
virtual.link_freeze(SILENT)

local SENTINEL = "an error of the user's"
local DEPTH = 3 -- of calls inside calls
local POOL = 12 -- objects of a kind

-- What a run is to find out: that the public API keeps its word, that the core
-- survives whatever it is told, or that both do when the one is used under
-- the other.
local mode = ({ "public", "core", "mixed" })[seed % 3 + 1]

-- The objects.

local pools = { session = {}, lock = {}, guard = {}, ticket = {}, handle = {},
  share = {}, awaiting = {}, recipe = {} }

local function pick(list) return list[random(#list)] end

local function keep(kind, object)
  local pool = pools[kind]
  if #pool >= POOL then table.remove(pool, random(#pool)) end
  pool[#pool + 1] = object
end

local function any(kind)
  local pool = pools[kind]
  return pool[1] and pick(pool)
end

-- The values.

local strings = { "", "x", "/", "/fuzz/a", "/fuzz/b", "//", "a/b", "\0", "a\0b",
  "/fuzz/\0", "\n", "\255\254", "/\240\159\146\165", ("x"):rep(100),
  ("/y"):rep(600), "mutex", "read", "keep", "lose", "poll", "parent", "kazoo",
  "connected", "closed", "digest", "world", "anyone", "cdrwa", "user:secret",
  "open", "creator", "auto", hosts, SILENT, "127.0.0.1:1", "h:99999", "a,,b",
  "timeout", "__gc", "__index", "-0", "0x10", "1e300" }

local numbers = { 0, -0.0, 1, -1, 2, 3, 0.5, 0.001, 1e-300, -1e300, 1e300, 1e9,
  2 ^ 31, 2 ^ 31 - 1, -2 ^ 31, 2 ^ 32, 2 ^ 53, 2 ^ 63, -2 ^ 63, math.huge,
  -math.huge, 0 / 0, 1000000, 1000001 }

local keys = { "timeout", "data", "max_hold", "owner", "wait", "reentrant",
  "fair", "local_turns", "layout", "poll_interval", "scheme",
  "credential", "id", "perms", "permissions", "kind", "permits", "writer",
  "lose_on_suspend", "guard", "per", "backoff", "on_error",
  "fn", "finish", "hosts", "session_timeout", "auth", "acl",
  "log", "loop", "tls", "connect_timeout", "on_event", "node", "token",
  "session", "new", "wake", "min_session_timeout", "tick_time", "ca", 1, 2,
  3, "x" }

local metamethods = { "__gc", "__index", "__newindex", "__close", "__tostring",
  "__metatable", "__call", "__eq", "__len", "__name", "__mode" }

local call_something -- in a callback, a finalizer, a metamethod

-- The Lua state is: what is made now has no finalizer, and a session no end but
-- the process's.
local closing = false
local depth = 0

local function inside()
  if depth >= DEPTH then return end
  depth = depth + 1
  call_something()
  depth = depth - 1
end

-- (A table of ours may have any field.)
local function is_guard(thing)
  local class = debug.getmetatable(thing)
  return class and type(rawget(class, "release")) == "function"
end

local function callback()
  local kind = random(4)
  return function(...)
    if kind == 1 then error(SENTINEL, 0) end
    if kind > 2 then inside() end
    for i = 1, math.min(select("#", ...), 1) do
      local thing = select(i, ...)
      if type(thing) == "table" and rawget(thing, "node") and is_guard(thing)
      then
        keep("guard", thing)
      end
    end
    return ...
  end
end

local value

local function table_of(level)
  local t = {}
  for _ = 1, random(0, 4) do
    local key = pick(keys)
    t[key] = value(level - 1)
  end
  local kind = random(12)
  if kind == 1 then
    t.self = t
  elseif kind == 2 then
    setmetatable(t, { __index = function()
      inside()
      return value(0)
    end })
  elseif kind == 3 then
    setmetatable(t, { __index = function() error(SENTINEL, 0) end,
      __tostring = function() return "odd" end })
  elseif kind == 4 then
    setmetatable(t, { __close = callback(), __call = callback() })
  end
  return t
end

function value(level)
  local kind = random(level > 0 and 16 or 11)
  if kind == 1 then return nil
  elseif kind == 2 then return random(2) == 1
  elseif kind <= 4 then return pick(numbers)
  elseif kind <= 6 then return pick(strings)
  elseif kind == 7 then return ("z"):rep(10 ^ random(0, 6) + random(0, 1))
  elseif kind == 8 then return callback()
  elseif kind == 9 then
    return any(pick { "session", "lock", "guard", "ticket" })
  elseif kind == 10 then
    return any "share" or core.hold()
  elseif kind == 11 then
    return pick { io.stdout, coroutine.create(function() end),
      any "handle" or core.session(), print }
  end
  return table_of(level)
end

local function values(n)
  local list = {}
  for i = 1, n do list[i] = value(2) end
  return list
end

-- Seconds that nobody waits for long: some junk, and short ones.
local function short()
  local given = value(1)
  if given == nil or type(given) == "table" then return 0.01 end
  if type(given) == "string" and tonumber(given) then return 0.01 end
  if type(given) == "number" and given > 0.05 then return 0.02 end
  return given
end

-- What acquire and its like are given.
local function patience()
  if random(3) > 1 then return short() end
  local t = table_of(2)
  rawset(t, "timeout", short())
  if type(rawget(t, "max_hold")) == "number" then rawset(t, "max_hold", 0.3) end
  return t
end

-- (The seed decides, not the order of a table.)
local function sorted(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- A table most of whose fields are right.
local function good(fields)
  local t = {}
  for _, key in ipairs(sorted(fields)) do
    if random(3) == 1 then t[key] = pick(fields[key]) end
  end
  if random(12) == 1 then t[pick(keys)] = value(1) end
  return t
end

-- Calls: what is called, and what became of it.

local calls, raised, last = 0, 0, "nothing"

local function fail(text)
  io.stderr:write(("FAILED, seed %d, call %d, %s: %s\n"):format(seed, calls,
    last, text))
  os.exit(1)
end

-- LuaJIT says this of any error that has a handler and is raised while another
-- handler runs, in a finalizer perhaps.
local IN_HANDLER = rawget(_G, "jit") and "error in error handling"

-- An error that is no fault of the public API's.
local function is_sentence(problem)
  return type(problem) == "string" and (problem:find("zklock: ", 1, true)
    or problem:find(SENTINEL, 1, true) or problem == IN_HANDLER)
end

-- `nil, message, code`, if the first result is nil.
local function check_results(n, result, message, code)
  if result ~= nil or n < 2 or message == nil then return end
  if type(message) ~= "string" or not message:find("^zklock: ") then
    fail("the message " .. tostring(message))
  elseif not rawget(zklock.errors, code) then
    fail("the code " .. tostring(code))
  end
end

-- `strict`: the public API, and nothing else has been at its objects.
local function call(strict, name, fn, ...)
  calls, last = calls + 1, name
  if trace then
    io.stderr:write(calls, " ", name)
    for i = 1, select("#", ...) do
      io.stderr:write(" ", tostring((select(i, ...))):sub(1, 40))
    end
    io.stderr:write "\n"
  end
  local results = { pcall(fn, ...) }
  last = name
  if results[1] then
    if strict then check_results(#results - 1, unpack(results, 2, 4)) end
    return unpack(results, 2, 4)
  end
  raised = raised + 1
  if strict and not is_sentence(results[2]) then
    fail("raised " .. tostring(results[2]))
  elseif type(results[2]) ~= "string" then
    fail("raised a " .. type(results[2]))
  end
end

-- An object's method; sometimes of another object, or of none.
local function call_method(strict, object, name, ...)
  local fn = object[name]
  local self = object
  if random(12) == 1 then self = value(1) end
  return call(strict, name, fn, self, ...)
end

-- The public API.

local function lock_options()
  local t = good {
    max_hold = { 0.05, 0.2 }, reentrant = { true, false },
    data = { "", "data", "\0\n\255" }, lose_on_suspend = { true, false },
    fair = { true, false }, wait = { "predecessor", "parent", "poll" },
    local_turns = { 0, 1, 5 }, layout = { "curator", "kazoo" },
  }
  if type(t.max_hold) ~= "string" then rawset(t, "max_hold", 0.2) end
  return random(10) == 1 and value(2) or t
end

-- Tasks, which the adapter suspends, and nobody need resume.

local tasks, is_task = {}, setmetatable({}, { __mode = "k" })

local adapter = {
  wait = function()
    if depth > 0 or not is_task[coroutine.running() or false] then
      error(SENTINEL, 0)
    end
    coroutine.yield()
  end,
  wake = function() end,
}

local function resume(task)
  local ok, problem = coroutine.resume(task)
  if not ok then fail("a task raised " .. tostring(problem)) end
  if coroutine.status(task) == "dead" then return end
  if #tasks >= POOL then table.remove(tasks, random(#tasks)) end
  tasks[#tasks + 1] = task
end

local function start_task()
  local task = coroutine.create(function()
    for _ = 1, random(3) do call_something() end
  end)
  is_task[task] = true
  resume(task)
end

-- It goes on, is forgotten, or closed.
local function end_task()
  local task = table.remove(tasks, random(#tasks))
  local kind = random(6)
  if kind > 2 then
    resume(task)
  elseif kind == 1 and coroutine.close then
    coroutine.close(task)
  end
end

-- (A lock without max_hold may be held for ever: nobody waits for ever.)
local function path()
  if random(8) == 1 then return value(1) end
  return "/fuzz/" .. pick { "a", "b", "c" } .. seed % 50
end

-- (What has one already is not kept.)
local function keep_if(kind, method, object)
  if type(object) ~= "table" then return end
  if object[method] then keep(kind, object) end
end

-- What is done to some object of a kind, or, where there is none, to make one;
-- with `ends`, when the Lua state closes, too.
local function on(kind, make, fn, ends)
  return function()
    if closing and not ends then return end
    local object = (type(kind) == "function" and kind or any)(kind)
    if object then return fn(object) end
    return make()
  end
end

local public = {}

function public.connect()
  if closing then return end
  local given = good {
    session_timeout = { 4, 5 }, connect_timeout = { 0.05 },
    loop = { "poll", adapter }, log = { callback() }, on_event = { callback() },
    auth = { { scheme = "digest", credential = "u:p" } },
    acl = { "open" },
  }
  given.connect_timeout = 0.05 + random(0, 1)
  if given.loop == nil then given.loop = "poll" end
  local to = random(4) > 1 and hosts or pick(strings)
  if to ~= hosts then given.connect_timeout = 0.05 end
  local session = call(true, "connect", zklock.connect,
    random(10) == 1 and value(1) or to,
    random(10) == 1 and value(2) or given,
    random(10) == 1 and value(0) or nil)
  keep_if("session", "mutex", session)
end

function public.open()
  if closing then return end
  local session = call(true, "open", sessions.open,
    pick { hosts, hosts, hosts, SILENT, "127.0.0.1:1" },
    { loop = random(2) == 1 and "poll" or adapter, connect_timeout = 0.05,
      session_timeout = 4, log = pick { callback(), nil } })
  keep_if("session", "mutex", session)
end

public.make = on("session", public.connect, function(session)
  local name = pick { "mutex", "semaphore", "rwlock", "multi", "mutex" }
  local arguments
  if name == "semaphore" then
    arguments = { path(), random(8) == 1 and value(1) or 2, lock_options() }
  elseif name == "multi" then
    local one = any "lock"
    session = one and one._session or session
    local parts = { one }
    for _, lock in ipairs(pools.lock) do
      if lock._session == session or random(20) == 1 then
        parts[#parts + 1] = lock
      end
    end
    arguments = { random(6) == 1 and value(2) or parts }
  else
    arguments = { path(), lock_options() }
  end
  local lock = call_method(true, session, name, unpack(arguments, 1, 3))
  if type(lock) == "table" and lock.read then
    keep("lock", lock.read)
    lock = lock.write
  end
  keep_if("lock", "acquire", lock)
end)

public.acquire = on("lock", public.make, function(lock)
  local name = pick { "acquire", "try_acquire", "acquire", "with_lock",
    "acquire_async" }
  local given = { patience() }
  if name == "try_acquire" and random(3) > 1 then
    given = {}
  elseif name == "with_lock" then
    given = { patience(), random(8) == 1 and value(1) or callback() }
  elseif name == "acquire_async" then
    given[2] = random(8) == 1 and value(1) or callback()
  end
  local result = call_method(true, lock, name, unpack(given, 1, 2))
  if name == "acquire_async" then
    keep_if("ticket", "cancel", result)
  else
    keep_if("guard", "release", result)
  end
end)

public.lock = on("lock", public.make, function(lock)
  call_method(true, lock, pick { "release", "holders", "cancel" },
    random(3) == 1 and value(1) or nil)
end, true)

-- What is built on locks.

local recipe_options = {
  data = { "", "data" }, layout = { "curator", "latch", "kazoo" },
  lose_on_suspend = { true, false }, share_path = { true, false },
}

-- (What has no max_hold may be held for ever.)
local function options_of_recipe()
  if random(10) == 1 then return value(2) end
  local given = good(recipe_options)
  rawset(given, "max_hold", 0.2)
  return given
end

local makers = {
  election = function() return path(), options_of_recipe() end,
  barrier = path,
  double_barrier = function()
    local given = options_of_recipe()
    if type(given) == "table" then rawset(given, "layout", nil) end
    return path(), random(8) == 1 and value(1) or random(2), given
  end,
}

public.make_recipe = on("session", public.connect, function(session)
  local name = pick { "election", "barrier", "double_barrier" }
  local object = call_method(true, session, name, makers[name]())
  if type(object) ~= "table" or not object.cancel then return end
  keep("recipe", { name = name, object = object })
end)

-- Nobody waits for ever: somebody stops it.
local function run_once(election)
  call(true, "campaign_async", election.campaign_async, election, 0.02,
    function() election:stop() end)
  return function(guard)
    keep("guard", guard)
    election:stop()
    if random(4) == 1 then error(SENTINEL, 0) end
    inside()
  end
end

local waiting = { campaign = true, run = true, wait = true, enter = true,
  leave = true }
local patient = { campaign = true, wait = true, enter = true }
local asynchronous = { campaign_async = true, wait_async = true,
  enter_async = true, leave_async = true }

local arguments_of = {
  run = function(object)
    return { max_hold = 0.2, backoff = 0.01 }, run_once(object)
  end,
  observe = callback,
  leave = function() return { timeout = 0.02, guard = any "guard" } end,
}

local recipe_methods = {
  election = { "campaign", "campaign_async", "cancel", "run", "stop",
    "is_stopping", "resign", "leader", "observe", "campaign" },
  barrier = { "set", "lift", "is_set", "wait", "wait_async", "cancel" },
  double_barrier = { "enter", "enter_async", "leave", "leave_async", "cancel" },
}

local function arguments_for(object, name)
  if arguments_of[name] then return arguments_of[name](object) end
  if patient[name] then return patience() end
  if asynchronous[name] then
    return patience(), random(8) == 1 and value(1) or callback()
  end
  return random(6) == 1 and value(1) or nil
end

public.recipe = on("recipe", public.make_recipe, function(recipe)
  local object, name = recipe.object, pick(recipe_methods[recipe.name])
  -- (What is made while the state closes is never collected.)
  if closing and (waiting[name] or asynchronous[name]) then return end
  if name == "run" and object._session:state() == "closed" then return end
  local result = call_method(true, object, name, arguments_for(object, name))
  keep_if("ticket", "cancel", result)
  keep_if("guard", "release", result)
end, true)

local guard_methods = { "release", "is_held", "lease", "verify", "token",
  "token_number", "tokens", "state", "reason", "on_lost", "on_revoke", "turn",
  "release" }

public.guard = on("guard", public.acquire, function(guard)
  local name = pick(guard_methods)
  -- (A multi's guard has one method in place of some.)
  if not guard[name] then name = "release" end
  local argument
  if random(6) == 1 then
    argument = value(1)
  elseif name == "on_lost" or name == "on_revoke" then
    argument = callback()
  elseif name == "release" and random(4) == 1 then
    argument = { wait = true }
  end
  call_method(true, guard, name, argument)
end, true)

public.ticket = on("ticket", public.acquire, function(ticket)
  call_method(true, ticket, "cancel", random(10) == 1 and value(0) or nil)
end, true)

-- Options alone, without an object that they are of: many in little time.

local kinds = { mutex = { "mutex" }, rwlock = { "read", "write" },
  semaphore = { "permit" } }

local readers = {
  function()
    settings.read(random(3) == 1 and value(1) or pick(strings), table_of(3))
  end,
  function()
    local family = pick { "mutex", "rwlock", "semaphore" }
    options.read_lock(table_of(2), family, pick(kinds[family]), 1, "")
  end,
}

function public.options()
  for _ = 1, 50 do
    local ok, problem = pcall(pick(readers))
    if not ok and not is_sentence(problem) then
      fail("raised " .. tostring(problem))
    end
  end
end

-- What a session is asked of a path, and what else that takes.
local asks = { contenders = true, revoke = true, children = true,
  stat = { true, false }, touch = { "", "data" },
  evict = { "holder", "x-lock-0000000001", "locks/x-lock-0000000001", "x" } }

-- A list of requests for the core, of which some are none.
local function requests()
  local list, at = {}, "/fuzz/core/a" .. seed % 50
  for i = 1, random(0, 4) do
    list[i] = random(8) == 1 and value(1) or { pick { "sync", "exists", "list",
      "get", "set", "create", "delete", "delete-both", "mkdir", "create-once",
      "delete-once", "x" }, pick { at, at .. "/x-lock-0000000001",
      at .. "/b/c", "/", value(0) }, pick { "", "data", value(0) },
      pick { -1, 0, 5, 2 ^ 40, value(0) }, pick { at, value(0) } }
  end
  return list
end

public.session = on("session", public.connect, function(session)
  local name = pick { "state", "id", "timeout", "stats", "fd", "step", "step",
    "on", "contenders", "revoke", "stat", "children", "touch", "evict",
    "with_lock", "once", "step", "metrics", "on_trace" }
  if closing and (name == "with_lock" or name == "once") then return end
  local given = {}
  if name == "on" then
    given = { pick { "connected", "closed", "x" }, callback() }
  elseif name == "on_trace" and random(3) > 1 then
    given = { callback() }
  elseif asks[name] then
    given = { path(), asks[name] ~= true and pick(asks[name]) or nil }
  elseif name == "with_lock" then
    given = { path(), patience(), callback() }
  elseif name == "once" then
    given = { path(), nil, callback() }
  end
  if random(8) == 1 then given = values(random(0, 3)) end
  -- (Its own options, without a max_hold, and its patience may be a junk nil.)
  if name == "with_lock" then
    given[2] = { timeout = 0.02, max_hold = 0.2 }
  elseif name == "once" then
    given[2] = { timeout = 0.02, per = pick { 0, 0.01, 3600, math.huge, "x" } }
  end
  call_method(true, session, name, unpack(given, 1, 3))
end, true)

public.close = on("session", public.connect, function(session)
  if random(6) == 1 then call_method(true, session, "close") end
end, true)

function public.text()
  local object = any(pick { "session", "lock", "guard" })
  if object then call(true, "tostring", tostring, object) end
  local escaped = call(true, "escape", zklock.escape, value(random(0, 1)))
  call(true, "unescape", zklock.unescape,
    random(2) == 1 and escaped or value(0))
end

-- Metamethods and fields of their own, and what others make of them.
local function call_metamethod()
  local object = any(pick { "session", "lock", "guard", "ticket", "share",
    "handle", "awaiting" })
  if not object then return end
  local name = pick(metamethods)
  local fn = call(false, "index", function() return object[name] end)
  if type(object) == "userdata" then
    if fn ~= nil then fail("reaches " .. name) end
    if getmetatable(object) ~= "zklock" then fail "shows its metatable" end
    call(false, "setmetatable", setmetatable, object, {})
    call(false, "newindex", function() object[name] = fn end)
  elseif type(fn) == "function" then
    call(false, name, fn, random(2) == 1 and object or value(1),
      unpack(values(2), 1, 2))
  end
  call(false, "compare", function() return object == value(1) end)
  call(false, "length", function() return #object end)
  call(false, "concat", function() return object .. "" end)
  call(false, "call", object, value(1))
end

-- The core.

local function handle_options()
  local t = {
    hosts = pick { hosts, hosts, SILENT, "127.0.0.1:1", hosts .. "/fuzz" },
    session_timeout = 4, log = random(2) == 1,
  }
  if random(8) == 1 then t[pick(keys)] = value(2) end
  return t
end

local function way()
  local t = good {
    kind = { "mutex", "read", "write", "permit", "unfair", "member" },
    layout = { "curator", "kazoo", "latch" },
    wait = { "predecessor", "parent", "poll" },
    permits = { 1, 2 }, local_turns = { 0, 1 }, poll_interval = { 0.01 },
    lose_on_suspend = { 0, 1 }, shares_path = { 0, 1 },
  }
  if random(10) == 1 then t.writer = any "share" end
  if random(2) == 1 then
    local read, prepared = pcall(core.lock_options, t)
    if read then return prepared end
  end
  return t
end

local of_core = {}

function of_core.open()
  if closing then return end
  local handle = call(false, "core.open", core.open,
    random(10) == 1 and value(2) or handle_options(),
    pick { nil, core.session(), any "handle" or core.session() })
  if type(handle) == "userdata" then keep("handle", handle) end
end

-- A session of the core.  What is to meet has to be of one: half of it is.
local function one_handle()
  local first = pools.handle[1]
  return random(2) == 1 and first or any "handle"
end

-- A directory that many contend in.
local function directory()
  return "/fuzz/core/" .. pick { "a", "b" } .. seed % 50
end

-- The path of a node that is there, mostly, or was; what the share of a hold
-- says is that of its own.
local function path_of_node()
  local share = random(2) == 1 and any "share"
  local known, node = pcall(function() return share:node() end)
  return known and node
    or directory() .. pick { "/holder", "/ready", "/locks", "/leases" }
end

-- (A lock may be inside another one: a semaphore's gates are.)
local function path_of_lock()
  return directory()
    .. (random(8) == 1 and pick { "/locks", "/leases" } or "")
end

of_core.acquire = on(one_handle, of_core.open, function(handle)
  local share = call(false, "core.acquire", handle.acquire, handle,
    random(12) == 1 and value(1) or path_of_lock(),
    random(6) == 1 and value(0) or 0.05, random(3) > 1,
    random(10) == 1 and value(0) or "data",
    random(6) == 1 and value(0) or 0.3, random(10) == 1 and value(2) or way(),
    random(8) == 1 and value(0) or nil)
  if type(share) == "userdata" then keep("share", share) end
end)

local words = { "gone", "there", "crowd" }

-- Mostly what is right.
local function rather(right) return random(10) == 1 and value(1) or right end

local awaits = {
  await = function(into)
    local word = pick(words)
    local place = random(3) == 1 and directory() or path_of_node()
    return rather(word), rather(place), rather(pick { 0.02, 1 }), random(3) > 1,
      rather(random(0, 2)), into
  end,
  depart = function(into)
    return rather(any "share"), rather(pick { 0.02, 1 }), random(3) > 1, into
  end,
}

of_core.await = on(one_handle, of_core.open, function(handle)
  local into = pick { any "awaiting" or value(0), core.awaiting(), nil }
  local name = pick { "await", "await", "depart" }
  local awaiting = call(false, "core." .. name, handle[name], handle,
    awaits[name](into))
  if type(awaiting) == "userdata" then keep("awaiting", awaiting) end
end)

of_core.awaiting = on("awaiting", of_core.await, function(awaiting)
  call_method(false, awaiting, pick { "cancel", "release" })
end, true)

local handle_methods = { "fd", "next", "noted", "wait", "state", "id",
  "timeout", "error", "stats", "lease", "verify", "ask", "ask", "nudge",
  "open_socket", "accept_socket", "request", "requests", "stand", "next",
  "noted" }

local function call_handle(handle, name)
  local given = random(4) == 1 and values(random(0, 4)) or {}
  if name == "wait" then
    given = { short() }
  elseif name == "verify" and random(3) > 1 then
    given = { any "share" }
  elseif name == "ask" and random(4) > 1 then
    given = { requests(), pick { 0, 100, value(0) }, pick { 0, 100, value(0) } }
  elseif name == "stand" then
    given = { core.hold(), short() }
    keep("share", given[1])
  end
  call_method(false, handle, name, unpack(given, 1, 4))
end

of_core.handle = on("handle", of_core.open, function(handle)
  call_handle(handle, pick(handle_methods))
end, true)

of_core.close = on("handle", of_core.open, function(handle)
  if random(4) > 1 then return end
  call_method(false, handle, pick { "close", "leave" })
end, true)

local share_methods = { "again", "release", "cancel", "is_held", "lease",
  "state", "token", "token_number", "node", "watch", "turn", "reason",
  "find_loss", "take", "waited", "held", "has_ended", "is_behind",
  "is_overdue", "mark", "root" }

local function other_than(one, names)
  local others = {}
  for _, name in ipairs(names) do
    if name ~= one then others[#others + 1] = name end
  end
  return others
end

-- (A share that is made while the state closes is never collected.)
local last_methods = other_than("again", share_methods)

of_core.share = on("share", of_core.acquire, function(share)
  local result = call_method(false, share,
    pick(closing and last_methods or share_methods),
    random(4) == 1 and value(1) or nil)
  if type(result) == "userdata" then keep("share", result) end
end, true)

-- (end_on would change what signals do to this process.)
local function_names = {}
for _, name in ipairs(sorted(core)) do
  if type(core[name]) == "function" and name ~= "end_on" and name ~= "open" then
    function_names[#function_names + 1] = name
  end
end

function of_core.functions()
  local name = pick(function_names)
  call(false, "core." .. name, core[name],
    unpack(values(random(0, 4)), 1, 4))
end

-- What is under a public object is called while that is in use.  (Events that
-- were taken away would be waited for, for ever; so would those of a core that
-- was closed, unless it is left, too, and the end of a hold that was released
-- behind its guard's back.)
local under_a_guard = other_than("release", share_methods)
local last_under_a_guard = other_than("again", under_a_guard)

local function call_under()
  local session, guard = any "session", any "guard"
  if guard and guard._hold_ref and random(2) == 1 then
    local name = pick(closing and last_under_a_guard or under_a_guard)
    call(false, "under a guard", guard._hold_ref[name], guard._hold_ref,
      value(0))
  elseif session then
    local handle = session._engine.core
    call_handle(handle, pick { "fd", "state", "id", "timeout", "error", "stats",
      "ask", "nudge", "verify", "wait", "requests" })
    if random(40) == 1 then
      call(false, "under a session", handle.leave, handle)
    end
  end
end

-- What is called next.

local targets = { public = {}, core = {}, mixed = {} }

local function add(list, functions)
  for _, name in ipairs(sorted(functions)) do
    list[#list + 1] = functions[name]
  end
end

add(targets.public, public)
add(targets.public, { acquire = public.acquire, guard = public.guard,
  make = public.make, session = public.session, recipe = public.recipe })
add(targets.core, of_core)
add(targets.core, { acquire = of_core.acquire, share = of_core.share,
  handle = of_core.handle, await = of_core.await })
add(targets.mixed, public)
add(targets.mixed, of_core)
add(targets.mixed, { a = call_under, b = call_under, c = call_metamethod,
  d = public.acquire, e = public.guard })
targets.core[#targets.core + 1] = call_metamethod

if mode == "mixed" then
  -- Whose insides others have been at may say anything.
  local strictly = call
  call = function(_, ...) return strictly(false, ...) end
end

local function in_finalizer(fn)
  if rawget(_G, "newproxy") then
    getmetatable(newproxy(true)).__gc = fn -- luacheck: ignore
  else
    setmetatable({}, { __gc = fn })
  end
end

function call_something() pick(targets[mode])() end

local function disturb()
  local kind = random(30)
  if kind == 1 then
    collect()
  elseif kind == 2 then
    collect("step", random(0, 50))
  elseif kind == 3 then
    in_finalizer(inside)
  elseif kind == 4 then
    local pool = pools[pick { "session", "lock", "guard", "ticket", "handle",
      "share" }]
    table.remove(pool)
  end
end

local function act()
  disturb()
  if random(4) == 1 then
    start_task()
  elseif tasks[1] and random(4) == 1 then
    end_task()
  else
    call_something()
  end
end

while calls < most_calls do act() end

-- At the end of the Lua state, everything is used once more.
closing = true
for _ = 1, 10 do in_finalizer(inside) end
print(("calls: %s, %d, %d raised, %s, seed %d"):format(mode, calls, raised,
  virtual.digest(), seed))
