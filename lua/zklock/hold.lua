--- Hold: what a session has of a lock, from the grant until it is released or
-- lost.
--
-- Each guard stands on a share of it, a userdata of C's: each re-entry makes
-- one more, the hold ends with the last, and what is collected is released.
-- So a hold does not keep its shares.
local Hold = {}
Hold.__index = Hold

--- What a wait was granted; from now on events find it.  `owners`: of its path.
function Hold.new(wait, path, owners)
  local engine, number = wait.engine, wait.number
  local hold = setmetatable({
    engine = engine,
    owners = owners,
    path = path,
    number = number,
    adapter = false, -- the loop that listens
    -- Callbacks, with the guard that each was given to.  False: all of them
    -- have been told, or are about to be.
    listeners = {},
    revocation = false,
    revoked = false, -- somebody has asked for the lock
    -- What its end is to be noted in: then no memory is needed.
    lost = false, -- why
    reported = false, -- to the log
    ended = false, -- released
  }, Hold)
  engine.holds[number] = hold
  engine.shares[number] = wait.share
  return hold
end

--- Why it is lost, if it is.  Who asks this is told by the clock, too, and
-- from then on it is a fact; a hold that is past its lease and is not asked may
-- still have it renewed.
function Hold:find_loss(share)
  if not self.lost and not self.engine.state.is.closed then
    self.lost = share:find_loss() or false
  end
  return self.lost
end

--- Of one session, all that are lost, and have not been given back.
function Hold.find_losses(engine)
  local lost = {}
  for number, hold in pairs(engine.holds) do
    local share = engine.shares[number]
    if not hold.lost and share then
      hold.lost = share:find_loss() or false
    end
    if hold.lost then lost[#lost + 1] = hold end
  end
  table.sort(lost, function(a, b) return a.number < b.number end)
  return lost
end

-- Of those of `guard` none is left; is none at all?
local function drop(listeners, guard)
  for i = #listeners, 1, -1 do
    if listeners[i].guard == guard then table.remove(listeners, i) end
  end
  return not listeners[1]
end

--- Who has let go hears of nothing any more, though the hold may go on.
function Hold:forget_listeners(guard)
  local listeners, revocation = self.listeners, self.revocation
  local silent = not listeners or not listeners[1] or drop(listeners, guard)
  if revocation then silent = drop(revocation, guard) and silent end
  if silent and self.adapter then self.engine.adapters:unlisten(self) end
end

--- `fn(guard, code, reason)`, when it is lost.
function Hold:on_lost(guard, fn)
  local adapters = self.engine.adapters
  table.insert(self.listeners,
    { guard = guard, fn = fn, scope = adapters:scope() })
  adapters:listen(self)
end

--- `fn(guard)`, when somebody asks for the lock.
function Hold:on_revoke(guard, fn)
  local adapters = self.engine.adapters
  self.revocation = self.revocation or {}
  if self.revoked then
    return self.engine.events:later(function() fn(guard) end)
  end
  table.insert(self.revocation,
    { guard = guard, fn = fn, scope = adapters:scope() })
  adapters:listen(self)
end

return Hold
