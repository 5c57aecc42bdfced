--- Guard: proof of a hold.
-- A guard is one share of a hold; re-entry makes further shares, and the hold
-- ends when the last one is released.  Its userdata (`_share`) releases it
-- when the guard is collected, on every Lua.
local check = require "zklock.check"
local core = require "zklock.core"
local errors = require "zklock.errors"
local waits = require "zklock.wait"

local Guard = {}
Guard.__index = Guard

--- `hold` is what all guards of one hold share: `{ session=, entry=, path=,
-- number=, listeners=, lost= }`.
function Guard.new(hold, share, kind)
  local directory = kind == "lease" and "/leases/" or "/"
  return setmetatable({
    path = hold.path,
    node = hold.path .. directory .. share:node(),
    _hold = hold,
    _share = share,
    _outcome = false, -- "released" or "lost", when it is over
    _stack = false, -- among the owner's guards: see Entry:push
  }, Guard)
end

local function lost(self)
  return errors.lost(self.path, self:reason())
end

local function drop(listeners, guard)
  for i = #listeners, 1, -1 do
    if listeners[i].guard == guard then table.remove(listeners, i) end
  end
  return not listeners[1]
end

-- Who has let go hears of nothing any more, though the hold may go on.
local function forget_listeners(self)
  local hold = self._hold
  local silent = drop(hold.listeners, self)
  if hold.revocation then silent = drop(hold.revocation, self) and silent end
  if silent then hold.session:_unlisten(hold) end
end

--- The options of release(): is a confirmation to be waited for?
function Guard.read_wait(options)
  if options == nil then return false end
  check.options(options, { wait = true }, "release options")
  return check.flag(options.wait, false, "option 'wait'")
end

--- Why the hold is lost, if it is.  Who asks this is told by the clock, too,
-- and from then on it is a fact; a hold that is past its lease and is not asked
-- may still have it renewed.
function Guard:_find_loss()
  local hold = self._hold
  if not hold.lost and not hold.session._closed then
    hold.lost = self._share:find_loss() or false
  end
  return hold.lost
end

--- The same for a call that is to say so, with `nil, message, code`; before it
-- does, it tells who listens.
function Guard:_refuse()
  local reason = self:_find_loss()
  if not reason then return false end
  self._hold.session:_lose(self._hold, reason)
  return true, lost(self)
end

-- What release() returns once it is over.
local function answer(self)
  if self._outcome == "lost" then return lost(self) end
  return true
end

--- Gives the lock back: what release() returns; or, with `wait`, what is to be
-- awaited then.  A loss that it finds is left to tell.
function Guard:give_back(wait)
  local hold = self._hold
  if self._outcome then return answer(self) end
  if hold.session._closed then
    hold.entry:forget(self)
    self._outcome = hold.lost and "lost" or "released"
    return answer(self)
  end
  -- A hold past its lease is lost, even if nobody has told us yet.
  local reason = self:_find_loss()
  local kept, last = self._share:release(wait)
  if not kept then reason = reason or self._share:reason() end
  hold.entry:forget(self)
  if reason then
    hold.lost = hold.lost or reason
  else
    if last then hold.ended = true end
    forget_listeners(self)
  end
  -- Last: until then, who asks again begins anew.
  self._outcome = reason and "lost" or "released"
  if wait and last and not reason then
    return hold.session:_expect_removal(hold.number, self.path)
  end
  return answer(self)
end

--- Tells who listens that it was lost when it was given back, if it was.
function Guard:tell_loss()
  local session = self._hold.session
  if self._outcome == "lost" and not session._closed then
    session:_lose(self._hold)
  end
end

-- A release that was begun is done.
local Releasing = waits.class()

function Releasing:finish()
  if not self.fine then self.guard:give_back(self.wait) end
end

