-- Who has held the lock and comes back knows from its last list whom it will
-- find just ahead: it waits for that one, and lists when that one is gone.
local support = require "support"

describe("A session that comes back to a queue #once", function()
  before_each(support.start)
  after_each(support.finish)

  local sessions, path, waits

  local function total(name)
    local sum = 0
    for _, session in ipairs(sessions) do sum = sum + session:stats()[name] end
    return sum
  end

  -- (Nudges and heartbeats come as time passes.)
  local function requests()
    return total "requests" - total "heartbeats" - total "nudges"
  end

  local function step()
    for _, session in ipairs(sessions) do session:step() end
  end

  local function wait_in(session, options)
    local wait = { session = session }
    session:mutex(path):acquire_async(options, function(guard, message, code)
      wait.guard, wait.message, wait.code = guard, message, code
    end)
    return wait
  end

  -- Everybody has asked what there is to be asked.
  local function settle()
    support.wait_until(function()
      step()
      if total "in_flight" > 0 then return end
      local before = requests()
      support.sleep(0.03)
      return requests() == before
    end)
  end

  local function await(wait)
    support.wait_until(function()
      step()
      return wait.guard or wait.code
    end, nil, "an outcome")
    return wait.guard
  end

  -- A write's round trip, the longest of all that were looked at.
  local longest
  local function look_at_round_trip()
    local begun = support.now()
    support.zk():set(path, "")
    longest = math.max(longest, support.now() - begun)
  end

  -- The first in the queue releases, and comes back.  Whoever is granted works
  -- for some round trips, or for longer: so who comes next has listed by then,
  -- however slow the machine is just now.
  local function pass_on()
    local first = table.remove(waits, 1)
    first.guard:release()
    waits[#waits + 1] = wait_in(first.session)
    assert.is_true(await(waits[1]):is_held())
    support.wait_for_queue(path, #waits)
    settle()
    look_at_round_trip()
    support.sleep(4 * longest)
  end

  -- So many of them stand in the queue, and each has been there before.
  local function queue_up(n)
    sessions, waits, path, longest = {}, {}, support.path(), 0
    for i = 1, n do
      sessions[i] = support.connect { session_timeout = 60 }
      waits[i] = wait_in(sessions[i])
      support.wait_for_queue(path, i)
    end
    await(waits[1])
    settle()
    for _ = 1, 2 * n do pass_on() end
  end

  local function node(i) return path .. "/" .. support.zk():queue(path)[i] end

  for _, n in ipairs { 4, 10 } do
    it(("lists less, and is told at once, among %d who work"):format(n),
      function()
        queue_up(n)
        local asked, lists, told = requests(), total "lists", total "handoffs"
        for _ = 1, n do pass_on() end
        -- (7 requests and 2 lists for whoever asks before another is back; and
        -- on a busy machine a round trip may be longer than the work: exact is
        -- spec/unit/story_tail.c)
        assert.is_true(total "handoffs" - told >= 0.5 * n)
        assert.is_true(total "lists" - lists <= 1.7 * n)
        assert.is_true(requests() - asked <= 7 * n)
      end)
  end

  it("asks less where everybody comes back at once", function()
    queue_up(10)
    local left, granted = 400, 0
    local function cycle(session)
      session:mutex(path):acquire_async(nil, function(guard)
        granted = granted + 1
        guard:release()
        left = left - 1
        if left > 0 then cycle(session) end
      end)
    end
    local first = table.remove(waits, 1)
    cycle(first.session)
    first.guard:release()
    for _, wait in ipairs(waits) do
      await(wait)
      cycle(wait.session)
      wait.guard:release()
    end
    support.wait_until(function()
      step()
      return left <= 300
    end, 60)
    local asked, begun = requests(), granted
    support.wait_until(function()
      step()
      return left <= 0
    end, 60)
    local each = (requests() - asked) / (granted - begun)
    assert.is_true(each < 6.8, each)
  end)

  -- One of three has held the lock, and listed with the others behind it.
  local function hold_before_two()
    sessions, waits, path = {}, {}, support.path()
    local holder = support.hold(path)
    for i = 1, 3 do
      sessions[i] = support.connect { session_timeout = 60 }
      waits[i] = wait_in(sessions[i])
      support.wait_for_queue(path, i + 1)
    end
    local lists = sessions[1]:stats().lists
    support.wait_until(function() -- (the list of its coming may be under way)
      support.zk():set(holder.node, "looked at again")
      return sessions[1]:stats().lists > lists + 1
    end, nil, "a list")
    settle()
    holder:release()
    await(waits[1])
  end

  -- The first comes back, and follows the last before its time is over; or not,
  -- where that was too short for this machine.
  local function follow_for(seconds)
    hold_before_two()
    waits[1].guard:release()
    local last = wait_in(sessions[1], seconds)
    local function is_over()
      step()
      return last.code
    end
    await(waits[2])
    support.wait_until(function()
      return is_over() or #support.zk():queue(path) == 3
    end)
    support.wait_until(function()
      return is_over() or sessions[1]:stats().in_flight == 0
    end)
    return not is_over() and last
  end

  it("says when it gives up that there may be others", function()
    local last
    local seconds = 0.3
    repeat
      last = follow_for(seconds)
      seconds = 2 * seconds
    until last
    await(last)
    assert.equal("timeout", last.code)
    -- (On a very busy machine it may have listed, once in a hundred times: then
    -- it knows how many.  What it says when, exactly: spec/unit/story_tail.c.)
    if not last.message:find("(2 ahead of us", 1, true) then
      assert.matches("%(at least 1 ahead of us", last.message)
    end
  end)

  -- Everybody gets the lock once more, in whatever order.
  local function drain()
    local left = #waits
    support.wait_until(function()
      step()
      for _, wait in ipairs(waits) do
        assert.is_nil(wait.code)
        if wait.guard and not wait.done then
          wait.done, left = true, left - 1
          wait.guard:release()
        end
      end
      return left == 0
    end)
  end

  -- (Whose node it was hears of that when it comes to list.)
  for what, i in pairs { ["the one whom it waits for"] = 3,
    ["the one before that"] = 2 } do
    it(("keeps its place when %s is deleted"):format(what), function()
      queue_up(4)
      local own = node(4)
      support.zk():delete(node(i))
      settle()
      assert.truthy(support.zk():exists(own))
      drain()
    end)
  end

  it("is not granted for a node that was deleted behind its back", function()
    queue_up(4)
    local lost = table.remove(waits, 4)
    support.zk():delete(node(4))
    waits[1].guard:release()
    table.remove(waits, 1)
    await(waits[1])
    waits[1].guard:release()
    table.remove(waits, 1)
    await(waits[1]) -- whom it waits for
    support.wait_for_queue(path, 2)
    assert.is_nil(lost.guard)
    waits[1].guard:release()
    assert.is_true(await(lost):is_held())
    assert.equal(node(1), lost.guard.node)
  end)

  it("goes on when the session of the one whom it waits for ends", function()
    queue_up(4)
    local x = table.remove(waits, 3)
    x.session:close()
    support.wait_for_queue(path, 3)
    table.remove(sessions, (function()
      for i, session in ipairs(sessions) do
        if session == x.session then return i end
      end
    end)())
    settle()
    for _ = 1, 4 do pass_on() end
  end)

  it("counts down its own workers without a list", function()
    sessions, path = { support.connect { session_timeout = 60 } },
      support.path()
    local session, done = sessions[1], 0
    local function cycle()
      session:mutex(path):acquire_async(nil, function(guard)
        done = done + 1
        guard:release()
        if done < 600 then cycle() end
      end)
    end
    for _ = 1, 20 do cycle() end
    support.wait_until(function()
      step()
      return done >= 200
    end, 60)
    local asked, lists, begun = requests(), total "lists", done
    support.wait_until(function()
      step()
      return done >= 600
    end, 60)
    assert.is_true((requests() - asked) / (done - begun) < 3.3)
    assert.is_true((total "lists" - lists) / (done - begun) < 0.2)
  end)
end)
