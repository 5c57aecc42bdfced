--- Owners: who may release.
--
-- Those of one path in one session, for all lock objects on it:
-- `guards[kind][owner]` is the stack of an owner's unreleased guards.  Owners
-- are weak keys, and only lock objects and guards refer to this: a hold that
-- nobody can release any more is collected, and so released.
local misuse = require "zklock.errors".misuse

local Owners = {}
Owners.__index = Owners

local NOTHING = {}

local function refuse_inside(path, name, outer)
  misuse("%s/%s is inside the %s %s, which this session uses, too: no lock can "
    .. "be there", path, name, outer.signature, path)
end

-- What a lock has inside is its own; whichever of the two is made first.
local function check_insides(engine, path, signature, insides)
  local parent, name = path:match "^(.*)/(.*)$"
  local outer = engine.owners[parent]
  if outer and outer.insides[name] then refuse_inside(parent, name, outer) end
  for inside in pairs(insides) do
    if engine.owners[path .. "/" .. inside] then
      refuse_inside(path, inside, { signature = signature })
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
    owners = setmetatable({ signature = signature, insides = insides,
      guards = {} }, Owners)
    engine.owners[path] = owners
  elseif owners.signature ~= signature then
    misuse("%s is used as a %s by this session, not as a %s", path,
      owners.signature, signature)
  end
  return owners
end

--- The innermost guard.
function Owners:top(kind, owner)
  local stacks = self.guards[kind]
  local stack = stacks and stacks[owner]
  return stack and stack[#stack]
end

--- `scope`: the request that the guard ends with, if there is one.
function Owners:push(kind, owner, guard, scope)
  local stacks = self.guards[kind]
  if not stacks then
    stacks = setmetatable({}, { __mode = "k" })
    self.guards[kind] = stacks
  end
  local stack = stacks[owner]
  if not stack then
    stack = {}
    stacks[owner] = stack
  end
  guard._stack, guard._scope = stack, scope or false
  stack[#stack + 1] = guard
  if scope then scope:add(scope.guards, guard) end
end

--- A guard that is released is nobody's.  Twice does no harm.
function Owners.forget(guard)
  local scope, stack = guard._scope, guard._stack
  if scope then scope:remove(scope.guards, guard) end
  if not stack then return end
  for i = #stack, 1, -1 do
    if stack[i] == guard then
      table.remove(stack, i)
      break
    end
  end
end

return Owners