--- Gives the lock back.  Returns as soon as that is guaranteed; with
-- `{ wait = true }` when a server has confirmed it.  `true`, or
-- `nil, message, "lost"` when the hold had been lost before.
function Guard:release(options)
  local wait = Guard.read_wait(options)
  local releasing = setmetatable({ guard = self, wait = wait }, Releasing)
  local done, message, code =
    core.protect(releasing, self.give_back, self, wait)
  self:tell_loss()
  if done and done ~= true then
    return self._hold.session:_await_removal(done)
  end
  return done, message, code
end

--- Do we hold the lock, provably, by this process's own clock?  No I/O.
function Guard:is_held()
  return not self._outcome and not self._hold.session._closed
    and self._share:is_held()
end

--- Seconds for which that stands without hearing from a server.
function Guard:lease()
  if not self:is_held() then return 0 end
  return self._share:lease()
end

--- Asks the server: `true`, or `nil, message, code`.
function Guard:verify()
  local session = self._hold.session
  if session._closed then
    return errors.refusal("closed", "the session of the hold of %s is closed",
      self.path)
  end
  if self._outcome == "released" then
    return errors.refusal("lost", "the hold of %s was released", self.path)
  end
  if self._outcome == "lost" then return lost(self) end
  local code
  if not self._hold.lost and self._share:state() ~= "lost" then
    code = session:_verify(self._share)
    if not code and session._closed then code = "closed" end
  end
  local done, _, message, word = self:_refuse()
  if done then return nil, message, word end
  if code == "disconnected" then
    return errors.refusal(code, "no server could be asked about the hold of %s",
      self.path)
  elseif code == "closed" then
    return errors.refusal(code, "the session of the hold of %s was closed",
      self.path)
  elseif code or not self:is_held() then
    return lost(self)
  end
  return true
end

--- The fencing token: a 19-digit string that grows with every new hold.
function Guard:token()
  return self._share:token()
end

function Guard:token_number()
  return self._share:token_number()
end

--- "held", "suspended", "released" or "lost"
function Guard:state()
  if self._outcome then return self._outcome end
  if self._hold.lost then return "lost" end
  if self._hold.session._closed then return "released" end
  return self._share:state()
end

--- Why it was lost: "max_hold", "deleted", "silence", "suspended", "expired"
-- or "closed"; nil if it was not.
function Guard:reason()
  if self:state() ~= "lost" then return nil end
  return self._hold.lost or self._share:reason()
end

--- `fn(guard, code, reason)` once, when the hold is lost: from step(), or from
-- a call that finds it out; at once if it already is.
function Guard:on_lost(fn)
  check.callback(fn, "argument 1 of on_lost")
  if self:state() == "lost" then
    local reason = self:reason()
    fn(self, errors.code_of_loss(reason), reason)
  elseif not self._outcome then
    local listeners = self._hold.listeners
    local scope = self._hold.session:_scope()
    listeners[#listeners + 1] = { guard = self, fn = fn, scope = scope }
    self._hold.session:_listen(self._hold)
  end
  return self
end

--- `fn(guard)` once, from step(), when somebody asks for the lock.
function Guard:on_revoke(fn)
  check.callback(fn, "argument 1 of on_revoke")
  local hold = self._hold
  if self._outcome or hold.lost or hold.session._closed then return self end
  hold.revocation = hold.revocation or {}
  if hold.revoked then
    hold.session:_later(function() fn(self) end)
    return self
  end
  local scope = hold.session:_scope()
  table.insert(hold.revocation, { guard = self, fn = fn, scope = scope })
  hold.session:_listen(hold)
  self._share:watch()
  return self
end

--- How many local turns (option `handoffs`) the node has had before.
function Guard:turn()
  return self._share:turn()
end

check.methods(Guard, [[
  guard:release(options)
  guard:is_held()
  guard:lease()
  guard:verify()
  guard:token()
  guard:token_number()
  guard:state()
  guard:reason()
  guard:on_lost(fn)
  guard:on_revoke(fn)
  guard:turn()
]])

Guard.__close = function(self) self:release() end

function Guard:__tostring()
  return ("zklock guard of %s (%s)"):format(self.path, self:state())
end

return Guard
