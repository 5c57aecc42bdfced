--- What every spec stands on.  Whatever the tests of a file that requires it
-- open through this module is closed after each of them, and looked for: a file
-- descriptor, a thread, a contender's node or a watch that is left makes the
-- test fail.
local lfs = require "lfs"
local socket = require "socket"
local core = require "zklock.core"
local raw = require "support.raw"
local zklock = require "zklock"

local support = {
  hosts = os.getenv "SPEC_HOSTS",
  lua = os.getenv "SPEC_LUA" or "lua5.4",
  now = core.now,
  sleep = socket.sleep,
  pid = core.pid,
  is_51 = _VERSION == "Lua 5.1" and not rawget(_G, "jit"),
  is_54 = _VERSION >= "Lua 5.4", -- or later: <close>, coroutine.close
}

local opened, baseline

-- Clients of our own, by hosts; that of the shared server outlives a test.
local clients = {}

--- A socket's receive(pattern); a busy machine may take four times as long.
function support.receive(from, pattern, seconds)
  from:settimeout(4 * seconds)
  return from:receive(pattern)
end

--- Lets so many seconds of virtual time pass.
function support.advance(seconds)
  assert(package.loaded["virtual.socket"], "only in virtual time")
  socket.sleep(seconds)
end

--- Waits until `condition()` gives something true, which it returns.
function support.wait_until(condition, seconds, what)
  local deadline, pause = core.now() + 4 * (seconds or 5), 0.001
  while true do
    local result = condition()
    if result then return result end
    if core.now() > deadline then
      error(("not within 4 times %g s: %s"):format(seconds or 5,
        what or "what was waited for"), 2)
    end
    socket.sleep(pause)
    pause = math.min(1.2 * pause, 0.015)
  end
end

--- The same while the session's callbacks run.
function support.step_until(session, condition, seconds, what)
  return support.wait_until(function()
    session:step()
    return condition()
  end, seconds, what)
end

--- Until the session is in this state, if one is named, and its stats have
-- these values.
function support.until_state(session, state, stats)
  support.step_until(session, function()
    local now = stats and session:stats()
    for name, value in pairs(stats or {}) do
      if (now[name] or now.internal[name]) ~= value then return false end
    end
    return not state or session:state() == state
  end, nil, state or "the session's counters")
end

-- What is left behind.

local function count_entries(directory)
  local n = 0
  for name in lfs.dir(directory) do
    if name ~= "." and name ~= ".." then n = n + 1 end
  end
  return n
end

function support.count_fds() return count_entries("/proc/self/fd") end
function support.count_threads() return count_entries("/proc/self/task") end

--- Resident memory in KiB, of this process or another.
function support.memory(pid)
  local status = require "support.files".read(("/proc/%s/status"):format(
    pid or "self"))
  return tonumber(status:match "VmRSS:%s+(%d+)")
end

function support.each_host(hosts)
  return hosts:gsub("/.*", ""):gmatch("[^,]+")
end

--- The i-th of these hosts.
function support.host(hosts, i)
  for host in support.each_host(hosts) do
    i = i - 1
    if i == 0 then return host end
  end
end

