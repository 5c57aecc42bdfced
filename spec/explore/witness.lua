--- The witness: it knows the ensemble's truth, asks all guards for their
-- belief, and reports what is against the promises.
--
-- A hold of which is_held() was true at two moments was held in between: so the
-- guard that was asked first is asked again before two are said to hold.
--
-- An operator who deletes a node, or ends a session, is not excluded by any
-- protocol.  From the deed on such a hold excludes nothing, and must end soon.
local virtual = require "zklock.virtual"

local Witness = {}
Witness.__index = Witness

local DEED = 30 -- seconds, after which an operator's request is done
local NEWS = 2 -- session timeouts, after which a deed must be known
local LONGEST = 6 -- seconds: the longest session timeout of a story

--- `violate(format, ...)` ends the story.
local function new(world, violate)
  return setmetatable({ world = world, ensemble = world.ensemble,
    violate = violate, holds = {}, order = {},
    taken = {}, seized = {}, count = 0 }, Witness)
end

-- ---- What is true -----------------------------------------------------------

--- Nodes of a guard, with what the ensemble knows of each.
local function look(self, guard)
  local parts = {}
  for path in guard.node:gmatch "[^,]+" do
    local stat = self.ensemble:look(path)
    parts[#parts + 1] = { node = path, czxid = stat and stat.czxid,
      owner = stat and stat.owner }
  end
  return parts
end

-- (Without a leader no session ends.)
local function is_true(self, part)
  local stat = self.ensemble:look(part.node)
  return stat and stat.czxid == part.czxid
    and (self.ensemble:has_session(part.owner) or not self.ensemble:leader())
end

-- ---- Belief -----------------------------------------------------------------

local function is_closed(hold) return hold.session:state() == "closed" end

