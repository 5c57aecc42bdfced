--- Owners: who may release.
--
-- Those of one path in one session, for all lock objects on it:
-- `guards[kind][owner]` is the stack of an owner's unreleased guards.  Owners
-- are weak keys, and only lock objects and guards refer to this: a hold that
-- nobody can release any more is collected, and so released.
local misuse = require "zklock.errors".misuse

local Owners = {}
Owners.__index = Owners

--- `signature`: what all users of the path in the session must agree about.
function Owners.of(engine, path, signature)
  local owners = engine.owners[path]
  if not owners then
    owners = setmetatable({ signature = signature, guards = {} }, Owners)
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