--- Watches at the servers on paths that begin with `prefix`.
function support.count_watches(prefix, hosts)
  local n = 0
  for host in support.each_host(hosts or support.hosts) do
    for line in (raw.word(host, "wchp") or ""):gmatch("[^\n]+") do
      if line:sub(1, #prefix) == prefix then n = n + 1 end
    end
  end
  return n
end

function support.await_watches(prefix, n)
  support.wait_until(function()
    return support.count_watches(prefix) == n
  end, 10, ("%d watches of %s"):format(n, prefix))
end

local function add_contenders(path, zk, list)
  for _, name in ipairs(zk:queue(path)) do
    list[#list + 1] = path .. "/" .. name
  end
  for _, child in ipairs(zk:children(path) or {}) do
    if not child:find("-lock-", 1, true) then
      add_contenders(path .. "/" .. child, zk, list)
    end
  end
  return list
end

--- Contenders' nodes in and below `path`.
function support.contenders(path, zk)
  return add_contenders(path, zk or support.zk(), {})
end

function support.count_contenders(path, zk)
  return #support.contenders(path, zk)
end

-- Opening.

-- 5.1 and LuaJIT begin with the same number in each process.
math.randomseed(core.pid())

-- A lock on a port's byte of this file, until the process ends: ports that a
-- process is about to use, though it does not listen there yet. The directory
-- is this user's, and spec/support/zookeeper makes it.
local cache = os.getenv "XDG_CACHE_HOME"
  or (os.getenv "HOME" or "") .. "/.cache"
local reserved = io.open(cache .. "/zklock/ports.lock", "a")
local own = {}

local function reserve(port)
  if own[port] then return false end
  own[port] = not reserved or lfs.lock(reserved, "w", port, 1)
  return own[port]
end

-- The upper third of what spec/support/zookeeper picks from: trying a port here
-- must not take it, for that moment, from a server that is being restarted.
local first, last = (os.getenv "ZKLOCK_PORTS" or "20000-25999")
  :match "^(%d+)-(%d+)$"
first = first + math.floor((last - first + 1) * 2 / 3)

--- A port that no other process of the specs is given, below those that a
-- system gives to clients.
function support.free_port()
  while true do
    local port = math.random(first, last)
    local listener = socket.bind("127.0.0.1", port)
    if listener then
      listener:close()
      if reserve(port) then return port end
    end
  end
end

local paths = 0

--- A path that no other test and no other process has.
function support.path(name)
  paths = paths + 1
  local path = ("%s/%s-%d"):format(opened.prefix, name or "lock", paths)
  return path
end

--- What to close when the test is over; `close(thing)` or `thing:close()`.
function support.closing(thing, close)
  table.insert(opened.things, { thing = thing, close = close })
  return thing
end

--- What acquire returned, a guard or another object, which the collector leaves
-- alone until the test is over.
function support.keep(object, message)
  assert(object, message)
  opened.things[object] = object
  return object
end

--- A session; `options.hosts` are others than the single server's.
function support.connect(options)
  local copy = {}
  for key, value in pairs(options or {}) do copy[key] = value end
  local hosts = copy.hosts or support.hosts
  copy.hosts = nil
  return support.closing(assert(zklock.connect(hosts, copy)))
end

--- Our own client: the same one as long as the servers run, for a test may
-- keep it.
function support.zk(hosts)
  hosts = hosts or support.hosts
  clients[hosts] = clients[hosts] or raw.connect(hosts, { renews = true })
  return clients[hosts]
end

--- Another session holds `path`: its guard, and the session.
function support.hold(path, options)
  local session = support.connect(options)
  return support.keep(session:mutex(path):acquire(30)), session
end

--- Waits until `n` contenders stand in the queue of `path`.
function support.wait_for_queue(path, n, hosts)
  local zk = support.zk(hosts)
  support.wait_until(function() return #zk:queue(path) == n end, 5,
    ("%d contenders in %s"):format(n, path))
  return zk:queue(path)
end

-- Before and after.

--- Collects whatever nobody has any more.  (A finalizer may leave something for
-- the next round; and what LuaJIT has compiled keeps what it was compiled with,
-- a closure, and all that this refers to.)
function support.collect()
  if rawget(_G, "jit") then jit.flush() end
  for _ = 1, 4 do collectgarbage() end
end

-- What a test may have open when it is over is what was open before it, and
-- the clients.
local function count_own_fds()
  local n = support.count_fds()
  for _ in pairs(clients) do n = n - 1 end
  return n
end

local function close_clients()
  for hosts, zk in pairs(clients) do
    if hosts ~= support.hosts then
      zk:close()
      clients[hosts] = nil
    end
  end
end

--- Begins a test; busted calls it.
function support.start()
  opened = {
    prefix = ("/spec-%d-%x"):format(core.pid(),
      math.floor(socket.gettime() * 1000) % 2 ^ 31),
    things = {},
  }
  baseline = { fds = count_own_fds(), threads = support.count_threads() }
end

--- Closes what was opened, last things first.
function support.close_all()
  local problem
  for i = #opened.things, 1, -1 do
    local thing, close = opened.things[i].thing, opened.things[i].close
    local ok, why = pcall(close or thing.close, thing)
    if not ok then problem = problem or why end
  end
  opened.things = {}
  return problem
end

-- With the session of each, for what is an owner's end or a test's.
local function describe_contenders(nodes, zk)
  local lines = {}
  for i, node in ipairs(nodes) do
    local stat = zk:exists(node)
    lines[i] = ("\n%s of %s"):format(node, not stat and "nobody any more"
      or stat.owner == "0x" and "no session" or stat.owner)
  end
  return table.concat(lines)
end

local function look_for_leaks()
  local zk, prefix = support.zk(), opened.prefix
  local nodes, watches = {}, 0
  local ok, problem = pcall(support.wait_until, function()
    nodes = support.contenders(prefix, zk)
    watches = support.count_watches(prefix)
    return #nodes == 0 and watches == 0
  end, 5)
  local left = not ok and ("left at the server: %d watches, %d contenders%s "
    .. "(%s)"):format(watches, #nodes, describe_contenders(nodes, zk), problem)
  zk:delete_all(prefix)
  return left or nil
end

-- (What a finalizer lets go of may have one of its own, and so forth: a loop's
-- objects that refer to each other need more than two cycles at times.)
local function look_for_own_leaks()
  local fds, threads
  local ok = pcall(support.wait_until, function()
    support.collect()
    fds, threads = count_own_fds(), support.count_threads()
    return fds <= baseline.fds and threads <= baseline.threads
  end, 3)
  if ok then return nil end
  return ("left in this process: %d fds of %d, %d threads of %d"):format(
    fds - baseline.fds, fds, threads - baseline.threads, threads)
end

--- Closes what the test has opened, and looks for what is left of it; busted
-- calls it, if the test has not.
function support.finish()
  if opened.is_over then return end
  opened.is_over = true
  local problem = support.close_all()
  problem = look_for_leaks() or problem
  close_clients()
  support.collect()
  problem = problem or look_for_own_leaks()
  if problem then error(problem, 0) end
end

--- Calls `fn`, a function on one line that must raise misuse: its message.
-- The blame must be on that line.
function support.misuse(fn, ...)
  local ok, message = pcall(fn, ...)
  if ok then error("nothing was raised", 2) end
  local info = debug.getinfo(fn, "S")
  local position = ("%s:%d: zklock: "):format(info.short_src, info.linedefined)
  if tostring(message):sub(1, #position) ~= position then
    error(("%q does not begin with %q"):format(tostring(message), position), 2)
  end
  return message:sub(#position + 1)
end

--- Each row is `{ text, fn }`: misuse, by a message that begins with the text.
function support.misuses(rows)
  for _, row in ipairs(rows) do
    local message = support.misuse(row[2])
    if message:sub(1, #row[1]) ~= row[1] then
      error(("%q does not begin with %q"):format(message, row[1]), 2)
    end
  end
end

--- What a callback was called with, and the callback.
function support.recorder()
  local calls = {}
  return calls, function(...) calls[#calls + 1] = { ... } end
end

--- The ACL that gives everybody these permissions; 31 are all.
function support.everybody(permissions)
  return { { perms = permissions, scheme = "world", id = "anyone" } }
end

--- How many requests a session has made, when none is unanswered, without its
-- heartbeats and nudges.
function support.requests(session)
  local stats
  support.wait_until(function()
    stats = session:stats()
    return stats.in_flight == 0
  end, 20, "no request in flight")
  return stats.requests - stats.heartbeats - stats.internal.nudges
end

--- An operator deletes the nodes of a hold: until its guard knows.
function support.lose(guard)
  for node in guard.node:gmatch "[^,]+" do support.zk():delete(node) end
  support.wait_until(function() return not guard:is_held() end, 10)
end

--- The virtual seconds that `fn` takes, and its results.
function support.timed(fn)
  local begun = support.now()
  local results = { fn() }
  return support.now() - begun, (unpack or table.unpack)(results, 1, 9)
end

local busted = package.loaded.busted
if busted and support.hosts then
  busted.before_each(support.start)
  busted.after_each(support.finish)
end

return support
