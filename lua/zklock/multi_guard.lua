--- The guard of a multi, a lock over several locks: either all of its parts are
-- held, or the whole is lost.
local check = require "zklock.check"
local errors = require "zklock.errors"
local guards = require "zklock.guard"
local options = require "zklock.options"
local Owners = require "zklock.owner"
local waits = require "zklock.wait"

local MultiGuard = {}
MultiGuard.__index = MultiGuard

-- Functions for the library, not for users.
local multi_guards = {}

--- Makes the guard before its parts are granted, because a part can be lost
-- while the next parts are acquired.  Until all are granted, only the
-- acquisition, `taking`, has the guard.
function multi_guards.new(engine, path, taking)
  return setmetatable({
    path = path,
    node = "",
    _engine = engine,
    _parts = {}, -- the guards of the parts
    _listeners = {},
    _outcome = false, -- "released" or "lost" when the guard is over
    _reason = nil, -- why the multi was lost
    _taking = taking, -- the acquisition in progress
    _stack = false, -- the stack of its owner's guards: Owners:push
    _scope = false,
    _owners = false, -- set when complete: keeps the owners alive
  }, MultiGuard)
end

-- Releases all parts before any listener is called or any confirmation is
-- awaited: either could suspend the task for ever, with parts still held.
-- Returns the confirmations to await, and a part that was lost, if any.
local function give_all(self, confirm)
  local removals, lost_part = {}, nil
  for i = #self._parts, 1, -1 do
    local part = self._parts[i]
    local done = guards.give_back(part, confirm)
    if not done then lost_part = lost_part or part end
    if done and done ~= true then
      removals[#removals + 1] = { part = part, wait = done }
    end
  end
  return removals, lost_part
end

-- Calls the listeners of each part that was lost.
local function tell_parts(self)
  for i = #self._parts, 1, -1 do guards.tell_end(self._parts[i]) end
end

local function tell(events, self)
  local reason = self._reason
  local _, message = errors.lost(self.path, reason)
  for _, listener in ipairs(self._listeners) do
    events:call(listener, self, reason, message)
  end
  self._listeners = {}
end

-- Calls the listeners if the multi was lost.  A later call of this function
-- does not call them again.  Also delivers the trace events of the releases.
local function tell_end(self)
  self._engine.meters:tell()
  if self._outcome == "lost" then self._engine.events:do_now(tell, self) end
end

-- Marks the multi as lost because one part is lost, releases the other parts,
-- and calls the listeners.
local function lose(self, path, reason)
  if self._outcome then return end
  self._outcome, self._reason, self._lost_path = "lost", reason, path
  give_all(self)
  tell_parts(self)
  local wait = self._taking and self._taking.wait
  if wait then waits.cancel(wait) end -- no more parts are needed
  tell_end(self)
end

--- Adds the guard of a granted part.  The multi is lost if this part is lost.
function multi_guards.add(self, part)
  table.insert(self._parts, part)
  -- Weak, because a part's hold must not keep its multi alive.
  local weak = setmetatable({ self }, { __mode = "v" })
  part:on_lost(function(_, reason)
    if weak[1] then lose(weak[1], part.path, reason) end
  end)
end

function multi_guards.count(self) return #self._parts end

--- Returns the path of a part that is lost or whose lease is over, if any.
function multi_guards.lost_path(self)
  if self._outcome then return self._lost_path end
  for _, part in ipairs(self._parts) do
    if not part:is_held() then return part.path end
  end
end

--- Adds the complete guard to its owner's guards, when all parts are granted.
function multi_guards.complete(self, owners, owner)
  local nodes = {}
  for i, part in ipairs(self._parts) do nodes[i] = part.node end
  self.node = table.concat(nodes, ",")
  self._taking = false
  -- Keeps the owners alive, so that the owner's next call returns this loss.
  self._owners = owners
  owners:push("multi", owner, self)
end

--- Returns whether the multi is lost.  Checks the clock, too: if a part's lease
-- is over, the multi is lost for good.
function multi_guards.find_loss(self)
  for _, part in ipairs(self._outcome and {} or self._parts) do
    local reason = guards.find_loss(part)
    if reason then lose(self, part.path, reason) end
  end
  return self._outcome == "lost"
end

--- Returns `nil, message, "lost"` for a lost multi.
function multi_guards.refuse(self)
  return errors.lost(self.path, self:reason())
end

local lost = multi_guards.refuse

-- Releases all parts, sets the outcome, and calls the listeners if the multi
-- was lost.  Returns the confirmations to await.  Releases the parts even if
-- the outcome is already set: a part may have been granted after a loss, or an
-- error in a debug hook may have interrupted the release of the parts.
local function finish(self, confirm)
  -- The owner's next acquisition must not return this loss, already reported.
  Owners.forget(self)
  local removals, lost_part = give_all(self, confirm)
  if lost_part and not self._outcome then
    self._reason, self._lost_path = lost_part:reason(), lost_part.path
  end
  self._outcome = self._outcome or lost_part and "lost" or "released"
  tell_parts(self)
  tell_end(self)
  return removals
end

--- Releases the parts acquired so far.  Called when the acquisition fails: its
-- caller gets no guard and cannot release them.
function multi_guards.undo(self)
  self._taking = false
  finish(self)
end

function MultiGuard:release(how)
  local removals = finish(self, options.read_release(how))
  if self._outcome == "lost" then return lost(self) end
  for _, removal in ipairs(removals) do
    local ok, message, code = guards.await_removal(removal.part, removal.wait)
    if not ok then return nil, message, code end
  end
  return true
end

function MultiGuard:is_held()
  return self:lease() > 0
end

function MultiGuard:lease()
  local least = math.huge
  for _, part in ipairs(self._parts) do
    least = math.min(least, part:lease())
  end
  return least
end

function MultiGuard:verify()
  if self._outcome == "lost" then return lost(self) end
  for _, part in ipairs(self._parts) do
    local ok, message, code = part:verify()
    if not ok then return nil, message, code end
  end
  return true
end

--- Returns the token and turn of each part, by path.  There is no common token,
-- because no number orders two multis that share only some of their locks.
function MultiGuard:tokens()
  local tokens = {}
  for _, part in ipairs(self._parts) do
    tokens[part.path] = { token = part:token(), turn = part:turn() }
  end
  return tokens
end

function MultiGuard:state()
  if self._outcome then return self._outcome end
  local state = "held"
  for _, part in ipairs(self._parts) do
    local of_part = part:state()
    if of_part == "lost" or of_part == "released" then return of_part end
    if of_part == "suspended" then state = of_part end
  end
  return state
end

--- Returns why the multi was lost: the reason of the first part that was lost.
function MultiGuard:reason()
  if self._outcome then return self._reason end
  for _, part in ipairs(self._parts) do
    local reason = part:reason()
    if reason then return reason end
  end
end

function MultiGuard:on_lost(fn)
  check.callback(fn, "argument 1 of on_lost")
  if self:state() == "lost" then
    local _, message = lost(self)
    fn(self, self:reason(), message)
  elseif not self._outcome then
    local scope = self._engine.adapters:scope()
    table.insert(self._listeners, { fn = fn, scope = scope })
  end
  return self
end

--- Calls `fn(guard)` once, when a client first asks for any of the parts.
function MultiGuard:on_revoke(fn)
  check.callback(fn, "argument 1 of on_revoke")
  local told = false
  for _, part in ipairs(self._parts) do
    part:on_revoke(function()
      if not told then
        told = true
        fn(self)
      end
    end)
  end
  return self
end

check.methods(MultiGuard, [[
  guard:release(options)
  guard:is_held()
  guard:lease()
  guard:verify()
  guard:tokens()
  guard:state()
  guard:reason()
  guard:on_lost(fn)
  guard:on_revoke(fn)
]])

MultiGuard.__close = function(self) self:release() end

function MultiGuard:__tostring()
  return errors.describe("zklock guard of %s (%s)", self.path, self:state())
end

return multi_guards
