-- Double barriers: members begin together, and end together.  (Failures:
-- double_barrier_failure_spec.lua.)
local kinds = require "integration.family.kinds"
local of_members = require "support.members"
local new_scheduler = require "support.scheduler".new
local spawn = require "support.child".spawn
local support = require "support"
local connect, misuse = support.connect, support.misuse
local await, nobody = kinds.await, kinds.nobody
local enter, leave = of_members.enter, of_members.leave
local all_leave, ready = of_members.all_leave, of_members.ready

local function nothing() end

local function members_of(n, path)
  local members = {}
  for i = 1, n do members[i] = enter(connect(), path, n) end
  await((unpack or table.unpack)(members))
  for _, member in ipairs(members) do assert(member.guard, member.message) end
  return members
end

before_each(function() kinds.start() end)
after_each(support.finish)

describe("A double barrier", function()
  it("lets its members in when all are there, and out when all leave",
    function()
      local path = support.path()
      local one = enter(connect(), path, 3)
      local two = enter(connect(), path, 3)
      kinds.wait_for_nodes(path, 2)
      nobody(0.05, one, two)
      local three = enter(connect(), path, 3)
      await(one, two, three)
      for _, member in ipairs { one, two, three } do
        assert.is_true(member.guard:is_held())
        assert.is_true(member.guard:verify())
        assert.equal(path, member.guard.path)
        assert.equal(19, #member.guard:token())
        assert.equal("held", member.guard:state())
      end
      local first = leave(two)
      local second = leave(three)
      nobody(0.05, first, second)
      assert.is_true(one.guard:is_held())
      local third = leave(one)
      await(first, second, third)
      for _, left in ipairs { first, second, third } do
        assert.is_true(left.guard)
        assert.is_nil(left.message)
      end
      for _, member in ipairs { one, two, three } do
        assert.equal("released", member.guard:state())
        assert.is_true(member.guard:release())
      end
      kinds.wait_for_nodes(path, 0)
      assert.is_false(ready(path))
    end)

  it("is spelled as Curator's, and vanishes when all have left", function()
    local path, zk = support.path(), support.zk()
    local members = members_of(2, path)
    local names = zk:children(path)
    table.sort(names)
    assert.equal(3, #names)
    local own = {}
    for _, member in ipairs(members) do
      own[member.guard.node:sub(#path + 2)] = true
    end
    for _, name in ipairs(names) do
      local stat = zk:exists(path .. "/" .. name)
      if name == "ready" then
        assert.equal("0x", stat.owner)
      else
        assert.is_true(own[name], name)
        assert.are_not.equal("0x", stat.owner)
        assert.matches(":" .. support.pid() .. "$",
          (zk:get(path .. "/" .. name)))
      end
    end
    all_leave(members)
    support.wait_until(function() return not zk:exists(path) end)
  end)

  it("of one member is entered and left alone", function()
    local session, path = connect(), support.path()
    local gate = session:double_barrier(path, 1)
    assert.equal(path, gate.path)
    for _ = 1, 3 do
      local guard = assert(gate:enter())
      assert.is_true(guard:is_held())
      assert.is_true(gate:leave())
      assert.is_false(guard:is_held())
      assert.is_true(assert(gate:enter(0)):release { wait = true })
    end
    kinds.wait_for_nodes(path, 0)
    assert.is_table(assert(gate:enter { timeout = 5 }))
    assert.is_true(gate:leave(5))
  end)

  it("takes the data and max_hold of the barrier, or of the call", function()
    local session, path, zk = connect(), support.path(), support.zk()
    local gate = session:double_barrier(path, 1,
      { data = "one", max_hold = 60 })
    local guard = assert(gate:enter())
    assert.equal("one", (zk:get(guard.node)))
    assert.is_true(gate:leave())
    guard = assert(gate:enter { data = "two", max_hold = 1 })
    assert.equal("two", (zk:get(guard.node)))
    support.wait_until(function() return guard:reason() end)
    assert.equal("max_hold", guard:reason())
    assert.is_false(guard:is_held())
    assert.equal("lost", select(3, gate:leave()))
  end)

  it("may have members of one session", function()
    local session, path = connect(), support.path()
    local one, two = enter(session, path, 2), enter(session, path, 2)
    await(one, two)
    assert.are_not.equal(one.guard.node, two.guard.node)
    local first = leave(one)
    nobody(0.05, first)
    local second = leave(two)
    await(first, second)
    assert.is_true(first.guard and second.guard)
    assert.equal(0, session:stats().holding)
  end)

  it("has tasks as members, which wait while others run", function()
    local path, scheduler = support.path(), new_scheduler()
    local session, n = connect { loop = scheduler.adapter }, 5
    local inside, left, begun, ended = 0, 0, 0, 0
    for i = 1, n do
      scheduler:spawn(function()
        local gate = session:double_barrier(path, n)
        scheduler:sleep(0.01 * i)
        begun = begun + 1
        local guard = assert(gate:enter())
        assert(begun == n, "somebody was in before all had come")
        inside = inside + 1
        scheduler:sleep(0.01 * (n - i))
        ended = ended + 1
        assert(guard:is_held())
        assert(gate:leave())
        assert(ended == n, "somebody was out before all had begun to leave")
        left = left + 1
      end)
    end
    assert.is_true(scheduler:run())
    assert.same({ n, n }, { inside, left })
  end)

  it("lets the same members through, round after round", function()
    local path, scheduler = support.path(), new_scheduler()
    local rounds, n = support.in_full and 30 or 8, 4
    local phase = {}
    for i = 1, n do
      local session = connect { loop = scheduler.adapter }
      phase[i] = 0
      scheduler:spawn(function()
        local gate = session:double_barrier(path, n)
        for round = 1, rounds do
          assert(gate:enter(60))
          -- Nobody is a round behind who has not left it yet.
          for k = 1, n do
            assert(phase[k] == 2 * round - 2 or phase[k] == 2 * round - 1)
          end
          phase[i] = 2 * round - 1
          assert(gate:leave(60))
          for k = 1, n do assert(phase[k] >= 2 * round - 1) end
          phase[i] = 2 * round
        end
      end)
    end
    assert.is_true(scheduler:run(120))
    for i = 1, n do assert.equal(2 * rounds, phase[i]) end
    kinds.wait_for_nodes(path, 0)
    assert.is_false(ready(path))
  end)

  it("lets in those of several processes, round after round", function()
    local path, children, n, rounds = support.path(), {}, 3, 5
    for i = 1, n do
      children[i] = spawn([[
        local path, n, rounds = ...
        local session = assert(zklock.connect(hosts))
        local gate = session:double_barrier(path, tonumber(n))
        for round = 1, tonumber(rounds) do
          hear()
          assert(gate:enter(60))
          say("in", round)
          hear()
          assert(gate:leave(60))
          say("out", round)
        end
        session:close()
      ]], path, n, rounds)
    end
    for round = 1, rounds do
      for _, word in ipairs { "in", "out" } do
        for i = 1, n do
          -- The last one has not been told: nobody has come through.
          if i == n then
            for k = 1, n - 1 do
              assert.is_true(children[k]:is_silent())
            end
          end
          children[i]:say()
        end
        for i = 1, n do children[i]:expect(word .. "\t" .. round) end
      end
    end
    for i = 1, n do assert.equal(0, children[i]:wait()) end
  end)

  it("lets in more than its number, if they are there", function()
    local path = support.path()
    local members = {}
    for i = 1, 5 do members[i] = enter(connect(), path, 2) end
    await((unpack or table.unpack)(members))
    for _, member in ipairs(members) do assert(member.guard, member.message) end
    all_leave(members)
  end)

  it("counts members that another client has made", function()
    local path, zk = support.path(), support.zk()
    local one = enter(connect(), path, 3)
    kinds.wait_for_nodes(path, 1)
    local theirs = path .. "/another-client's"
    zk:create(theirs, { ephemeral = true })
    nobody(0.02, one)
    local two = enter(connect(), path, 3)
    await(one, two)
    local leaving = leave(two)
    assert.is_true(one.guard:release())
    nobody(0.05, leaving)
    zk:delete(theirs)
    await(leaving)
    assert.is_true(leaving.guard)
  end)

  it("opens for who waits by a ready that another client has made", function()
    local path, zk = support.path(), support.zk()
    local one = enter(connect(), path, 3)
    kinds.wait_for_nodes(path, 1)
    nobody(0.02, one)
    zk:create(path .. "/ready")
    await(one)
    assert.is_true(one.guard:is_held())
    all_leave { one }
  end)

  it("does not open by a ready that was there before", function()
    local path, zk = support.path(), support.zk()
    zk:make(path .. "/ready")
    local one = enter(connect(), path, 2)
    kinds.wait_for_nodes(path, 1)
    nobody(0.1, one)
    local old = ready(path).czxid
    local two = enter(connect(), path, 2)
    await(one, two)
    assert.is_true(ready(path).czxid > old)
    all_leave { one, two }
    assert.is_false(ready(path))
  end)
end)

describe("Who enters a double barrier", function()
  it("waits no longer than it has said, and hears how many are missing",
    function()
      local session, path = connect(), support.path()
      local gate = session:double_barrier(path, 3)
      -- (Long enough for a list, on a machine that is busy with others.)
      for _, how in ipairs { 3, 0, { timeout = 2.5 } } do
        local seconds = type(how) == "table" and how.timeout or how
        local begun = support.now()
        local guard, message, code = gate:enter(how)
        assert.is_nil(guard)
        assert.equal("timeout", code)
        assert.equal(("zklock: timed out after %s s waiting for %s (2 members "
          .. "are missing)"):format(seconds, path), message)
        assert.is_true(support.now() - begun >= seconds)
        kinds.wait_for_nodes(path, 0)
      end
      local other = enter(connect(), path, 3)
      kinds.wait_for_nodes(path, 1)
      assert.equal("zklock: timed out after 3 s waiting for " .. path
        .. " (1 member is missing)", select(2, gate:enter(3)))
      kinds.wait_for_nodes(path, 1)
      other.ticket:cancel()
      await(other)
      assert.equal("cancelled", other.code)
    end)

  it("is missed by the others when it gives up", function()
    local path = support.path()
    local one = enter(connect(), path, 2, 0.05)
    await(one)
    assert.equal("timeout", one.code)
    local two = enter(connect(), path, 2)
    kinds.wait_for_nodes(path, 1)
    nobody(0.05, two)
    local three = enter(connect(), path, 2)
    await(two, three)
    all_leave { two, three }
  end)

  it("is told cancelled: by its ticket, or by the object", function()
    local path, scheduler = support.path(), new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local gate, other = session:double_barrier(path, 9),
      session:double_barrier(path, 9)
    local codes, message, kept = {}, nil, nil
    scheduler:spawn(function()
      local _, said, code = gate:enter()
      codes[#codes + 1], message = code, said
    end)
    local ticket
    for i = 1, 2 do
      ticket = gate:enter_async(function(_, _, code)
        codes[#codes + 1] = i .. code
      end)
    end
    other:enter_async(function(_, _, code) kept = code end)
    scheduler:turn()
    kinds.wait_for_nodes(path, 4)
    ticket:cancel()
    support.wait_until(function() scheduler:turn(0) return codes[1] end)
    kinds.wait_for_nodes(path, 3)
    gate:cancel()
    assert.is_true(scheduler:run())
    support.wait_until(function() scheduler:turn(0) return codes[3] end)
    table.sort(codes)
    assert.same({ "1cancelled", "2cancelled", "cancelled" }, codes)
    assert.equal("zklock: the wait for " .. path .. " was cancelled", message)
    kinds.wait_for_nodes(path, 1)
    assert.is_nil(kept)
    session:close()
    assert.equal("closed", kept)
  end)

  it("would wait for itself if it is inside: deadlock", function()
    local session, path = connect(), support.path()
    local gate = session:double_barrier(path, 1)
    local guard = assert(gate:enter())
    for _, again in ipairs { gate, session:double_barrier(path, 1) } do
      local nobody_else, message, code = again:enter()
      assert.is_nil(nobody_else)
      assert.equal("deadlock", code)
      assert.matches("already held by the caller", message)
    end
    assert.is_true(guard:is_held())
    local another = assert(gate:enter { owner = "another", timeout = 30 })
    local left = { session = session }
    gate:leave_async({ guard = another }, function(ok) left.guard = ok end)
    nobody(0.05, left)
    assert.is_true(gate:leave())
    await(left)
    assert.is_true(left.guard)
    assert(gate:enter()):release()
  end)

  it("hears closed when the session is closed", function()
    local path, other = support.path(), support.path()
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local gate = session:double_barrier(path, 2)
    local told, code, message
    gate:enter_async(function(_, _, why) told = why end)
    scheduler:spawn(function()
      local _
      _, message, code = session:double_barrier(other, 2):enter(60)
    end)
    scheduler:turn()
    kinds.wait_for_nodes(path, 1)
    kinds.wait_for_nodes(other, 1)
    scheduler:spawn(function() session:close() end)
    assert.is_true(scheduler:run())
    assert.same({ "closed", "closed" }, { told, code })
    assert.equal("zklock: the session was closed while waiting for " .. other,
      message)
    kinds.wait_for_nodes(path, 0)
  end)

  it("costs its session one watch of what lets it in, and its own", function()
    local session, path, n = connect(), support.path(), 20
    local members = {}
    for i = 1, n do members[i] = enter(session, path, n + 1) end
    kinds.wait_for_nodes(path, n)
    support.wait_until(function()
      session:step()
      return support.count_watches(path) == n + 1
    end)
    members[n + 1] = enter(connect(), path, n + 1)
    await((unpack or table.unpack)(members))
    all_leave(members)
  end)
end)

describe("Who leaves a double barrier", function()
  it("waits no longer than it has said; its node goes in any case", function()
    for _, how in ipairs { 0.2, 0 } do
      local path = support.path()
      local members = members_of(2, path)
      local one, two = members[1], members[2]
      local begun = support.now()
      local leaving = leave(one, { timeout = how })
      await(leaving)
      assert.is_nil(leaving.guard)
      assert.equal("timeout", leaving.code)
      assert.equal(("zklock: timed out after %s s waiting for the other "
        .. "members of %s to leave"):format(how, path), leaving.message)
      assert.is_true(support.now() - begun >= how)
      assert.equal("released", one.guard:state())
      kinds.wait_for_nodes(path, 1)
      assert.is_true(two.guard:verify())
      -- it is not inside any more, and the rest go on
      all_leave { two }
    end
  end)

  it("by the blocking call is the same", function()
    local session, path = connect(), support.path()
    local gate = session:double_barrier(path, 2)
    local other = enter(connect(), path, 2)
    local guard = assert(gate:enter(30))
    await(other)
    for _, how in ipairs { { timeout = 0.1 } } do
      local ok, message, code = gate:leave(how)
      assert.is_nil(ok)
      assert.equal("timeout", code)
      assert.equal("zklock: timed out after 0.1 s waiting for the other "
        .. "members of " .. path .. " to leave", message)
    end
    assert.is_false(guard:is_held())
    assert.equal(path .. " was not entered by the calling task",
      misuse(function() gate:leave() end))
    all_leave { other }
  end)

  it("does not wait when its guard is released", function()
    local path = support.path()
    local members = members_of(3, path)
    local calls = 0
    members[1].guard:on_lost(function() calls = calls + 1 end)
    assert.is_true(members[1].guard:release { wait = true })
    assert.equal("released", members[1].guard:state())
    kinds.wait_for_nodes(path, 2)
    local leaving = leave(members[2])
    nobody(0.05, leaving)
    members[3].guard:release()
    await(leaving)
    assert.is_true(leaving.guard)
    assert.equal(0, calls)
    kinds.wait_for_nodes(path, 0)
  end)

  it("leaves what the calling task has entered, or the guard", function()
    local path, scheduler = support.path(), new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local gate = session:double_barrier(path, 2)
    local problems, guards, left = {}, {}, 0
    for i = 1, 2 do
      scheduler:spawn(function()
        guards[i] = assert(gate:enter(30))
        while #guards < 2 do scheduler:sleep(0.001) end
        if i == 1 then return end -- (another one leaves for this task)
        scheduler:spawn(function()
          problems[1] = select(2, pcall(gate.leave, gate))
          assert(gate:leave { guard = guards[1], timeout = 30 })
          left = left + 1
        end)
        assert(gate:leave(30))
        left = left + 1
      end)
    end
    assert.is_true(scheduler:run())
    assert.equal(2, left)
    assert.matches("was not entered by the calling task$", problems[1])
  end)

  it("is told cancelled, and has left", function()
    local path = support.path()
    local members = members_of(3, path)
    local one, two = leave(members[1]), leave(members[2])
    nobody(0.02, one, two)
    one.ticket:cancel()
    one.ticket:cancel()
    await(one)
    assert.equal("cancelled", one.code)
    assert.equal("zklock: the wait for the other members of " .. path
      .. " to leave was cancelled", one.message)
    assert.equal("released", members[1].guard:state())
    members[2].gate:cancel()
    await(two)
    assert.equal("cancelled", two.code)
    kinds.wait_for_nodes(path, 1)
    all_leave { members[3] }
    one.ticket:cancel()
  end)

  it("hears closed when the session is closed", function()
    local path = support.path()
    local members = members_of(2, path)
    local leaving = leave(members[1])
    nobody(0.02, leaving)
    members[1].session:close()
    assert.equal("closed", leaving.code)
    assert.equal("zklock: the session was closed while waiting for the other "
      .. "members of " .. path .. " to leave", leaving.message)
    kinds.wait_for_nodes(path, 1)
    all_leave { members[2] }
  end)

  it("says lost, if it was lost; on_lost has heard of it", function()
    local path = support.path()
    local members = members_of(2, path)
    local one, heard = members[1], {}
    one.guard:on_lost(function(_, code, reason)
      heard[#heard + 1] = code .. " " .. reason
    end)
    support.zk():delete(one.guard.node)
    support.wait_until(function() return not one.guard:is_held() end, 10)
    local leaving = leave(one)
    await(leaving)
    assert.equal("lost", leaving.code)
    assert.equal("zklock: the hold of " .. path
      .. " was lost: its node was deleted", leaving.message)
    assert.same({ "lost deleted" }, heard)
    all_leave { members[2] }
  end)

  it("says lost for the blocking call, too, once", function()
    local session, path = connect(), support.path()
    local gate, heard = session:double_barrier(path, 1), 0
    local guard = assert(gate:enter())
    guard:on_lost(function() heard = heard + 1 end)
    support.zk():delete(guard.node)
    support.wait_until(function() return not guard:is_held() end, 10)
    local _, message, code = gate:leave()
    assert.equal("lost", code)
    assert.matches("was lost: its node was deleted$", message)
    assert.equal(1, heard)
    assert.equal("lost", guard:state())
    assert.equal(path .. " was not entered by the calling task",
      misuse(function() gate:leave() end))
    assert(gate:enter(30))
    assert.is_true(gate:leave(30))
  end)

  it("is lost while it waits, if its node is deleted: it says so", function()
    -- The lowest of them keeps its node, and waits for the highest.
    local path = support.path()
    local members = members_of(2, path)
    table.sort(members, function(a, b) return a.guard.node < b.guard.node end)
    local leaving = leave(members[1])
    nobody(0.05, leaving)
    assert.is_true(members[1].guard:is_held())
    support.zk():delete(members[1].guard.node)
    support.step_until(members[1].session, function()
      return not members[1].guard:is_held()
    end, 10)
    all_leave { members[2] }
    await(leaving)
    assert.equal("lost", leaving.code)
  end)

  it("may enter again from the callback, which step() calls", function()
    local session, path = connect(), support.path()
    local one = enter(session, path, 1)
    local again, left
    await(one)
    one.gate:leave_async({ guard = one.guard }, function(ok)
      left = ok
      again = assert(one.gate:enter(30))
      assert(one.gate:leave(30))
    end)
    assert.is_nil(left)
    support.step_until(session, function() return again end)
    assert.is_true(left)
  end)

  it("waits for nobody who has come since", function()
    -- The lower one keeps its node until the other has gone.
    for first = 1, 2 do
      local path = support.path()
      local members = members_of(2, path)
      table.sort(members, function(a, b) return a.guard.node < b.guard.node end)
      local one = leave(members[first])
      local left = kinds.wait_for_nodes(path, first == 1 and 2 or 1)
      assert(members[first].session:stat(path)) -- answered behind its list
      nobody(0.05, one)
      local next_run = enter(connect(), path, 9) -- of another run
      kinds.wait_for_nodes(path, #left + 1)
      -- (Who begins now sees the new one, and may wait for it.)
      local two = leave(members[3 - first], { timeout = 0.2 })
      await(one, two)
      assert.is_true(one.guard)
      assert.is_nil(next_run.guard)
      next_run.ticket:cancel()
      await(next_run)
    end
  end)
end)

describe("What a double barrier does not take", function()
  it("raises, with the caller's line", function()
    local session = connect()
    for _, bad in ipairs { 0, -1, 1.5, 0 / 0, math.huge, 1e7 } do
      assert.matches("^n must be a whole number from 1 to 1000000, got ",
        misuse(function() session:double_barrier("/a", bad) end))
    end
    assert.equal("n must be a number, got nil",
      misuse(function() session:double_barrier "/a" end))
    assert.matches("^path must ",
      misuse(function() session:double_barrier("a", 1) end))
    local wrong = { fair = false }
    assert.equal("option 'fair' goes with a mutex only, not with a double "
      .. "barrier", misuse(function() session:double_barrier("/a", 1, wrong)
      end))
    wrong = { layout = "kazoo" }
    assert.matches("^option 'layout' goes with .* only, not with a double "
      .. "barrier$", misuse(function() session:double_barrier("/a", 1, wrong)
      end))
    local gate = session:double_barrier("/a", 2)
    assert.equal("zklock double barrier of 2 members /a", tostring(gate))
    assert.equal("/a is used as a double barrier of 2 members by this session, "
      .. "not as a double barrier of 1 member",
      misuse(function() session:double_barrier("/a", 1) end))
    assert.equal("/a is used as a double barrier of 2 members by this session, "
      .. "not as a barrier", misuse(function() session:barrier "/a" end))
    assert.matches("^/a/ready is inside the double barrier of 2 members /a",
      misuse(function() session:mutex "/a/ready" end))
    assert.matches("must be a mutex, a side of a rwlock or a semaphore",
      misuse(function() session:multi { gate } end))
    assert.equal("enter options must be a number or a table, got a string",
      misuse(function() gate:enter "x" end))
    assert.equal('unknown option "guard" in enter options (known: data, '
      .. 'max_hold, owner, timeout)',
      misuse(function() gate:enter { guard = 1 } end))
    assert.equal("the callback of enter_async must be a function, got nil",
      misuse(function() gate:enter_async(5) end))
    assert.equal("/a was not entered by the calling task",
      misuse(function() gate:leave() end))
    assert.equal("/a was not entered by the calling task",
      misuse(function() gate:leave_async(nothing) end))
    assert.equal("leave options must be a number or a table, got a string",
      misuse(function() gate:leave "x" end))
    assert.equal('unknown option "owner" in leave options (known: guard, '
      .. 'timeout)',
      misuse(function() gate:leave { owner = "x" } end))
    assert.equal("option 'guard' must be what enter has given, of /a",
      misuse(function() gate:leave { guard = {} } end))
    assert.equal("the callback of leave_async must be a function, got nil",
      misuse(function() gate:leave_async() end))
    assert.equal("double_barrier:cancel() takes no more arguments, got a "
      .. "number, too", misuse(function() gate:cancel(1) end))
    for _, name in ipairs { "enter", "leave", "enter_async", "leave_async",
      "cancel" } do
      assert.matches("must be called with a colon: double_barrier:" .. name,
        misuse(function() gate[name]() end))
    end
  end)

  it("is another one's guard", function()
    local session, path = connect(), support.path()
    local gate = session:double_barrier(path, 1)
    local other = session:double_barrier(path .. "/other", 1)
    local mutex = assert(session:mutex(path .. "/m"):acquire(30))
    local guard = assert(other:enter(30))
    for _, wrong in ipairs { mutex, guard } do
      assert.equal("option 'guard' must be what enter has given, of " .. path,
        misuse(function() gate:leave { guard = wrong } end))
    end
    assert.is_true(other:leave { guard = guard })
    mutex:release()
  end)

  it("is any use after close", function()
    local session = connect()
    local gate = session:double_barrier("/a", 1)
    local guard = assert(gate:enter(30))
    session:close()
    assert.equal("released", guard:state())
    assert.is_true(guard:release())
    for _, call in ipairs {
      function() session:double_barrier("/a", 1) end,
      function() gate:enter() end,
      function() gate:enter_async(nothing) end,
      function() gate:leave() end,
      function() gate:leave_async(nothing) end,
      function() gate:cancel() end,
    } do
      assert.equal("the session is closed", misuse(call))
    end
  end)
end)
