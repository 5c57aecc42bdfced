--- What session:on_trace hears where things go wrong: of each end once, in the
-- order in which they happened, and whatever it does meanwhile.
local new_scheduler = require "support.scheduler".new
local strikes = require "support.strikes"
local support = require "support"

local function listen(session, more)
  local told = {}
  session:on_trace(function(event)
    told[#told + 1] = event.what .. " " .. (event.code or event.reason or "-")
    if more then more(event, told) end
  end)
  return told
end

-- Of one path, how many were refused with this code.
local function refusals(session, path, code)
  local pattern = 'zklock_lock_refusals_total{[^}]*} %d+'
  local total = 0
  for line in session:metrics():gmatch(pattern) do
    if line:find('path="' .. path .. '"', 1, true)
        and line:find('code="' .. code .. '"', 1, true) then
      total = total + tonumber(line:match "%d+$")
    end
  end
  return total
end

before_each(support.start)
after_each(support.finish)

describe("on_trace", function()
  it("hears of a refusal once, though it turns the session then", function()
    local session, path = support.connect(), support.path()
    support.hold(path)
    local told = listen(session, function(event, told)
      if event.what == "refuse" and #told < 100 then session:step() end
    end)
    local outcomes = {}
    session:mutex(path):acquire_async(0.02, function(_, _, code)
      outcomes[#outcomes + 1] = code
    end)
    support.step_until(session, function() return outcomes[1] end)
    session:step()
    assert.same({ "timeout" }, outcomes)
    assert.same({ "wait -", "refuse timeout" }, told)
    assert.equal(1, refusals(session, path, "timeout"))
  end)

  it("hears of a refusal once, though it closes the session then", function()
    local session, path = support.connect(), support.path()
    support.hold(path)
    local told = listen(session, function(event)
      if event.what == "refuse" then session:close() end
    end)
    local outcomes = {}
    session:mutex(path):acquire_async(0.02, function(_, _, code)
      outcomes[#outcomes + 1] = code
    end)
    support.wait_until(function()
      if session:state() ~= "closed" then session:step() end
      return outcomes[1]
    end)
    assert.same({ "timeout" }, outcomes)
    assert.same({ "wait -", "refuse timeout" }, told)
  end)

  it("hears of what the session refuses at once", function()
    local session, path = support.connect(), support.path()
    local lock = session:mutex(path, { reentrant = false })
    local told = listen(session)
    local guard = assert(lock:acquire { timeout = 30, owner = session })
    assert.equal("deadlock",
      (select(3, lock:acquire { timeout = 30, owner = session })))
    assert.equal("deadlock", (select(3, lock:try_acquire { owner = session })))
    local code
    lock:acquire_async({ owner = session }, function(_, _, word)
      code = word
    end)
    support.step_until(session, function() return code end)
    assert.equal("deadlock", code)
    assert.equal(3, refusals(session, path, "deadlock"))
    guard:on_revoke(function() end)
    support.zk():delete(guard.node)
    support.wait_until(function() return not guard:is_held() end)
    assert.equal("lost",
      (select(3, lock:acquire { timeout = 30, owner = session })))
    assert.equal(1, refusals(session, path, "lost"))
    assert.same({ "wait -", "grant -", "refuse deadlock", "refuse deadlock",
      "refuse deadlock", "refuse lost", "loss deleted" }, told)
    guard:release()
  end)

  it("hears of a release before the grant to whom the lock is passed",
    function()
      local session, path = support.connect(), support.path()
      local lock = session:mutex(path, { handoffs = 100 })
      local guard = assert(lock:acquire(30))
      local told = listen(session)
      local next_one
      lock:acquire_async({ owner = {} }, function(one) next_one = one end)
      support.until_state(session, nil, { in_flight = 0 })
      guard:release()
      support.step_until(session, function() return next_one end)
      assert.same({ "wait -", "release -", "grant -" }, told)
      next_one:release()
    end)

  it("hears of each release and grant in the order of their times", function()
    local session, path = support.connect(), support.path()
    local lock, last, n = session:mutex(path, { handoffs = 100 }), 0, 0
    listen(session, function(event)
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
    session:step() -- raises what was asserted above
  end)

  it("hears of each part of a multi that is released", function()
    local session, path = support.connect(), support.path()
    local multi = session:multi { session:mutex(path .. "-1"),
      session:mutex(path .. "-2") }
    local guard = assert(multi:acquire(30))
    local told = listen(session)
    guard:release()
    assert.same({ "release -", "release -" }, told)
    told = listen(session)
    assert.is_true(multi:with_lock(function()
      while #told > 0 do table.remove(told) end
    end, 30))
    assert.same({ "release -", "release -" }, told)
  end)

  it("hears of the hold that an error ends", function()
    local session, path = support.connect(), support.path()
    local told = listen(session)
    assert.is_false(pcall(function()
      session:mutex(path):with_lock(function() error "on purpose" end, 30)
    end))
    assert.same({ "wait -", "grant -", "release -" }, told)
  end)

  if support.is_54 then
    it("hears that a wait was cancelled whose task has been killed", function()
      local path, scheduler = support.path(), new_scheduler()
      local session = support.connect { loop = scheduler.adapter }
      local guard, told = support.hold(path), listen(session)
      local task = scheduler:spawn(function()
        session:mutex(path):acquire()
      end)
      scheduler:turn()
      support.wait_for_queue(path, 2)
      assert.is_true(scheduler:kill(task))
      assert.equal(1, refusals(session, path, "cancelled"))
      assert.same({ "wait -" }, told) -- it may be in the middle of something
      session:step()
      assert.same({ "wait -", "refuse cancelled" }, told)
      support.wait_for_queue(path, 1)
      session:step()
      assert.equal(2, #told)
      guard:release()
    end)

    it("hears of the release of a member that was killed as it left",
      function()
        local path, scheduler = support.path(), new_scheduler()
        local session = support.connect { loop = scheduler.adapter }
        local gate = session:double_barrier(path, 2)
        local guards = {}
        local function enter(i)
          return scheduler:spawn(function()
            guards[i] = assert(gate:enter(30))
            if i == 1 then gate:leave(60) end
          end)
        end
        local task = enter(1)
        enter(2)
        support.wait_until(function()
          scheduler:turn(0)
          return guards[1] and guards[2] and session:stats().in_flight == 0
        end)
        local told = listen(session)
        assert.is_true(scheduler:kill(task))
        assert.same({ "release -" }, told)
        guards[2]:release()
      end)

    it("may be killed while it hears how a lost multi's parts are given back",
      function()
        local path, scheduler = support.path(), new_scheduler()
        local session = support.connect { loop = scheduler.adapter }
        local parts, guard, heard = {}, nil, false
        for i = 1, 4 do parts[i] = session:mutex(path .. "-" .. i) end
        local multi = session:multi(parts)
        session:on_trace(function(event)
          if event.what ~= "release" then return end
          heard = true
          scheduler:sleep(60)
        end)
        local task = scheduler:spawn(function()
          guard = assert(multi:acquire(30))
          local zk = support.zk()
          zk:delete(path .. "-1/" .. zk:queue(path .. "-1")[1])
          guard._parts[1]:on_revoke(function() end) -- it hears of that
          while guard._parts[1]:is_held() do support.sleep(0.01) end
          multi:acquire(1)
        end)
        support.wait_until(function()
          scheduler:turn(0)
          return heard
        end)
        scheduler:kill(task)
        assert.equal("lost", guard:state())
        for i = 1, 4 do support.wait_for_queue(path .. "-" .. i, 0) end
      end)
  end
end)

describe("A session that is closed", function()
  it("gives no lock to who was granted it, and has not gone on", function()
    if support.is_51 then return end -- pcall
    local path, scheduler = support.path(), new_scheduler()
    local session = support.connect { loop = scheduler.adapter }
    local told, outcome = listen(session), nil
    scheduler:spawn(function()
      outcome = { select(3, session:mutex(path):acquire(30)) }
    end)
    scheduler:turn(0)
    support.wait_until(function() return session:stats().grants == 1 end)
    session:step() -- its task is woken
    session:close()
    support.wait_until(function()
      scheduler:turn(0)
      return outcome
    end)
    assert.same({ "closed" }, outcome)
    assert.same({ "wait -", "refuse closed" }, told)
  end)
end)

describe("A multi", function()
  it("hears closed where the session is closed as a part is granted",
    function()
      local session, path = support.connect(), support.path()
      local multi = session:multi { session:mutex(path .. "-1"),
        session:mutex(path .. "-2") }
      local told = listen(session, function(event)
        if event.what == "grant" then session:close() end
      end)
      assert.equal("closed", (select(3, multi:acquire(30))))
      assert.same({ "wait -", "grant -", "release -" }, told)
    end)
end)

describe("A release", function()
  it("is told at most once, whatever raises meanwhile", function()
    local session, path = strikes.connect(), support.path()
    local lock, releases = session:mutex(path), {}
    session:on_trace(function(event)
      if event.what == "release" then releases[#releases + 1] = event.id end
    end)
    strikes.at_each_instruction(function()
      releases = {}
      return assert(lock:acquire(30))
    end, function(guard)
      guard:release()
    end, function(guard, through)
      guard:release()
      session:step()
      assert(#releases <= 1, "it was told twice")
      assert(#releases == 1 or not through, "it was not told")
    end)
  end)
end)

describe("Callbacks that raise where nobody takes it", function()
  it("leave a hundred problems to step(), and the number of the rest",
    function()
      local session, path = support.connect(), support.path()
      session:on_trace(function(event) error("no " .. event.what, 0) end)
      local lock = session:mutex(path)
      for _ = 1, 50 do assert(lock:acquire(30)):release() end
      session:on_trace(nil)
      for _ = 1, 100 do
        local ok, problem = pcall(session.step, session)
        assert.is_false(ok)
        assert.matches("^no %a+", tostring(problem))
      end
      local ok, problem = pcall(session.step, session)
      assert.is_false(ok)
      assert.matches("^50 more errors in callbacks", problem)
      session:step()
    end)
end)
