--- A client's part at barriers and double barriers: few paths, so that it meets
-- others there.  `hands`: what it has of the client.
local core = require "zklock.core"

local random = math.random

local PATHS = 2

return function(hands)
  local journal, begin, chance = hands.journal, hands.begin, hands.chance
  local pause = hands.pause

  -- The outcome of what is no acquisition.
  local function ended(number, ok, _, code)
    journal:note(ok and "passed" or "refused", number, not ok and code or nil)
    return code
  end

  -- Barriers.

  local function draw_patience()
    local dice = random(100)
    if dice <= 10 then return 0 end
    if dice <= 55 then return random() * 0.3 end
    if dice <= 65 then return nil end
    return 0.3 + random() * 2
  end

  local function wait(barrier, owner)
    local timeout = draw_patience()
    barrier.kind = "barrier"
    local number = begin(barrier, owner, timeout)
    if chance(30) then
      ended(number, hands.by_ticket(barrier, "wait_async",
        { timeout = timeout }))
    else
      ended(number, barrier.lock:wait(timeout))
    end
  end

  local function order(barrier, owner, what)
    barrier.kind = what
    local number = begin(barrier, owner)
    return ended(number, barrier.lock[what](barrier.lock)) == nil
  end

  local function at_barrier(owner)
    local session = hands.session()
    local path = hands.root .. "/barrier-" .. random(PATHS)
    local barrier = { paths = { path }, lock = session:barrier(path),
      session = session }
    local dice = random(100)
    if dice <= 5 then
      barrier.lock:is_set()
    elseif dice <= 25 then
      order(barrier, owner, "lift")
    elseif dice > 55 or order(barrier, owner, "set") and chance(50)
      and session == hands.session() then
      wait(barrier, owner)
    end
  end

  -- Double barriers.

  local function enter(gate, owner)
    local timeout = chance(5) and 0 or 0.02 + random() ^ 2 * 2
    local number = begin(gate, owner, timeout)
    local options = { timeout = timeout,
      max_hold = chance(4) and 0.05 + random() * 0.2 or nil }
    local apart = chance(20)
    local guard, _, code
    if apart then
      guard, _, code = hands.by_ticket(gate, "enter_async", options)
    else
      guard, _, code = gate.lock:enter(options)
    end
    if not guard then
      journal:note("refused", number, code)
      return nil
    end
    local hold = { guard = guard, number = number, apart = apart }
    hands.note_hold(hold, gate)
    return hold
  end

  local function stay(hold)
    local held = hands.sample(hold)
    for _ = 1, random(0, 3) do
      if not held then break end
      pause(random() ^ 2 * (chance(1) and 3 or 0.2))
      if chance(3) then hold.guard:verify() end
      held = hands.sample(hold)
    end
    if not held and chance(50) then pause(0.3) end
  end

  local function draw_leave_timeout()
    local dice = random(100)
    if dice <= 10 then return 0 end
    if dice <= 50 then return nil end
    return random() * 2
  end

  local function leave(hold, gate, owner)
    local how = { timeout = draw_leave_timeout(),
      guard = (hold.apart or chance(10)) and hold.guard or nil }
    local number = begin({ paths = gate.paths, kind = "leave" }, owner,
      how.timeout)
    local code
    if chance(25) then
      -- (A leave that is under way may release the node at any moment.  So an
      -- answer of false says nothing, and is not noted; an answer of true is
      -- judged.)
      code = ended(number, hands.by_ticket(gate, "leave_async", how, function()
        hands.sample(hold, "leaving")
      end))
    else
      code = ended(number, gate.lock:leave(how))
    end
    journal:note("released", hold.number, code == "lost" and code or "true")
  end

  -- Answered is what was asked after everything else had been ordered: so if
  -- nothing is to be deleted now, nothing is left of what had ended.
  local function settle(session, path)
    if session ~= hands.session() then return end
    local before = core.now()
    local answer = session:contenders(path)
    if answer and session == hands.session() and hands.is_settled(session) then
      journal:note("settled", ("%.9f"):format(before))
    end
  end

  -- True: the task is to vanish.
  local function be_inside(hold, gate, owner)
    stay(hold)
    if hands.may_vanish() and chance(2) then
      journal:note("abandoned", hold.number)
      return true
    elseif chance(10) or gate.session ~= hands.session() then
      hands.release(hold)
    else
      leave(hold, gate, owner)
    end
  end

  local function at_gate(owner)
    local session, n = hands.session(), random(2, 3)
    local path = ("%s/gate-%d-%d"):format(hands.root, n, random(PATHS))
    local gate = { paths = { path }, mode = "M" .. n, kind = "gate-" .. n,
      lock = session:double_barrier(path, n), session = session }
    local hold = enter(gate, owner)
    if hold and be_inside(hold, gate, owner) then return true end
    settle(session, path)
  end

  return { at_barrier = at_barrier, at_gate = at_gate }
end
