--- Fuzzes every entry point of zklock.core and of the public API: sequences of
-- calls on live objects, with any arguments and options, also from callbacks,
-- finalizers, metamethods and other coroutines.  The process lives; the public
-- API answers as it says it does, or raises a sentence of zklock's.
--
--     lua calls.lua SEED CALLS
--
-- What the public API has, and of which types its arguments are, is read from
-- lua/zklock/meta; the core's is in a table here.  Most arguments are of their
-- type.
--
-- In virtual time: the seed says what is called, in which order, and what the
-- servers and the collector do meanwhile.
local reference = require "support.reference"
local virtual = require "zklock.virtual"
local core = require "zklock.core"
local sessions = require "zklock.session"
local zklock = require "zklock"

local seed, most_calls = tonumber(arg[1]), tonumber(arg[2])
math.randomseed(seed)
local random = math.random
local unpack = table.unpack or unpack -- luacheck: ignore

-- When the collector runs by itself depends on addresses.  (On LuaJIT it begins
-- again with each call of collectgarbage.)
local gc = collectgarbage
local doomed = {} -- what a full collection is the first to find
local function collect(...)
  if not ... then doomed = {} end
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

local pools = { session = {}, lock = {}, guard = {}, ticket = {},
  election = {}, barrier = {}, double_barrier = {}, handle = {}, share = {},
  awaiting = {} }

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

