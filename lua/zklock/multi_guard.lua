--- The guard of a multi, a lock over several locks. Either all parts of the
-- multi are held, or the whole is lost. The guard contains the guards of the
-- parts, and its state follows from theirs.
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
-- while the next parts are acquired. Until all parts are granted, only the
-- acquisition, `taking`, has the guard.
function multi_guards.new(path, taking)
  return setmetatable({
    path = path,
    node = "",
    _parts = {}, -- the guards of the parts
    _taking = taking, -- the acquisition in progress
    _stack = false, -- the owner's stack of guards: Owners:push
    _scope = false,
    _owners = false, -- set at the end: keeps the owners alive
  }, MultiGuard)
end

-- Releases all parts first, and only then calls the listeners of lost parts. A
-- listener, or a wait for a confirmation, can suspend the task for ever. No
-- part may be held meanwhile. Returns a list with the result of
-- guards.give_back for each part. Can be called again if a part is granted
-- after the first call, or if the first call was interrupted.
local function give_all(self, confirm)
  local removals = {}
  for i = #self._parts, 1, -1 do
    removals[i] = guards.give_back(self._parts[i], confirm) or false
  end
  for i = #self._parts, 1, -1 do guards.tell_end(self._parts[i]) end
  return removals
end

-- Ends the multi because one part is lost: releases the other parts.
local function lose(self)
  give_all(self)
  local wait = self._taking and self._taking.wait
  if wait then waits.cancel(wait) end -- no more parts are needed
end

-- Calls `fn(self, …)` at the first `event` ("on_lost" or "on_revoke") of these
-- parts. The listener refers to the multi weakly, because a part's hold must
-- not keep its multi alive.
local function listen(self, parts, event, fn)
  local weak = setmetatable({ self }, { __mode = "v" })
  for _, part in ipairs(parts) do
    part[event](part, function(_, ...)
      local multi = weak[1]
      weak[1] = nil
      if multi then fn(multi, ...) end
    end)
  end
  return self
end

--- Adds the guard of a granted part.  The multi is lost if this part is lost.
function multi_guards.add(self, part)
  table.insert(self._parts, part)
  listen(self, { part }, "on_lost", lose)
end

--- Called when all parts are granted: adds the guard to its owner's guards.
function multi_guards.complete(self, owners, owner)
  local nodes = {}
  for i, part in ipairs(self._parts) do nodes[i] = part.node end
  self.node = table.concat(nodes, ",")
  self._taking = false
  -- Keeps the owners object alive. So if the multi is lost, the owner's next
  -- acquisition can return the loss.
  self._owners = owners
  owners:push("multi", owner, self)
end

--- Returns the guard of a lost part, or nil. Also checks the clock: if the
-- lease of a part has expired, the multi is lost for good.
function multi_guards.find_loss(self)
  for _, part in ipairs(self._parts) do
    if guards.find_loss(part) then
      lose(self)
      return part
    end
  end
end

--- Returns `nil, message, "lost"` for a lost multi.
function multi_guards.refuse(self)
  return errors.lost(self.path, self:reason())
end

--- Releases all parts. Returns a list with the result of guards.give_back for
-- each part.
function multi_guards.give_back(self, confirm)
  self._taking = false
  -- If the multi is lost, this release returns the loss. Forget it here, so
  -- that the owner's next acquisition does not return it a second time.
  Owners.forget(self)
  return give_all(self, confirm)
end

function MultiGuard:release(how)
  local removals = multi_guards.give_back(self, options.read_release(how))
  if self:state() == "lost" then return multi_guards.refuse(self) end
  for i, removal in ipairs(removals) do
    if removal and removal ~= true then
      local ok, message, code = guards.await_removal(self._parts[i], removal)
      if not ok then return nil, message, code end
    end
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
  if multi_guards.find_loss(self) then return multi_guards.refuse(self) end
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

local ranks = { held = 1, suspended = 2, released = 3, lost = 4 }

--- Returns the state of the part with the worst state.
function MultiGuard:state()
  local state = "held"
  for _, part in ipairs(self._parts) do
    local of_part = part:state()
    if ranks[of_part] > ranks[state] then state = of_part end
  end
  return state
end

--- Returns why the multi was lost: the reason of a part that was lost.
function MultiGuard:reason()
  for _, part in ipairs(self._parts) do
    local reason = part:reason()
    if reason then return reason end
  end
end

function MultiGuard:on_lost(fn)
  check.callback(fn, "argument 1 of on_lost")
  return listen(self, self._parts, "on_lost", function(guard, reason)
    local _, message = errors.lost(guard.path, reason)
    fn(guard, reason, message)
  end)
end

--- Registers `fn`. It is called once as `fn(guard)`, when a client first asks
-- this holder to release any of the guard's locks.
function MultiGuard:on_revoke(fn)
  check.callback(fn, "argument 1 of on_revoke")
  return listen(self, self._parts, "on_revoke", fn)
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
