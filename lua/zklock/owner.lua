--- Owners: who may release.
--
-- Those of one path in one session, for all lock objects on it: by its kind and
-- then by the owner, the stack of an owner's unreleased guards.  Owners are
-- weak keys, and only lock objects and guards refer to this: a hold that nobody
-- can release any more is collected, and so released.
local errors = require "zklock.errors"

local misuse, with_article = errors.misuse, errors.with_article

local Owners = {}
Owners.__index = Owners

Owners.line = false -- of those that share a node: turns.lua

local NOTHING = {}

-- Of all stacks of one kind at one path.
local by_owner = { __mode = "k" }

-- What there is to say of a path's locks is the same of many paths: their
-- signature, and what they have inside.
local shapes = setmetatable({}, { __mode = "v" })

local function shape_of(signature, insides)
  local shape = shapes[signature]
  if not shape then
    shape = { signature = signature, insides = insides }
    shapes[signature] = shape
  end
  return shape
end

local function refuse_inside(path, name, signature)
  misuse("%s/%s is inside the %s %s, which this session uses, too: no lock can "
    .. "be there", path, name, signature, path)
end

-- What a lock has inside is its own; whichever of the two is made first.
local function check_insides(engine, path, signature, insides)
  local parent, name = path:match "^(.*)/(.*)$"
  local outer = engine.owners[parent]
  if outer and outer.shape.insides[name] then
    refuse_inside(parent, name, outer.shape.signature)
  end
  for inside in pairs(insides) do
    if engine.owners[path .. "/" .. inside] then
      refuse_inside(path, inside, signature)
    end
  end
end

--- `signature`: what all users of the path in the session must agree about;
-- `insides`: the set of what the lock itself has there, if it is a lock.
function Owners.of(engine, path, signature, insides)
  local owners = engine.owners[path]
  if not owners then
    insides = insides or NOTHING
    check_insides(engine, path, signature, insides)
    owners = setmetatable({ engine = engine, path = path,
      shape = shape_of(signature, insides) }, Owners)
    engine.owners[path] = owners
  elseif owners.shape.signature ~= signature then
    misuse("%s is used as %s by this session, not as %s", path,
      with_article(owners.shape.signature), with_article(signature))
  end
  return owners
end

--- What all of the path are, in words.
function Owners:signature() return self.shape.signature end

--- The innermost guard.
function Owners:top(kind, owner)
  local stacks = rawget(self, kind)
  local stack = stacks and stacks[owner]
  return stack and stack[#stack]
end

--- `scope`: the request that the guard ends with, if there is one.
function Owners:push(kind, owner, guard, scope)
  local stacks = rawget(self, kind)
  if not stacks then
    stacks = setmetatable({}, by_owner)
    self[kind] = stacks
  end
  local stack = stacks[owner]
  if not stack then
    stack = {}
    stacks[owner] = stack
  end
  guard._stack = stack
  stack[#stack + 1] = guard
  if scope then
    guard._scope = scope
    scope:add(scope.guards, guard)
  end
end

--- A guard that is released is nobody's.  Twice does no harm.  If it was not
-- the innermost one, its stack is returned.
function Owners.forget(guard)
  local scope, stack = guard._scope, guard._stack
  if scope then scope:remove(scope.guards, guard) end
  if not stack then return nil end
  local n = #stack
  for i = n, 1, -1 do
    if stack[i] == guard then
      table.remove(stack, i)
      guard._stack = false -- those that come later are not kept by it
      return i < n and stack or nil
    end
  end
end

return Owners
