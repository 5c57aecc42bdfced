--- Hold: what a session has of a lock, from the grant until it is released or
-- lost.
--
-- Each guard stands on a share of it, a userdata of C's: each re-entry makes
-- one more, the hold ends with the last, and what is collected is released.
-- So a hold does not keep its shares.
local Hold = {}
Hold.__index = Hold

Hold.adapter = false -- the loop that listens

local NOBODY = {} -- listens

--- What a wait was granted; from now on events find it.  `owners`: of its path.
-- (A session may hold thousands: four fields are the most that a table of
-- Lua's has room for before it doubles.)
function Hold.new(wait, owners)
  local engine, number = owners.engine, wait.number
  local hold = setmetatable({
    owners = owners, -- which know its path and its engine
    -- Callbacks, with the guard that each was given to.  False: all of them,
    -- and the log, have been told, or are about to be.
    listeners = NOBODY,
    revocation = NOBODY, -- false: somebody has asked for the lock
    lost = false, -- why: what is to be noted at its end needs no memory then
  }, Hold)
  engine.holds[number] = hold
  engine.shares[number] = wait.share
  return hold
end

--- Why it is lost, if it is.  Who asks this is told by the clock, too, and
-- from then on it is a fact; a hold that is past its lease and is not asked may
-- still have it renewed.
function Hold:find_loss(share)
  if not self.lost and not self.owners.engine.state.is.closed then
    self.lost = share:find_loss() or false
  end
  return self.lost
end

local function by_number(a, b) return a.number < b.number end

--- Of one session, all that are lost, and have not been given back: `{ hold =,
-- share = }`, in the order in which they were asked for.
function Hold.find_losses(engine)
  local lost = {}
  for number, hold in pairs(engine.holds) do
    local share = engine.shares[number]
    if not hold.lost and share then
      hold.lost = share:find_loss() or false
    end
    if hold.lost then
      lost[#lost + 1] = { hold = hold, share = share, number = number }
    end
  end
  table.sort(lost, by_number)
  return lost
end

--- The same of all that were not lost, when the session is closed: so they are
-- over, and no event finds them any more.
function Hold.take_all(engine)
  local taken = {}
  for number, hold in pairs(engine.holds) do
    local share = engine.shares[number]
    if not hold.lost and share then
      taken[#taken + 1] = { hold = hold, share = share, number = number }
    end
  end
  for _, one in ipairs(taken) do engine.holds[one.number] = nil end
  table.sort(taken, by_number)
  return taken
end

--- One of its guards was released before those that came later: from now on it
-- is known by the share of the first that its owner has left in this stack.
function Hold:stand_on(stack)
  for _, guard in ipairs(stack) do
    if guard._hold == self then
      self.owners.engine.shares[guard._share:number()] = guard._share
      return
    end
  end
end

--- It was released by its last share, `share`: no event finds it any more.  Did
-- any until now?
function Hold:finish(share)
  local holds, number = self.owners.engine.holds, share:number()
  local was_known = holds[number] ~= nil
  holds[number] = nil
  return was_known
end

-- Of those of `guard` none is left; is none at all?
local function drop(listeners, guard)
  if not listeners then return true end
  for i = #listeners, 1, -1 do
    if listeners[i].guard == guard then table.remove(listeners, i) end
  end
  return not listeners[1]
end

--- Who has let go hears of nothing any more, though the hold may go on.
function Hold:forget_listeners(guard)
  local unheard = drop(self.listeners, guard)
  local silent = drop(self.revocation, guard) and unheard
  if silent and self.adapter then self.owners.engine.adapters:unlisten(self) end
end

-- One more among those called `which`.
local function listen(self, which, guard, fn)
  local adapters = self.owners.engine.adapters
  if self[which] == NOBODY then self[which] = {} end
  table.insert(self[which],
    { guard = guard, fn = fn, scope = adapters:scope() })
  adapters:listen(self)
end

--- `fn(guard, code, reason)`, when it is lost.
function Hold:on_lost(guard, fn)
  listen(self, "listeners", guard, fn)
end

--- `fn(guard)`, when somebody asks for the lock.
function Hold:on_revoke(guard, fn)
  if not self.revocation then
    return self.owners.engine.events:later(function() fn(guard) end)
  end
  listen(self, "revocation", guard, fn)
end

return Hold