local function is_believed(self, hold)
  local held = hold.guard:is_held()
  if held and hold.over then
    self.violate("%s: is_held() is true after %s", hold.name, hold.over)
  elseif held and hold.said_false then
    self.violate("%s: is_held() is true, after it was lost", hold.name)
  end
  -- (A hold that is suspended may be saved by a server's answer.)
  if not held and hold.guard:state() == "lost" then hold.said_false = true end
  return held
end

-- What was taken away by force must be known after a while.
local function check_news(self, hold)
  local forced = hold.forced
  if self:is_there(hold) then
    forced.at, forced.jumped = virtual.now(), self.world.jumped
    return
  end
  local limit = NEWS * hold.timeout + self.world.jumped - forced.jumped
  if virtual.now() > forced.at + limit and is_believed(self, hold) then
    self.violate("%s: is believed %.1f s after its node was taken away",
      hold.name, virtual.now() - forced.at)
  end
end

-- The truth first: what is false then must not be believed afterwards.
local function check_truth(self, hold)
  for _, part in ipairs(hold.parts) do
    if not is_true(self, part) and not hold.forced
      and is_believed(self, hold) then
      self.violate("%s: is_held() is true, and %s is %s", hold.name, part.node,
        self.ensemble:look(part.node) and "of an ended session, or another's"
        or "gone")
    end
  end
end

-- ---- Exclusion --------------------------------------------------------------

local function excludes(a, b)
  return a.path == b.path and (a.mode == "W" or b.mode == "W")
end

local function check_pair(self, a, b)
  if a.hold.owner == b.hold.owner or not excludes(a, b) then return end
  if is_believed(self, a.hold) then
    self.violate("%s and %s are both held", a.hold.name, b.hold.name)
  end
end

-- Who has asked first is asked once more.
local function check_permits(self, believed, path, permits)
  local count = 0
  for _, part in ipairs(believed) do
    if part.path == path and is_believed(self, part.hold) then
      count = count + 1
    end
  end
  if count > permits then
    self.violate("%d have one of the %d permits of %s", count, permits, path)
  end
end

local function check_believed(self, believed)
  local counts = {}
  for i, part in ipairs(believed) do
    for j = 1, i - 1 do check_pair(self, believed[j], part) end
    if part.permits then
      counts[part.path] = (counts[part.path] or 0) + 1
      if counts[part.path] > part.permits then
        check_permits(self, believed, part.path, part.permits)
      end
    end
  end
end

--- Asks all guards.
function Witness:ask()
  local believed = {}
  for _, hold in ipairs(self.holds) do
    check_truth(self, hold)
    if hold.forced then
      check_news(self, hold)
    elseif not hold.said_false and is_believed(self, hold) then
      for _, claim in ipairs(hold.claims) do believed[#believed + 1] = claim end
    end
  end
  check_believed(self, believed)
end

-- ---- Tokens -----------------------------------------------------------------

local function fence(token, turn) return token .. (":%09d"):format(turn) end

-- What an owner has again has the same token; else it grows.
local function check_order(self, claim, mode)
  local order = self.order[claim.path] or { W = "", R = "" }
  self.order[claim.path] = order
  local mine, owner = fence(claim.token, claim.turn), claim.hold.owner
  for _, other in ipairs(mode == "W" and { "W", "R" } or { "W" }) do
    local before = order[other]
    local is_own = order[other .. "owner"] == owner
    if mine < before or mine == before and not is_own then
      self.violate("%s has the token %s of %s, after %s", claim.hold.name, mine,
        claim.path, before)
    end
  end
  if mine > order[mode] then
    order[mode], order[mode .. "owner"] = mine, owner
  end
end

-- ---- Force ------------------------------------------------------------------

local function force(self, hold)
  hold.forced = hold.forced
    or { at = virtual.now(), jumped = self.world.jumped }
end

-- (A deed may be done late; and names are used again.)
function Witness:is_suspect(part)
  local taken = self.taken[part.node]
  return taken and virtual.now() < taken + DEED or self.seized[part.owner]
    or not part.owner and next(self.seized)
end

-- ---- Double barriers --------------------------------------------------------

-- Members enter together: the first of them was let in when all were there, and
-- each of the others while a member was.  (An operator may lift the gate.)
local function check_crowd(self, hold, resource)
  local crowd = self.ensemble:crowd(resource.path)
  if hold.parts[1].czxid and not self.has_operator
    and crowd < resource.count then
    self.violate("%s: enters with %d of %d members", hold.name, crowd,
      resource.count)
  end
end

--- The members that are proven to be inside, when one begins to leave.
function Witness:inside(resource)
  local inside = {}
  for _, hold in ipairs(self.holds) do
    if hold.resource == resource and not hold.forced
      and is_believed(self, hold) then
      inside[#inside + 1] = hold
    end
  end
  return inside
end

--- They leave together: it has left, and has waited for those.
function Witness:left(hold, inside)
  for _, other in ipairs(inside) do
    if not other.is_forgotten and not other.forced
      and is_believed(self, other) then
      self.violate("%s has left, and %s is inside", hold.name, other.name)
    end
  end
end

-- ---- Holds ------------------------------------------------------------------

local function claims_of(hold, guard, resource, mode)
  if resource.parts then
    local tokens, claims = guard:tokens(), {}
    for i, part in ipairs(resource.parts) do
      local token = tokens[part.path]
      claims[i] = { hold = hold, path = part.path, mode = part.modes[1],
        permits = part.permits, token = token.token, turn = token.turn }
    end
    return claims
  elseif mode == "M" then
    return {}
  end
  return { { hold = hold, path = resource.path, mode = mode,
    permits = resource.permits, token = guard:token(), turn = guard:turn() } }
end

-- Another task can close the session between a grant and the callback.
local function timeout_of(session)
  return session:state() == "closed" and LONGEST or session:timeout()
end

--- A grant.  `options`: owner, session, resource, mode (W, R, P or M).
function Witness:granted(guard, options)
  self.count = self.count + 1
  local hold = { guard = guard, owner = options.owner, lost = 0,
    timeout = timeout_of(options.session), session = options.session,
    name = ("%s's hold %d of %s"):format(options.owner.name, self.count,
      guard.path) }
  hold.claims = claims_of(hold, guard, options.resource, options.mode)
  hold.parts = look(self, guard)
  if options.resource.is_gate then
    check_crowd(self, hold, options.resource)
  end
  guard:on_lost(function(_, reason, message)
    hold.lost = hold.lost + 1
    hold.reason = reason
    if hold.lost > 1 then
      self.violate("%s: on_lost is called twice", hold.name)
    end
    if hold.released then
      self.violate("%s: on_lost is called after its release", hold.name)
    end
    if not message:find(" was lost: %l") then
      self.violate("%s: on_lost is told %s (%s)", hold.name, reason, message)
    end
  end)
  table.insert(self.holds, hold)
  for _, part in ipairs(hold.parts) do
    if self:is_suspect(part) then
      force(self, hold)
    elseif not part.czxid and is_believed(self, hold) then
      self.violate("%s: is granted without the node %s", hold.name, part.node)
    end
  end
  if is_believed(self, hold) and not hold.forced then
    for _, claim in ipairs(hold.claims) do
      local mode = claim.permits == 1 and "W" or claim.mode
      if mode ~= "P" then check_order(self, claim, mode) end
    end
  end
  return hold
end

--- A node is about to be deleted by force.
function Witness:take(node)
  self.taken[node] = virtual.now()
  for _, hold in ipairs(self.holds) do
    for _, part in ipairs(hold.parts) do
      if part.node == node then force(self, hold) end
    end
  end
end

--- A session is about to be ended by force.
function Witness:seize(session)
  self.seized[session] = true
  for _, hold in ipairs(self.holds) do
    for _, part in ipairs(hold.parts) do
      if part.owner == session then force(self, hold) end
    end
  end
end

-- ---- Ends -------------------------------------------------------------------

local function forget(self, hold)
  hold.is_forgotten = true
  for i, other in ipairs(self.holds) do
    if other == hold then table.remove(self.holds, i) end
  end
end

--- A release is about to begin: nothing is asked of it until its outcome.
function Witness:ending(hold)
  is_believed(self, hold)
  forget(self, hold)
end

--- Are all its nodes there, and its session?
function Witness:is_there(hold)
  for _, part in ipairs(hold.parts) do
    if not is_true(self, part) then return false end
  end
  return true
end

--- ... and its outcome.
function Witness:released(hold, ok, code)
  if ok then
    if hold.said_false and not is_closed(hold) then
      self.violate("%s: release() is true after it was lost", hold.name)
    elseif hold.lost > 0 then
      self.violate("%s: release() is true after on_lost", hold.name)
    end
    hold.released = true
  elseif code == "lost" then
    if hold.lost ~= 1 and not is_closed(hold) then
      self.violate("%s: release() is lost, and on_lost was called %d times",
        hold.name, hold.lost)
    end
  elseif not (code == "closed" and is_closed(hold)) then
    self.violate("%s: release() is refused with %s", hold.name, tostring(code))
  end
  hold.over = "its release"
  if is_believed(self, hold) then
    self.violate("%s: is_held() is true after its release", hold.name)
  end
end

--- Its session was closed.
function Witness:closed(session)
  for _, hold in ipairs(self.holds) do
    if hold.session == session then
      hold.over = "the close of its session"
    end
  end
end

--- A hold is left to the collector.
function Witness:abandoned(hold)
  forget(self, hold)
  hold.guard = nil
end

return { new = new }
