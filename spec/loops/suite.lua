--- The contract, as a list of cases that any loop can run: `{ name =, body =,
-- tasks =, owns = }`.  `body(env)` runs as a task of the loop, and raises if
-- the contract is broken.  It needs no test framework: runners.lua has the
-- loops, and contract_spec.lua runs all of it on each.
--
--   env.connect(options)   a session, which the runner closes
--   env.path()             a path that nothing else uses
--   env.sleep(seconds)     suspends the task, and the others go on
--   env.spawn(fn)          begins another task; an error in it fails the case
--   env.until_true(condition, session)
--                          returns when condition() is true; where nothing else
--                          calls session:step(), this does
--   env.now()              seconds
--   env.kept               a table that lives as long as the case
--   env.problem            what a task has raised
--
-- `tasks`: needs spawn, which a loop that blocks does not have.  `owns`: needs
-- tasks that own what they acquired, which in skynet they do not.
local suite = {}

--- Makes an env of `own`, which has the loop's `connect`, `path`, `sleep` and
-- `begin(fn)`, which begins a task; `steps`: nothing else steps a session.
function suite.environment(zklock, own)
  local env = { zklock = zklock, now = zklock.now, kept = {} }
  function env.options(options) return options or {} end
  for name, value in pairs(own) do env[name] = value end

  function env.until_true(condition, session)
    local deadline = zklock.now() + 80
    while not condition() do
      if env.problem then error(env.problem, 0) end
      if zklock.now() > deadline then error("it does not come true", 2) end
      if env.steps then session:step() end
      env.sleep(0.003)
    end
  end

  function env.spawn(fn)
    env.begin(function()
      local ok, problem = xpcall(fn, debug.traceback)
      if not ok then env.problem = env.problem or problem end
    end)
  end

  return env
end

