--- The guard of a multi: what its user has of several holds, all or nothing.
local check = require "zklock.check"
local errors = require "zklock.errors"
local guards = require "zklock.guard"
local options = require "zklock.options"
local Owners = require "zklock.owner"
local waits = require "zklock.wait"

local MultiGuard = {}
MultiGuard.__index = MultiGuard

-- What the library does with them, and their users do not.
local multi_guards = {}

--- It is made before its parts are granted, so that nothing can end them
-- unheard: until then nobody but the acquisition, `taking`, has it.
function multi_guards.new(taking, path)
  return setmetatable({
    path = path,
    node = "",
    _engine = taking.engine,
    _parts = {}, -- their guards
    _listeners = {},
    _outcome = false, -- "released" or "lost", when it is over
    _reason = nil, -- of the loss
    _taking = taking, -- while that goes on
    _stack = false, -- among the owner's guards: see Owners:push
    _scope = false,
    _owners = false,
  }, MultiGuard)
end

-- All of them, without a word: who hears of one, or awaits it, may never come
-- back to the next.  What is to be awaited, and a part that was lost.
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

-- Tells of each part that was lost.
local function tell_parts(self)
  for i = #self._parts, 1, -1 do guards.tell_end(self._parts[i]) end
end

local function give_back(self)
  give_all(self)
  tell_parts(self)
end

local function tell(events, self)
  local reason = self._reason
  local code = errors.code_of_loss(reason)
  for _, listener in ipairs(self._listeners) do
    events:call(listener, self, code, reason)
  end
  self._listeners = {}
end

-- Tells who listens what has come of its end: once, if it was lost.
local function tell_end(self)
  self._engine.meters:tell()
  if self._outcome == "lost" then self._engine.events:do_now(tell, self) end
end

-- One part is lost: so is the whole, and the rest is given back.
local function lose(self, path, reason)
  if self._outcome then return end
  self._outcome, self._reason, self._lost_path = "lost", reason, path
  give_back(self)
  local wait = self._taking and self._taking.wait
  if wait then waits.cancel(wait) end -- what it waits for is of no use
  tell_end(self)
end

--- One more part is granted.
function multi_guards.add(self, part)
  table.insert(self._parts, part)
  -- Weak: a part's hold must not keep its multi alive.
  local weak = setmetatable({ self }, { __mode = "v" })
  part:on_lost(function(_, _, reason)
    if weak[1] then lose(weak[1], part.path, reason) end
  end)
end

function multi_guards.count(self) return #self._parts end

--- The path of a part that is lost, or not provably held, if there is one.
function multi_guards.lost_path(self)
  if self._outcome then return self._lost_path end
  for _, part in ipairs(self._parts) do
    if not part:is_held() then return part.path end
  end
end

--- Was it ended by a part, while others were waited for?
function multi_guards.has_ended(self) return self._outcome ~= false end

--- All are granted: it is the owner's.
function multi_guards.complete(self, owners, owner)
  local nodes = {}
  for i, part in ipairs(self._parts) do nodes[i] = part.node end
  self.node = table.concat(nodes, ",")
  self._taking = false
  -- As long as the guard lives, who asks again is told what became of it.
  self._owners = owners
  owners:push("multi", owner, self)
end

--- Not all can be had.
function multi_guards.give_up(self)
  self._taking = false
  self._outcome = self._outcome or "released"
  give_back(self)
end

--- Is it lost, by what we know, or by the clock?  Then it is from now on.
function multi_guards.find_loss(self)
  for _, part in ipairs(self._outcome and {} or self._parts) do
    local reason = guards.find_loss(part)
    if reason then lose(self, part.path, reason) end
  end
  return self._outcome == "lost"
end

--- What is said of it then.
function multi_guards.refuse(self)
  return errors.lost(self.path, self:reason())
end

local lost = multi_guards.refuse

-- Once more, if it was interrupted, it does the rest.
local function release_all(self, confirm)
  local removals, lost_part = give_all(self, confirm)
  if lost_part then
    self._reason, self._lost_path = lost_part:reason(), lost_part.path
  end
  self._outcome = lost_part and "lost" or "released"
  return removals
end

--- Ends what did not reach its user.
function multi_guards.undo(self)
  self._taking = false
  -- Who has heard of the end is told no more by the next acquisition.
  Owners.forget(self)
  if not self._outcome then
    release_all(self)
    tell_parts(self)
  end
  tell_end(self)
end

function MultiGuard:release(how)
  local confirm = options.read_release(how)
  Owners.forget(self)
  if self._outcome == "lost" then return lost(self) end
  if self._outcome then return true end
  local removals = release_all(self, confirm)
  tell_parts(self)
  tell_end(self)
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

--- What fences each part, by its path.  (There is no token for all: no number
-- orders the holds of two multis that share only a part of their locks.)
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

--- Why it was lost, or rather the first of its parts that was.
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
    local reason = self:reason()
    fn(self, errors.code_of_loss(reason), reason)
  elseif not self._outcome then
    local scope = self._engine.adapters:scope()
    table.insert(self._listeners, { fn = fn, scope = scope })
  end
  return self
end

--- `fn(guard)` once, when somebody asks for any of the parts.
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
