--- A client's part in elections, beside what a lock can do: it runs for
-- leadership, and looks who leads.  `hands`: what it has of the client.
local core = require "zklock.core"

local random = math.random

return function(hands)
  local journal, chance = hands.journal, hands.chance

  -- An election:run until `stops_at`: its campaigns, one after the other.
  local Candidate = {}
  Candidate.__index = Candidate

  function Candidate:campaign()
    self.number = hands.begin(self.wanted, self.owner,
      math.max(0, self.stops_at - core.now()))
  end

  -- It leads; as users' functions do, it ends in one way or another.
  function Candidate:lead(guard)
    local hold = { guard = guard, number = self.number }
    hands.note_hold(hold, self.wanted)
    hands.stay(hold)
    local dice = random(100)
    local ok, _, code
    if dice <= 20 then
      ok, _, code = self.wanted.election:resign()
    elseif dice <= 35 then
      ok, _, code = guard:release()
    end
    journal:note("released", hold.number, ok and "true" or code or "handed")
    if chance(30) then hands.pause(random() * 0.05) end -- it goes on, without
    self:campaign()
    if chance(15) then error "a leader that fails" end
  end

  local function stop_in_time(candidate)
    hands.pause(candidate.stops_at - core.now())
    candidate.wanted.election:stop()
  end

  local function run(wanted, owner)
    local self = setmetatable({ wanted = wanted, owner = owner,
      stops_at = core.now() + random() * 4 }, Candidate)
    hands.spawn(function() stop_in_time(self) end)
    self:campaign()
    local ok, _, code = wanted.election:run(function(guard)
      self:lead(guard)
    end, { backoff = 0.02, max_backoff = 0.2, on_error = function(problem)
      assert(tostring(problem):find "a leader that fails", problem)
    end })
    journal:note("refused", self.number, ok and "cancelled" or code)
  end

  -- The observer.

  local watched, ticket = nil, nil -- the session, and what ends it
  local observers = 0

  local function watch(session)
    local layout = random(2) == 1 and "curator" or "latch"
    local path = hands.root .. "/election-" .. layout
    local election = session:election(path, { layout = layout })
    observers = observers + 1
    local number = observers
    return election:leader(function(leader, _, code)
      journal:note("leader", number, path,
        leader and leader.token or code or "-")
    end)
  end

  --- One looks who leads while there is a session (nil: none is to be used).
  local function attend(session)
    if session == watched then return end
    if ticket then ticket:cancel() end
    ticket = session and watch(session)
    watched = session
  end

  return { run = run, attend = attend }
end
