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
--
-- `tasks`: needs spawn, which a loop that blocks does not have.  `owns`: needs
-- tasks that own what they acquired, which in skynet they do not.
local suite = {}

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
  local ok, a, b = lock:with_lock(function(guard)
    env.sleep(0.02)
    held = guard:is_held()
    return 1, "two"
  end, { timeout = 5 })
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

case("what tools ask is answered", function(env)
  local session, path = env.connect(), env.path()
  local guard = assert(session:mutex(path, { data = "me" }):acquire(30))
  local node = guard.node:sub(#path + 2)
  local list = assert(session:contenders(path))
  same(1, #list)
  same("me", list[1].data)
  same(guard:token(), list[1].token)
  same("ephemeral", session:stat(guard.node).kind)
  same(node, session:children(path)[1])
  same(true, session:stamp(path .. "/stamp"))
  same("persistent", session:stat(path .. "/stamp").kind)
  same(true, session:evict(path, node))
  same(false, session:evict(path, node))
  env.until_true(function() return not guard:is_held() end, session)
  same("deleted", guard:reason())
  guard:release()
end)

-- What is built on it.

case("an election is won, known, and resigned", function(env)
  local session, path = env.connect(), env.path()
  local election = session:election(path, { data = "me" })
  same(nil, election:leader())
  same(false, election:resign())
  local guard = assert(election:campaign(30))
  local leader = env.connect():election(path):leader()
  same("me", leader.data)
  same(guard:token(), leader.token)
  same(session:id(), leader.session)
  refused("timeout", env.connect():election(path):campaign(0.1))
  same(true, election:resign { wait = true })
  same(false, guard:is_held())
  -- (Whose time was over may have left its node a moment ago.)
  env.until_true(function() return election:leader() == nil end, session)
end)

case("leader(fn) hears who leads, and of each change", function(env)
  local session, path = env.connect(), env.path()
  local heard = {}
  local ticket = session:election(path):leader(function(leader)
    heard[#heard + 1] = leader and leader.data or "nobody"
  end)
  local function await(text)
    env.until_true(function() return table.concat(heard, " ") == text end,
      session)
  end
  await "nobody"
  local election = env.connect():election(path, { data = "one" })
  assert(election:campaign(30))
  await "nobody one"
  same(true, election:resign())
  await "nobody one nobody"
  ticket:cancel()
  assert(election:campaign(30)):release { wait = true }
  await "nobody one nobody"
  env.until_true(function() return session:stats().watches == 0 end, session)
end)

case("a barrier holds back who waits, until it is lifted", function(env)
  local session, path = env.connect(), env.path()
  local barrier, other = session:barrier(path), env.connect():barrier(path)
  same(true, barrier:wait()) -- nobody has set it
  same(true, barrier:set())
  same(true, other:is_set())
  local begun = env.now()
  refused("timeout", barrier:wait(0.1))
  same(true, env.now() - begun >= 0.1)
  refused("timeout", barrier:wait(0))
  local passed, cancelled
  barrier:wait_async(function(ok) passed = ok end)
  barrier:wait_async(function(_, _, code) cancelled = code end):cancel()
  env.until_true(function() return cancelled end, session)
  same("cancelled", cancelled)
  same(nil, passed)
  same(true, other:lift())
  env.until_true(function() return passed end, session)
  same(true, passed)
  same(true, barrier:wait())
  same(false, barrier:is_set())
end)

case("once does it in each period", function(env)
  local session, path = env.connect(), env.path()
  local runs = 0
  local function work()
    env.sleep(0.01)
    runs = runs + 1
    return "done", runs
  end
  local ok, a, b = session:once(path, { per = 3600 }, work)
  same("true done 1", ("%s %s %s"):format(tostring(ok), a, b))
  ok, a = env.connect():once(path, { per = 3600, timeout = 30 }, work)
  same(false, ok)
  same(true, a >= 0 and a < 3600)
  same(true, session:once(path, { per = 0 }, work))
  same(2, runs)
  same(false, pcall(session.once, session, path, { per = 0 }, error))
  rival(env, path)
  refused("timeout", session:once(path, { per = 0, timeout = 0.05 }, work))
  same(2, runs)
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
    env.sleep(0.02)
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
  local code
  guard:on_lost(function(_, why) code = why end)
  env.until_true(function() return code end, session)
  same("lost", code)
  local again
  guard:on_lost(function(_, why) again = why end)
  same("lost", again)
end)

case("on_revoke is called, though nobody waits", function(env)
  local session, path = env.connect(), env.path()
  local guard = assert(session:mutex(path):acquire(30))
  local asked
  guard:on_revoke(function(mine) asked = mine end)
  env.until_true(function()
    return asked or env.connect():revoke(path) and false
  end, session)
  same(guard, asked)
  same(true, guard:is_held())
  guard:release()
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
  for _ = 1, 5 do env.sleep(0.005) end
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
  env.sleep(0.02)
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

case_with_tasks("run goes on while other tasks do, and stops", function(env)
  local session, path = env.connect(), env.path()
  local mine, other = session:election(path), env.connect():election(path)
  local inside, led, running = 0, "", 2
  for name, election in pairs { a = mine, b = other } do
    env.spawn(function()
      same(true, election:run(function(guard)
        inside = inside + 1
        same(1, inside)
        env.sleep(0.005)
        same(true, guard:is_held())
        inside = inside - 1
        led = led .. name
      end))
      running = running - 1
    end)
  end
  local ticks = 0
  env.until_true(function()
    ticks = ticks + 1
    return led:find "a" and led:find "b" and #led >= 4
  end)
  same(true, ticks >= 2)
  mine:stop()
  other:stop()
  env.until_true(function() return running == 0 end)
  -- The other session gives its campaign up by itself.
  env.until_true(function() return count(session, path) == 0 end)
end)

case_with_tasks("stop ends a campaign and a pause at once", function(env)
  local session, path = env.connect(), env.path()
  local waiting, pausing = session:election(path), session:election(
    path .. "-other")
  rival(env, path)
  local ended, failed = 0, false
  env.spawn(function()
    same(true, waiting:run(function() error "it leads" end))
    ended = ended + 1
  end)
  env.spawn(function()
    same(true, pausing:run(function()
      failed = true
      error("ouch", 0)
    end, { backoff = 1000, max_backoff = 1000, on_error = function() end }))
    ended = ended + 1
  end)
  env.until_true(function() return failed and count(session, path) == 2 end)
  waiting:stop()
  pausing:stop()
  env.until_true(function() return ended == 2 end)
  env.until_true(function() return count(session, path) == 1 end)
end)

case_with_tasks("cancel and close end the waits of other tasks", function(env)
  local session, path = env.connect(), env.path()
  rival(env, path)
  local mutex = session:mutex(path)
  local barrier = session:barrier(path .. "-barrier")
  local gate = session:double_barrier(path .. "-9", 9)
  same(true, barrier:set())
  local codes, begun = {}, 0
  local function begin(object, wait)
    env.spawn(function()
      begun = begun + 1
      local code = select(3, object[wait](object))
      codes[#codes + 1] = code
    end)
  end
  local function begin_all()
    begun = 0
    for _ = 1, 2 do
      begin(mutex, "acquire")
      begin(barrier, "wait")
      begin(gate, "enter")
    end
    env.until_true(function() return begun == 6 end)
  end
  local function await(text)
    env.until_true(function() return table.concat(codes, " ") == text end)
    codes = {}
  end
  begin_all()
  for _, object in ipairs { mutex, barrier, gate } do
    object:cancel()
    await "cancelled cancelled"
  end
  begin_all()
  session:close()
  await "closed closed closed closed closed closed"
end)

case_with_tasks("members enter and leave together, again and again",
  function(env)
    local path, n, rounds = env.path(), 3, 3
    local phase, done = {}, 0
    for i = 1, n do
      phase[i] = 0
      local session = i < n and env.kept.session or env.connect()
      env.kept.session = session
      env.spawn(function()
        local gate = session:double_barrier(path, n)
        for round = 1, rounds do
          local guard = assert(gate:enter(60))
          for k = 1, n do same(true, phase[k] >= 2 * round - 2) end
          env.sleep(0.002 * i)
          phase[i] = 2 * round - 1
          same(true, gate:leave { guard = guard, timeout = 60 })
          for k = 1, n do same(true, phase[k] >= 2 * round - 1) end
          phase[i] = 2 * round
        end
        done = done + 1
      end)
    end
    env.until_true(function() return done == n end)
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
    env.sleep(0.001)
    ticks = ticks + 1
  end
  same(true, ticks > 0)
end)

return suite
