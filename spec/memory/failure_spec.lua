--- Each allocation fails once: Lua's while a thread of ours is in Lua, and
-- those of the C code, on both sides of the channel.  Whatever fails, the
-- caller gets an error, the session is usable or closed, and nothing is left:
-- no block of memory, no node, no wait.
local allocator = assert(require "memory.allocator".found,
  "allocations fail in the build of spec/memory/run only")
local new_scheduler = require "support.scheduler".new
local seize = require "support.seizure".seize
local start_proxy = require "support.proxy".start
local support = require "support"
local waits = require "zklock.wait"
local zklock = require "zklock"

-- What may be said of it.  Who has no memory for what a server says acts as
-- after a reconnection, so a question may end with "disconnected".
local function is_clean(problem, code)
  return tostring(problem):find("not enough memory", 1, true) ~= nil
    or code == "disconnected"
end

-- An attempt: a body under an allocator that fails once.

local env -- what the present attempt has: session, path, other …

local function session_of(options)
  local hosts = options.hosts or support.hosts
  options.hosts = nil
  local session, problem, code = zklock.connect(hosts, options)
  if not session then
    error({ problem = problem, code = code }, 0)
  end
  env.sessions[#env.sessions + 1] = session
  return session
end

-- A result that is an error of the world is one.
local function must(value, problem, code)
  if not value then error({ problem = problem, code = code }, 0) end
  return value
end

-- A ticket of what else would be waited for when the body has failed.  (There
-- is room for it.)
local function cancelled(ticket)
  local tickets = env.tickets
  tickets[tickets[1] and 2 or 1] = ticket
end

local function no_tickets() return { false, false } end

local function step_until(condition, ...)
  local sessions = { ... }
  support.wait_until(function()
    for _, session in ipairs(sessions) do session:step() end
    return condition()
  end)
end

local scenarios = {}

function scenarios.connect()
  session_of {
    auth = { scheme = "digest", credential = "a:b" },
    acl = { { scheme = "world", id = "anyone", perms = "cdrwa" } },
    log = function() end, on_event = function() end }:close()
end

function scenarios.acquire()
  must(env.session:mutex(env.path):acquire(30)):release { wait = true }
end

function scenarios.with_lock()
  must(env.session:with_lock(env.path, function(guard)
    assert(guard:is_held())
    must(env.session:mutex(env.path):acquire(30)):release()
  end))
end

function scenarios.time_out()
  local held = must(env.other:mutex(env.path):acquire(30))
  local guard, problem, code = env.session:mutex(env.path):acquire(0.02)
  held:release { wait = true }
  if not guard and code ~= "timeout" then must(guard, problem, code) end
end

function scenarios.contend()
  local held = must(env.other:mutex(env.path):acquire(30))
  local guard, problem
  local lock = env.session:mutex(env.path)
  lock:acquire_async({ timeout = 5 }, function(...) guard, problem = ... end)
  lock:acquire_async({ timeout = 5 }, function(later)
    if later then later:release() end
  end):cancel()
  held:on_lost(function() end)
  held:release()
  step_until(function() return guard or problem end, env.session, env.other)
  must(guard, problem):release()
end

function scenarios.rwlock()
  local lock = env.session:rwlock(env.path)
  local writer = must(lock.write:acquire(30))
  local reader = must(lock.read:acquire(30))
  writer:release()
  assert(reader:is_held())
  must(reader:verify())
  reader:release { wait = true }
end

function scenarios.semaphore()
  local lock = env.session:semaphore(env.path, 2)
  local one, two = must(lock:acquire(30)), must(lock:acquire(30))
  assert(lock:try_acquire() == nil)
  one:release()
  two:release { wait = true }
end

function scenarios.multi()
  local lock = env.session:multi {
    env.session:mutex(env.path .. "/a"), env.session:mutex(env.path .. "/b"),
  }
  must(lock:acquire(30)):release { wait = true }
end

function scenarios.unfair()
  local held = must(env.other:mutex(env.path, { fair = false }):acquire(30))
  local guard, problem
  env.session:mutex(env.path, { fair = false }):acquire_async({ timeout = 5 },
    function(...) guard, problem = ... end)
  held:release()
  step_until(function() return guard or problem end, env.session, env.other)
  must(guard, problem):release { wait = true }
end

function scenarios.ask()
  local guard = must(env.other:mutex(env.path):acquire(30))
  guard:on_revoke(function() end)
  local list = must(env.session:contenders(env.path))
  assert(#list == 1)
  must(env.session:revoke(env.path))
  guard:release { wait = true }
  assert(#must(env.session:contenders(env.path)) == 0)
end

function scenarios.tools()
  local session, path = env.session, env.path
  local guard = must(env.other:mutex(path):acquire(30))
  local node = guard.node:sub(#path + 2)
  must(session:touch(path .. "/touched"))
  must(session:touch(path .. "/touched", "again"))
  assert(must(session:stat(path)).children == 2)
  assert(#must(session:children(path)) == 2)
  must(session:evict(path, node))
  local gone, problem, code = session:evict(path, node)
  if gone ~= false then must(gone, problem, code) end
  guard:release()
end

-- Who hears is told, or has heard why not.
function scenarios.election()
  local session, heard, problem = env.session, nil, nil
  cancelled(env.other:election(env.path):observe(function(leader, message)
    heard, problem = leader, message
  end))
  local election = session:election(env.path, { layout = "curator" })
  local guard = must(election:campaign(30))
  local leader, message, code = election:leader()
  must(leader or code == nil, message, code)
  step_until(function() return heard or problem end, env.other)
  must(heard, problem)
  must(election:resign { wait = true })
  guard:release()
end

function scenarios.run()
  local election, ran = env.session:election(env.path), 0
  must(election:run({
    backoff = 0.001, on_error = function() end,
  }, function(guard)
    ran = ran + 1
    assert(guard:is_held())
    if ran == 2 then election:stop() end
    error("not enough memory", 0)
  end))
  assert(ran == 2)
end

function scenarios.barrier()
  local path, passed, problem = env.path .. "/deep/barrier", nil, nil
  local barrier = env.session:barrier(path)
  must(barrier:set())
  local ok, message, code = barrier:wait(0.01)
  if code ~= "timeout" then must(ok, message, code) end
  cancelled(env.other:barrier(path):wait_async(5, function(...)
    passed, problem = ...
  end))
  step_until(function()
    return env.other:stats().watches > 0 or passed or problem
  end, env.other)
  must(barrier:lift())
  step_until(function() return passed or problem end, env.other, env.session)
  must(passed, problem)
  must(barrier:wait(5))
end

function scenarios.double_barrier()
  local path, one, left, problem = env.path, nil, nil, nil
  local theirs = env.other:double_barrier(path, 2)
  cancelled(theirs:enter_async({ timeout = 5 }, function(...)
    one, problem = ...
  end))
  local ours = env.session:double_barrier(path, 2)
  local ok, message, code = ours:enter(1)
  step_until(function() return one or problem or not ok end, env.other,
    env.session)
  must(not problem, problem)
  must(ok, message, code)
  cancelled(theirs:leave_async({ guard = one, timeout = 5 }, function(...)
    left, problem = ...
  end))
  must(ours:leave(5))
  step_until(function() return left or problem end, env.other, env.session)
  must(left, problem)
end

function scenarios.once()
  local options = { per = 3600, timeout = 5 }
  local ok, message, code = env.session:once(env.path, options, function() end)
  must(ok, message, code)
  ok, message, code = env.session:once(env.path, options, error)
  if ok ~= false then must(ok, message, code) end
end

function scenarios.close()
  local session = session_of { log = function() end }
  local held = must(env.other:mutex(env.path):acquire(30))
  local told
  session:mutex(env.path):acquire_async(function(_, _, code) told = code end)
  session:close()
  held:release { wait = true }
  if told ~= "closed" then must(nil, told or "not enough memory") end
end

function scenarios.coroutine()
  local scheduler = new_scheduler()
  local session = session_of { loop = scheduler.adapter }
  for _ = 1, 2 do
    scheduler:spawn(function()
      must(session:mutex(env.path):acquire(30)):release()
    end)
  end
  scheduler:run()
  session:close()
end

-- The connection breaks while one waits and one holds.
function scenarios.reconnect()
  local session = session_of { hosts = env.proxy.hosts }
  local held = must(env.other:mutex(env.path):acquire(30))
  local own = must(session:mutex(env.path .. "/own"):acquire(30))
  local guard, problem
  session:mutex(env.path):acquire_async({ timeout = 10 },
    function(...) guard, problem = ... end)
  step_until(function() return session:stats().watches > 0 end, session)
  env.proxy:cut()
  step_until(function() return session:stats().reconnects > 0 end, session)
  held:release()
  step_until(function() return guard or problem end, session, env.other)
  must(guard, problem):release()
  own:release { wait = true }
  session:close()
end

-- After the attempt.

-- The session still does what it is for.
local function check_usable(session)
  local guard = assert(session:mutex(env.path .. "/after"):acquire(10))
  guard:release { wait = true }
  -- (One may be granted only now what the collector has released.)
  local tables = session._engine.waits
  step_until(function() return waits.any(tables) == nil end, session)
end

local function check(session)
  pcall(session.step, session) -- an error in a callback may come out
  if session == env.session or session == env.other then
    check_usable(session)
  else
    session:close()
    assert(waits.any(session._engine.waits) == nil, "a wait is left")
  end
end

local function attempt(kind, body, n)
  allocator.arm(kind, n)
  local ok, problem = pcall(body)
  local failed = allocator.disarm()
  local code
  if type(problem) == "table" then
    problem, code = problem.problem, problem.code
  end
  assert(ok or failed and is_clean(problem, code), problem)
  collectgarbage()
  for _, ticket in ipairs(env.tickets) do
    if ticket then ticket:cancel() end
  end
  for _, session in ipairs(env.sessions) do check(session) end
  env.sessions, env.tickets = {}, no_tickets()
  collectgarbage()
  support.wait_until(function()
    return support.count_contenders(env.path) == 0
  end, 10, "no node left")
  return failed
end

-- If the answer to a create is lost, and no server shows the node, its
-- directory is remembered until the ZooKeeper session ends
-- (src/protocol/late_creates.c).
local function end_doubts(session)
  local expirations = session:stats().expirations
  assert(seize(support.hosts, session:id()))
  support.step_until(session, function()
    return session:stats().expirations > expirations
      and session:state() == "connected"
  end, 10, "another ZooKeeper session")
end

local function is_kept(baseline)
  return pcall(support.wait_until, function()
    support.collect()
    return allocator.live() <= baseline
  end, 3)
end

-- Attempts with the first, the second … allocation, until all have failed.
local function sweep(kind, name)
  local n, misses, baseline = 1, 0, nil
  while misses < 3 do
    env.sessions = { env.session, env.other }
    env.path = support.path(name)
    local ok, failed = pcall(attempt, kind, scenarios[name], n)
    if not ok then
      error(("%s allocation number %d%s: %s"):format(kind, n,
        kind == "c" and " at " .. allocator.place() or "", tostring(failed)),
        0)
    end
    misses = failed and 0 or misses + 1
    baseline = baseline or allocator.live()
    n = n + 1
  end
  assert.is_true(n > misses + 1, "nothing has failed")
  if kind == "c" then
    end_doubts(env.session)
    end_doubts(env.other)
  end
  if not is_kept(baseline) then
    error(("%d blocks are left"):format(allocator.live() - baseline), 0)
  end
end

-- LuaJIT itself crashes where its own memory ends in certain places.
for _, kind in ipairs(jit and { "c" } or { "lua", "c" }) do
  describe(("An allocation of %s that fails"):format(
    kind == "c" and "the C code" or "Lua"), function()
    before_each(function()
      support.start()
      env = { session = support.connect(), other = support.connect(),
        tickets = no_tickets() }
    end)
    after_each(function()
      env = nil
      support.finish()
    end)

    for name in pairs(scenarios) do
      it(("does no harm: %s"):format(name), function()
        if name == "reconnect" then env.proxy = start_proxy() end
        sweep(kind, name)
      end)
    end
  end)
end