--- Runs a case where nothing else closes its sessions: its problem, or nil.
-- Paths begin with `own.prefix`; `own.join()` waits for the tasks.
function suite.run(case, zklock, hosts, own)
  local sessions, paths = {}, 0
  function own.connect(options)
    local session = assert(zklock.connect(hosts, options))
    sessions[#sessions + 1] = session
    return session
  end
  function own.path()
    paths = paths + 1
    return own.prefix .. "-" .. paths
  end
  local env = suite.environment(zklock, own)
  local ok, problem = xpcall(case.body, debug.traceback, env)
  if own.join then own.join() end
  for _, session in ipairs(sessions) do session:close() end
  return not ok and problem or env.problem
end

local function case(name, body, needs)
  local new = needs or {}
  new.name, new.body = name, body
  suite[#suite + 1] = new
end

local function case_with_tasks(name, body)
  case(name, body, { tasks = true })
end

local function same(expected, found)
  if expected ~= found then
    error(("expected %s, found %s"):format(tostring(expected),
      tostring(found)), 2)
  end
end

local function refused(expected, guard, message, code)
  same(nil, guard)
  same(expected, code)
  same("zklock: ", message:sub(1, 8))
end

local function raises(pattern, fn, ...)
  local ok, message = pcall(fn, ...)
  same(false, ok)
  if not tostring(message):find(pattern, 1, true) then
    error(("%q does not contain %q"):format(tostring(message), pattern), 2)
  end
end

-- Another session holds the lock, and loses it after so many seconds, which
-- needs no task: the I/O thread sees to it.
local function rival(env, path, seconds)
  local lock = env.connect():mutex(path, { max_hold = seconds })
  local guard = assert(lock:acquire(30))
  env.kept[#env.kept + 1] = guard -- else the collector may release it
  return guard
end

local function count(session, path)
  return #assert(session:contenders(path))
end

-- The lock.

case("waits until the lock is free", function(env)
  local session, path = env.connect(), env.path()
  local begun = env.now()
  local holder = rival(env, path, 0.2)
  local guard = assert(session:mutex(path):acquire(30))
  same(true, env.now() - begun >= 0.2)
  same(true, guard:token() > holder:token())
  same(false, holder:is_held())
  guard:release()
end)

case("times out, not early, and leaves nothing", function(env)
  local session, path = env.connect(), env.path()
  rival(env, path)
  refused("busy", session:mutex(path):try_acquire())
  for _, seconds in ipairs { 0.1, 0 } do
    local begun = env.now()
    refused("timeout", session:mutex(path):acquire(seconds))
    same(true, env.now() - begun >= seconds)
  end
  env.until_true(function() return count(session, path) == 1 end, session)
end)

-- with_lock.

case("with_lock gives the results of its function", function(env)
  local lock = env.connect():mutex(env.path())
  local held
  local ok, a, b = lock:with_lock({ timeout = 5 }, function(guard)
    env.sleep(0.02) -- other tasks run, and the hold goes on
    held = guard:is_held()
    return 1, "two"
  end)
  same(true, ok)
  same(1, a)
  same("two", b)
  same(true, held)
end)

case("with_lock releases, and raises the same error", function(env)
  local session, path = env.connect(), env.path()
  local problem = {}
  local ok, raised = pcall(session.with_lock, session, path,
    function() error(problem) end)
  same(false, ok)
  same(problem, raised)
  assert(env.connect():mutex(path):acquire(30)):release()
end)

-- Callbacks.

case("acquire_async calls back without it, too", function(env)
  local session, path = env.connect(), env.path()
  rival(env, path)
  local codes = {}
  local function callback(_, _, code) codes[#codes + 1] = code end
  local lock = session:mutex(path)
  lock:acquire_async(0.05, callback)
  local ticket = lock:acquire_async(nil, callback)
  env.until_true(function() return codes[1] end, session)
  ticket:cancel()
  env.until_true(function() return codes[2] end, session)
  same("timeout", codes[1])
  same("cancelled", codes[2])
end)

case("a callback may wait", function(env)
  local session = env.connect()
  local lock, other = session:mutex(env.path()), session:mutex(env.path())
  local inner, later
  lock:acquire_async(nil, function(guard)
    inner = assert(other:acquire(30))
    env.sleep(0.02) -- the loop goes on while this callback waits
    same(true, inner:verify())
    guard:release()
    inner:release()
  end)
  lock:acquire_async(nil, function(guard)
    guard:release()
    later = true
  end)
  env.until_true(function() return later end, session)
end)

case("on_lost is called, though nobody waits", function(env)
  local session = env.connect()
  local guard = assert(session:mutex(env.path(), { max_hold = 0.1 })
    :acquire(30))
  local reason
  guard:on_lost(function(_, why) reason = why end)
  env.until_true(function() return reason end, session)
  same("max_hold_reached", reason)
  local again
  guard:on_lost(function(_, why) again = why end)
  same("max_hold_reached", again)
end)

case("an error in a callback goes to the log; the rest go on", function(env)
  local lines = {}
  local session = env.connect {
    log = function(level, message) lines[#lines + 1] = level .. message end,
  }
  local lock, served = session:mutex(env.path()), 0
  for i = 1, 3 do
    lock:acquire_async(nil, function(guard)
      guard:release()
      served = served + 1
      error("ouch " .. i, 0)
    end)
  end
  env.until_true(function() return served == 3 end, session)
  assert(lock:acquire(30)):release()
  local text = table.concat(lines, "\n")
  for i = 1, 3 do same(true, text:find("ouch " .. i, 1, true) ~= nil) end
end)

-- The session.

case("connect says when no server answers", function(env)
  local begun = env.now()
  refused("disconnected", env.zklock.connect("127.0.0.1:1",
    env.options { connect_timeout = 0.3 }))
  same(true, env.now() - begun >= 0.3)
end)

case("close ends holds and waits, and further use raises", function(env)
  local session, path = env.connect(), env.path()
  local lock = session:mutex(path)
  local guard = assert(lock:acquire(30))
  rival(env, path .. "/other")
  local code
  session:mutex(path .. "/other"):acquire_async(nil,
    function(_, _, why) code = why end)
  same(true, session:close())
  same(true, session:close())
  same("closed", code)
  same(false, guard:is_held())
  same(0, guard:lease())
  refused("closed", guard:verify())
  raises("the session is closed", lock.acquire, lock)
  assert(env.connect():mutex(path):acquire(30)):release()
end)

-- Several tasks.

case_with_tasks("the loop goes on while tasks wait", function(env)
  local session, path = env.connect(), env.path()
  local guard, waiting = rival(env, path), 10
  for _ = 1, 10 do
    env.spawn(function()
      assert(session:mutex(path):acquire(30)):release()
      waiting = waiting - 1
    end)
  end
  env.until_true(function() return count(session, path) == 1 + 10 end)
  same(10, waiting)
  guard:release()
  env.until_true(function() return waiting == 0 end)
end)

case_with_tasks("grants in the order of arrival", function(env)
  local session, path = env.connect(), env.path()
  local guard = assert(session:mutex(path):acquire(30))
  local arrived, granted = {}, {} -- loops may begin tasks in another order
  for i = 1, 20 do
    env.spawn(function()
      arrived[#arrived + 1] = i
      local mine = assert(session:mutex(path):acquire(10))
      granted[#granted + 1] = i
      mine:release()
    end)
  end
  env.until_true(function() return count(session, path) == 1 + 20 end)
  guard:release()
  env.until_true(function() return #granted == 20 end)
  same(table.concat(arrived, " "), table.concat(granted, " "))
end)

case("a task owns what it acquired, and no other", function(env)
  local session, path = env.connect(), env.path()
  local lock = session:mutex(path)
  local guard = assert(lock:acquire(30))
  local code, complaint, done
  env.spawn(function()
    code = select(3, lock:try_acquire())
    complaint = select(2, pcall(lock.release, lock))
    done = true
  end)
  env.until_true(function() return done end)
  same("busy", code)
  same(true, complaint:find("not held by the calling task", 1, true) ~= nil)
  same(true, guard:is_held())
  guard:release()
end, { tasks = true, owns = true })

case_with_tasks("cancel and close end the waits of other tasks", function(env)
  local session, path = env.connect(), env.path()
  rival(env, path)
  local mutex = session:mutex(path)
  local codes, begun = {}, 0
  local function begin_two()
    begun, codes = 0, {}
    for _ = 1, 2 do
      env.spawn(function()
        begun = begun + 1
        local code = select(3, mutex:acquire())
        codes[#codes + 1] = code
      end)
    end
    env.until_true(function() return begun == 2 end)
  end
  local function await(text)
    env.until_true(function() return table.concat(codes, " ") == text end)
  end
  begin_two()
  mutex:cancel()
  await "cancelled cancelled"
  begin_two()
  session:close()
  await "closed closed"
end)

case_with_tasks("release and verify suspend the task, too", function(env)
  local session = env.connect()
  local ticks, done = 0, 0
  for _ = 1, 5 do
    env.spawn(function()
      local guard = assert(session:mutex(env.path()):acquire(30))
      assert(guard:verify())
      assert(guard:release { wait = true })
      done = done + 1
    end)
  end
  while done < 5 do
    env.sleep(0.001) -- the other tasks run
    ticks = ticks + 1
  end
  same(true, ticks > 0)
end)

return suite
