--- What session:on_trace hears, of each end once and in the order in which they
-- happen, whatever it does meanwhile.  (Of each mode: metrics_spec.lua.)
local kinds = require "integration.family.kinds"
local prometheus = require "support.prometheus"
local sessions = require "integration.sessions"
local socket = require "socket"
local support = require "support"
local connect = support.connect

local path, session

before_each(function() path, session = support.path(), connect() end)

-- What it is told; `more(event, told)` is called for each.
local function listen(more)
  local told = {}
  session:on_trace(function(event)
    told[#told + 1] = event.what .. " " .. (event.code or event.reason or "-")
    if more then more(event, told) end
  end)
  return told
end

-- Of one path, how many were refused with this code.
local function refusals(code)
  return prometheus.sum(prometheus.read(session:metrics()),
    "zklock_lock_refusals_total", { path = path, code = code })
end

describe("on_trace", function()
  it("tells the fields of each event, until it is ended by nil", function()
    local events = {}
    session:on_trace(function(event) events[#events + 1] = event end)
    local begun = support.now()
    local guard = assert(session:mutex(path):acquire(20))
    local granted, token = support.now(), guard:token()
    support.advance(0.02)
    guard:release()
    support.hold(path)
    session:mutex(path):acquire(0.03)
    assert.equal(session, session:on_trace(nil))
    assert(session:mutex(support.path()):acquire(20)):release()
    assert.equal(5, #events)
    for i, fields in ipairs {
      { what = "wait", timeout = 20 },
      { what = "grant", token = token, waited = granted - begun },
      { what = "release", token = token, held = 0.02 },
      { what = "wait", timeout = 0.03 },
      { what = "refuse", code = "timeout", waited = 0.03 },
    } do
      local event = events[i]
      fields.path, fields.mode = path, "mutex"
      fields.id = events[i < 4 and 1 or 4].id
      assert.is_true(event.time >= (i > 1 and events[i - 1].time or begun))
      fields.time = event.time
      for _, name in ipairs { "waited", "held" } do
        if fields[name] then assert.near(fields[name], event[name], 0.002) end
        fields[name] = event[name]
      end
      assert.same(fields, event)
    end
    assert.are_not.equal(events[1].id, events[4].id)
  end)

  it("tells how long a hold lasted whose first guard was released", function()
    local last
    session:on_trace(function(event) last = event end)
    local mutex = session:mutex(path)
    local guards = { mutex:acquire(20), mutex:acquire(20) }
    local second = guards[2]
    support.advance(0.02)
    guards[1]:release()
    guards[1] = nil
    support.advance(0.03)
    support.collect()
    session:close()
    assert.same({ "release", second:token() }, { last.what, last.token })
    assert.near(0.05, last.held, 0.002)
  end)

  it("may raise: it goes to the log, or comes out of step()", function()
    local lines = {}
    session = connect { log = function(level, text)
      lines[#lines + 1] = level .. " " .. text
    end }
    for i = 1, 2 do
      if i == 2 then session = connect() end
      listen(function(event) error("no " .. event.what, 0) end)
      assert(session:mutex(path):acquire(20)):release()
    end
    local source = { getfd = function() return session:fd() end }
    for i, what in ipairs { "wait", "grant", "release" } do
      assert.equal(1, #socket.select({ source }, nil, 0)) -- its loop steps it
      assert.matches("^error an error in a callback: no " .. what, lines[i])
      local ok, problem = pcall(session.step, session)
      assert.is_false(ok)
      assert.matches("^no " .. what, tostring(problem))
    end
    assert.equal(3, #lines)
    session:step()
    assert.equal(0, #socket.select({ source }, nil, 0))
  end)

  it("hears of a refusal once, though it turns or closes the session then",
    function()
      support.hold(path)
      for _, act in ipairs { "step", "close" } do
        session = connect()
        local told = listen(function(event, told)
          if event.what == "refuse" and #told < 100 then
            session[act](session)
          end
        end)
        local outcomes = {}
        session:mutex(path):acquire_async(0.02, function(_, _, code)
          outcomes[#outcomes + 1] = code
        end)
        support.wait_until(function()
          if session:state() ~= "closed" then session:step() end
          return outcomes[1]
        end)
        if act == "step" then session:step() end
        assert.same({ "timeout" }, outcomes)
        assert.same({ "wait -", "refuse timeout" }, told)
        assert.equal(1, refusals "timeout")
      end
    end)

  it("hears of what the session refuses at once", function()
    local lock, told = session:mutex(path, { reentrant = false }), listen()
    local mine = { timeout = 30, owner = session }
    local guard = assert(lock:acquire(mine))
    assert.equal("deadlock", (select(3, lock:acquire(mine))))
    assert.equal("deadlock", (select(3, lock:try_acquire { owner = session })))
    local asked = kinds.wait_in(lock, { owner = session })
    assert.equal("deadlock", select(3, kinds.await(asked)))
    assert.equal(3, refusals "deadlock")
    support.lose(guard)
    assert.equal("lost", (select(3, lock:acquire(mine))))
    assert.equal(1, refusals "lost")
    assert.same({ "wait -", "grant -", "refuse deadlock", "refuse deadlock",
      "refuse deadlock", "refuse lost", "loss node_deleted" }, told)
    guard:release()
  end)

  it("hears of each release and grant in the order of their times", function()
    local lock, last, n = session:mutex(path, { local_turns = 100 }), 0, 0
    local told = listen(function(event)
      assert(event.time >= last, "time goes back at " .. event.what)
      last, n = event.time, n + 1
      session:step()
    end)
    local released = 0
    for _ = 1, 30 do
      lock:acquire_async({ owner = {} }, function(guard)
        guard:release()
        released = released + 1
      end)
    end
    support.step_until(session, function() return released == 30 end)
    assert.equal(90, n)
    for i = 31, 90, 2 do -- each release before the grant to the next
      assert.same({ "grant -", "release -" }, { told[i], told[i + 1] })
    end
    session:step() -- raises what was asserted above
  end)

  local function acquire() return session:mutex(path):acquire(20) end

  -- The event, what makes it, and what comes of that.
  for name, row in pairs {
    wait = { "wait", function() return select(3, acquire()) end, "closed" },
    ["wait of acquire_async"] = { "wait", function()
      return kinds.wait_in(session:mutex(path)).code
    end, "closed" },
    grant = { "grant", function() return acquire():state() end, "released" },
    release = { "release", function() return acquire():release() end, true },
    ["release that is to be confirmed"] = { "release", function()
      return select(3, acquire():release { wait = true })
    end, "closed" },
    refuse = { "refuse", function()
      support.hold(path)
      return select(3, session:mutex(path):try_acquire())
    end, "busy" },
    loss = { "loss", function()
      local guard = acquire()
      support.lose(guard)
      return select(3, guard:release())
    end, "lost" },
  } do
    it("may close the session at its event " .. name, function()
      listen(function(event)
        if event.what == row[1] then session:close() end
      end)
      assert.equal(row[3], (row[2]()))
      assert.equal("closed", session:state())
    end)
  end

  it("may turn the session until the lock is granted", function()
    listen(function(event)
      if event.what ~= "wait" then return end
      support.until_state(session, nil, { grants = 1 })
      for _ = 1, 20 do session:step() end
    end)
    assert.equal("held", assert(session:mutex(path):acquire(20)):state())
  end)

  it("hears closed of what was granted, and has not gone on", function()
    local scheduler, outcome
    session, scheduler = sessions.in_loop()
    local told = listen()
    scheduler:spawn(function()
      outcome = { select(3, session:mutex(path):acquire(30)) }
    end)
    scheduler:turn(0)
    support.wait_until(function() return session:stats().grants == 1 end)
    session:step() -- its task is woken
    session:close()
    scheduler:run()
    assert.same({ "closed" }, outcome)
    assert.same({ "wait -", "refuse closed" }, told)
  end)
end)

if not support.is_54 then return end -- no other Lua can kill a coroutine

describe("on_trace, where a task is killed,", function()
  local scheduler

  before_each(function() session, scheduler = sessions.in_loop() end)

  it("hears that its wait was cancelled", function()
    local guard, told = support.hold(path), listen()
    local task = scheduler:spawn(function() session:mutex(path):acquire() end)
    scheduler:turn()
    support.wait_for_queue(path, 2)
    assert.is_true(scheduler:kill(task))
    assert.equal(1, refusals "cancelled")
    assert.same({ "wait -" }, told) -- it may be in the middle of something
    for _ = 1, 2 do
      session:step()
      assert.same({ "wait -", "refuse cancelled" }, told)
    end
    support.wait_for_queue(path, 1)
    guard:release()
  end)

  it("hears of the release of a member that leaves", function()
    local gate, guards, tasks = session:double_barrier(path, 2), {}, {}
    for i = 1, 2 do
      tasks[i] = scheduler:spawn(function()
        guards[i] = assert(gate:enter(30))
        if i == 1 then gate:leave(60) end
      end)
    end
    scheduler:run_until(function()
      return guards[1] and guards[2] and session:stats().in_flight == 0
    end)
    local told = listen()
    assert.is_true(scheduler:kill(tasks[1]))
    assert.same({ "release -" }, told)
    guards[2]:release()
  end)

  it("may be what the task is in, as a lost multi's parts are given back",
    function()
      local parts, guard, heard = {}, nil, false
      for i = 1, 4 do parts[i] = session:mutex(path .. "-" .. i) end
      local multi = session:multi(parts)
      session:on_trace(function(event)
        if event.what ~= "release" then return end
        heard = true
        scheduler:pause(60)
      end)
      local task = scheduler:spawn(function()
        guard = assert(multi:acquire(30))
        support.lose(guard._parts[1])
        multi:acquire(1)
      end)
      scheduler:run_until(function() return heard end)
      scheduler:kill(task)
      assert.equal("lost", guard:state())
      for i = 1, 4 do support.wait_for_queue(path .. "-" .. i, 0) end
    end)
end)