-- (The seed decides, not the order of a table.)
local function sorted(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- All fields of all options.
local all = reference.read()
local keys = { 1, 2, 3, "x" }
for _, class in ipairs(sorted(all.classes)) do
  for name in pairs(reference.fields(all, class)) do keys[#keys + 1] = name end
end
table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)

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
    local thing = ...
    if type(thing) == "table" and rawget(thing, "node") and is_guard(thing) then
      keep("guard", thing)
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
  local is_junk = given == nil or type(given) == "table"
  return (is_junk or (tonumber(given) or 0) > 0.05) and 0.02 or given
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

-- The public API: arguments of the types that lua/zklock/meta documents.

local pool_of = { Session = "session", Lock = "lock", RWLock = "lock",
  Multi = "lock", Guard = "guard", AnyGuard = "guard", MultiGuard = "guard",
  Ticket = "ticket", Election = "election", Barrier = "barrier",
  DoubleBarrier = "double_barrier" }

local function pool_of_type(name)
  return pool_of[name:match "^zklock%.(%a+)%??$" or ""]
end

local function path()
  if random(8) == 1 then return value(1) end
  return "/fuzz/" .. pick { "a", "b", "c" } .. seed % 50
end

local texts = {
  path = path,
  escaped = function() return zklock.escape(pick(strings)) end,
  hosts = function() return random(4) > 1 and hosts or pick(strings) end,
  data = function() return pick { "", "data", "\0\n\255" } end,
  node = function()
    return pick { "holder", "x-lock-0000000001", "locks/x-lock-0000000001" }
  end,
}

local simple = {
  string = function(name)
    return texts[name] and texts[name]() or pick(strings)
  end,
  boolean = function() return random(2) == 1 end,
  integer = function() return random(0, 3) end,
  ["zklock.Seconds"] = short,
}

local table_of_class

local function of_type(types, name)
  if random(20) == 1 then return value(1) end
  if types:find "^fun" then return callback() end
  local choices = {}
  for one in types:gmatch "[^|]+" do choices[#choices + 1] = one end
  local one = pick(choices)
  local word, item = one:match '^"(.*)"$', one:match "^(.*)%[%]$"
  if word then return word end
  if item then return { of_type(item), of_type(item) } end
  if simple[one] then return simple[one](name) end
  if pool_of_type(one) then return any(pool_of_type(one)) end
  if all.aliases[one] then return pick(all.aliases[one].choices).value end
  if all.classes[one] then return table_of_class(one) end
  return value(1)
end

-- Nobody waits for ever, and nothing is held for ever, mostly.
local bounds = {
  timeout = short,
  max_hold = function() return 0.2 end,
  connect_timeout = function() return 0.05 + random(0, 1) end,
  session_timeout = function() return random(4, 5) end,
  loop = function() return pick { "poll", adapter } end,
}

function table_of_class(class)
  local t, fields = {}, reference.fields(all, class)
  for _, name in ipairs(sorted(fields)) do
    local field = fields[name]
    if bounds[name] then
      t[name] = bounds[name]()
    elseif not field.optional or random(5) == 1 then
      t[name] = of_type(field.type, name)
    end
  end
  if random(12) == 1 then t[pick(keys)] = value(1) end
  return t
end

-- What acquire and its like are given.
local function patience(class, may_be_seconds)
  if may_be_seconds and random(3) > 1 then return short() end
  local t = random(4) == 1 and table_of(2) or table_of_class(class)
  rawset(t, "timeout", short())
  if type(rawget(t, "max_hold")) == "number" then rawset(t, "max_hold", 0.3) end
  return t
end

-- Parts of one session, mostly.
local function parts_for(session)
  local parts = {}
  for _, lock in ipairs(pools.lock) do
    local is_of_it = lock._session == session
    if random(is_of_it and 2 or 40) == 1 then
      parts[#parts + 1] = lock
    end
  end
  return parts
end

local function is_patient(types)
  local class = types:match "zklock%.%a+Options"
  return class and reference.fields(all, class).timeout and class
end

local function argument(param, object)
  if is_patient(param.type) then
    return patience(is_patient(param.type), param.type:find "^zklock.Seconds")
  elseif random(8) == 1 then
    return random(2) == 1 and value(2) or table_of(3)
  elseif param.optional and random(3) == 1 then
    return nil
  elseif param.name == "locks" then
    return parts_for(object)
  end
  return of_type(param.type, param.name)
end

-- Of each kind of objects its functions, and those that make one.  (A signal
-- would change what becomes of this process.)
local functions, makers = { zklock = {} }, {}
for kind in pairs(pools) do functions[kind], makers[kind] = {}, {} end

local function add_function(entry)
  local kind = pool_of_type(entry.class)
    or entry.class == "zklock.Module" and "zklock"
  local result = entry.results[1]
  local made = result and result.text ~= "itself" and pool_of_type(result.type)
  if not kind or entry.name == "release_on_signal" then return end
  entry.kind, entry.made, entry.begins = kind, made, made or entry.name == "run"
  for _, param in ipairs(entry.params) do
    entry.begins = entry.begins or is_patient(param.type)
  end
  table.insert(functions[kind], entry)
  if made then table.insert(makers[made], entry) end
end

for _, entry in ipairs(reference.functions(all)) do add_function(entry) end

-- Nobody waits for ever: the function stops it.
local function arguments_of_run(election)
  call(true, "campaign_async", election.campaign_async, election, 0.02,
    function() election:stop() end)
  return { max_hold = 0.2, backoff = 0.01 }, function(guard)
    keep("guard", guard)
    election:stop()
    if random(4) == 1 then error(SENTINEL, 0) end
    inside()
  end
end

local function arguments_of(entry, object)
  local given = {}
  if entry.name == "run" then return arguments_of_run(object) end
  for i, param in ipairs(entry.params) do given[i] = argument(param, object) end
  if random(12) == 1 and not entry.begins then given = values(3) end
  return unpack(given, 1, 3)
end

-- (A multi is made of locks of one session.)
local function object_for(entry)
  if entry.kind == "zklock" then return zklock end
  local lock = entry.name == "multi" and any "lock"
  return lock and lock._session or any(entry.kind)
end

-- (What is made while the state closes is never collected.)
local function call_public(entry)
  if closing and (entry.begins or entry.name == "close") then return end
  local object = object_for(entry)
  if not object then
    return not closing and call_public(pick(makers[entry.kind]))
  elseif entry.name == "run" and object._session:state() == "closed" then
    return
  end
  -- (A multi's guard has one method in place of some.)
  local name = object[entry.name] and entry.name or "release"
  local made
  if object == zklock then
    made = call(true, name, zklock[name], arguments_of(entry))
  else
    made = call_method(true, object, name, arguments_of(entry, object))
  end
  if not entry.made or type(made) ~= "table" then return end
  if name == "rwlock" then keep("lock", made.read) end
  keep(entry.made, made.write or made)
end

-- What is called next, each kind as often as its word is there.
local function words(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  return list
end

local kinds = words [[zklock session session session session session lock lock
  lock lock guard guard guard guard ticket election barrier double_barrier]]
local public = {}
for i, kind in ipairs(kinds) do
  public[i] = function() call_public(pick(functions[kind])) end
end

-- As for nginx: it does not wait for a server.
public[#public + 1] = function()
  if closing then return end
  local session = call(true, "open", sessions.open,
    pick { hosts, hosts, hosts, SILENT, "127.0.0.1:1" },
    { loop = bounds.loop(), connect_timeout = 0.05, session_timeout = 4,
      log = pick { callback(), nil } })
  if type(session) == "table" then keep("session", session) end
end

-- Time passes.
public[#public + 1] = function()
  local session = any "session"
  if session then call_method(true, session, "step") end
end

public[#public + 1] = function()
  local object = any(pick { "session", "lock", "guard" })
  if object then call(true, "tostring", tostring, object) end
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

-- The core: methods, some of them more often, and what they are given, mostly.

local methods = {
  handle = words [[acquire acquire acquire acquire acquire acquire await await
    depart fd next next noted noted wait state id timeout error stats lease
    ask ask nudge open_socket accept_socket request requests stand close
    leave]],
  share = words [[again release cancel is_held lease state token token_number
    node watch turn reason find_loss compare take waited held has_ended
    is_behind is_overdue mark root]],
  awaiting = words "cancel release",
}

-- Without those that are listed: what could not end, or be collected.
local function without(text, list)
  local left = {}
  for _, name in ipairs(list) do
    if not text:find(name, 1, true) then left[#left + 1] = name end
  end
  return left
end

local function one_of(text)
  local list = words(text)
  return function() return pick(list) end
end

local function a_share() return any "share" end
local function seconds() return pick { 0.02, 0.05, 1 } end
local function is_patient_or_not() return random(3) > 1 end
local function some_number() return pick { -1, 0, 1, 5, 100, 2 ^ 40 } end

local function directory()
  return "/fuzz/core/" .. pick { "a", "b" } .. seed % 50
end

-- (A lock may be inside another one: a semaphore's gates are.)
local function path_of_lock()
  return directory() .. (random(8) == 1 and pick { "/locks", "/leases" } or "")
end

-- The path of a node that is there, mostly, or was; what the share of a hold
-- says is that of its own.
local function path_of_node()
  local share = any "share"
  local known, node = pcall(function() return share:node() end)
  if known and node and random(2) == 1 then return node end
  return directory() .. pick { "", "/holder", "/ready", "/locks", "/leases" }
end

local function lock_options()
  local t = { kind = pick(words "mutex read write permit unfair member"),
    layout = pick(words "curator kazoo latch"), permits = random(0, 2),
    wait = pick(words "predecessor predecessor parent poll"),
    local_turns = random(0, 1), lose_on_suspend = random(2) == 1,
    share_path = random(2) == 1,
    writer = random(9) == 1 and any "share" or nil }
  for _ = 1, 3 do t[pick(sorted(t))] = nil end
  if random(12) == 1 then t[pick(keys)] = value(1) end
  local read, prepared = pcall(core.lock_options, t)
  return read and random(2) == 1 and prepared or t
end

-- A list of requests, of which some are none.
local function requests()
  local list, at = {}, "/fuzz/core/a" .. seed % 50
  for i = 1, random(0, 4) do
    list[i] = random(8) == 1 and value(1) or { pick(words [[sync exists list get
      set create delete delete-both mkdir create-once delete-once x]]),
      pick { at, at .. "/x-lock-0000000001", at .. "/b/c", "/", value(0) },
      pick { "", "data", value(0) }, pick { some_number(), value(0) },
      pick { at, value(0) } }
  end
  return list
end

local function a_hold()
  keep("share", core.hold())
  return pools.share[#pools.share]
end

local function an_awaiting() return pick { value(0), core.awaiting() } end

local arguments = {
  acquire = { path_of_lock, seconds, is_patient_or_not, one_of "data",
    seconds, lock_options },
  await = { one_of "gone there crowd", path_of_node, seconds,
    is_patient_or_not, some_number, an_awaiting },
  depart = { a_share, seconds, is_patient_or_not, an_awaiting },
  wait = { short }, stand = { a_hold, short },
  ask = { requests, some_number, some_number },
}

local made = { acquire = "share", again = "share", await = "awaiting",
  depart = "awaiting" }

local function call_core(object, name)
  local given, makers_of = {}, arguments[name] or {}
  for i, make in ipairs(makers_of) do
    -- (`short` alone has no junk that waits for ever.)
    if make ~= short and random(10) == 1 then make = value end
    given[i] = make(1)
  end
  if random(4) == 1 and not arguments[name] then given = values(4) end
  local count = math.max(#makers_of, 4)
  local result = call_method(false, object, name, unpack(given, 1, count))
  if type(result) == "userdata" then keep(made[name] or "share", result) end
end

local function open_core()
  local given = {
    hosts = pick { hosts, hosts, SILENT, "127.0.0.1:1", hosts .. "/fuzz" },
    session_timeout = 4, log = random(2) == 1,
  }
  if random(8) == 1 then given[pick(keys)] = value(2) end
  local handle = call(false, "core.open", core.open,
    random(10) == 1 and value(2) or given,
    pick { nil, core.session(), any "handle" or core.session() })
  if type(handle) == "userdata" then keep("handle", handle) end
end

local function call_any(kind)
  local object = kind ~= "open" and any(kind)
  -- What is to meet has to be of one session: half of it is.
  if kind == "handle" and random(2) == 1 then object = pools.handle[1] end
  if object and not closing then
    call_core(object, pick(methods[kind]))
  elseif object and kind ~= "handle" then
    call_core(object, pick(without("again", methods[kind])))
  elseif not closing then
    open_core()
  end
end

-- (end_on would change what signals do to this process.)
local function_names = without("end_on open", sorted(core))

local function call_function()
  local name = pick(function_names)
  if type(core[name]) ~= "function" then return end
  call(false, "core." .. name, core[name], unpack(values(random(0, 4)), 1, 4))
end

local of_core = { call_function, call_metamethod }
for _, kind in ipairs(words [[handle handle handle handle handle share share
  awaiting open]]) do
  of_core[#of_core + 1] = function() call_any(kind) end
end

-- What is under a public object is called while that is in use.  (Events that
-- were taken away would be waited for, for ever; so would those of a core that
-- was closed, unless it is left, too, and the end of a hold that was released
-- behind its guard's back.)
local under_a_guard = without("release again", methods.share)

local function call_under()
  local session, guard = any "session", any "guard"
  if guard and guard._hold_ref and random(2) == 1 then
    local name = pick(under_a_guard)
    call(false, "under a guard", guard._hold_ref[name], guard._hold_ref,
      value(0))
  elseif session then
    local handle = session._engine.core
    call_core(handle, pick(words [[fd state id timeout error stats ask nudge
      verify wait requests]]))
    if random(40) == 1 then
      call(false, "under a session", handle.leave, handle)
    end
  end
end

local targets = { public = public, core = of_core, mixed = {} }
for _, list in ipairs { public, of_core, { call_under, call_under } } do
  for _, target in ipairs(list) do table.insert(targets.mixed, target) end
end

if mode == "mixed" then
  -- Whose insides others have been at may say anything.
  local strictly = call
  call = function(_, ...) return strictly(false, ...) end
end

-- (How far a step of the collector comes depends on addresses, too: so `fn` is
-- called by no step.)
local function in_finalizer(fn)
  if rawget(_G, "newproxy") then
    local proxy = newproxy(true) -- luacheck: ignore
    getmetatable(proxy).__gc = fn
    doomed[#doomed + 1] = proxy
  else
    doomed[#doomed + 1] = setmetatable({}, { __gc = fn })
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
