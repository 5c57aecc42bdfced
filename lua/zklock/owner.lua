--- Owners: records which task or value owns each hold, and therefore may
-- release it.
--
-- One object serves all lock objects of a session for one path. For each kind
-- and owner, it has the stack of the owner's unreleased guards. Owners are weak
-- keys, and only lock objects and guards refer to this object. So if no code
-- can release a hold any more, Lua collects the hold, and the collection
-- releases the lock.
local errors = require "zklock.errors"

local misuse, with_article = errors.misuse, errors.with_article

local Owners = {}
Owners.__index = Owners

Owners.line = false -- the line of local turns (turns.lua)

local NOTHING = {}

Owners.insides = NOTHING -- the names that the lock itself uses below the path

-- The metatable of tables whose weak keys are owners, and whose values are
-- their stacks of guards.
local by_owner = { __mode = "k" }

local function refuse_inside(path, name, signature)
  misuse("%s/%s is inside the %s %s, which this session uses, too: no lock can "
    .. "be there", path, name, signature, path)
end

-- Raises an error if the path is inside another lock's path, at a name that
-- this other lock uses. Detects this in whichever order the program makes the
-- two locks.
local function check_insides(engine, path, signature, insides)
  local parent, name = path:match "^(.*)/(.*)$"
  local outer = engine.owners[parent]
  if outer and outer.insides[name] then
    refuse_inside(parent, name, outer.signature)
  end
  for inside in pairs(insides) do
    if engine.owners[path .. "/" .. inside] then
      refuse_inside(path, inside, signature)
    end
  end
end

--- Returns the Owners object of a path; makes it if needed. `signature`: a text
-- that describes the locks. All locks at the path in this session must have the
-- same signature. `insides`: the names that a lock itself uses below the path.
function Owners.of(engine, path, signature, insides)
  local owners = engine.owners[path]
  if not owners then
    check_insides(engine, path, signature, insides or NOTHING)
    owners = setmetatable({ engine = engine, path = path,
      signature = signature }, Owners)
    if insides then owners.insides = insides end
    engine.owners[path] = owners
  elseif owners.signature ~= signature then
    misuse("%s is used as %s by this session, not as %s", path,
      with_article(owners.signature), with_article(signature))
  end
  return owners
end

--- Returns the innermost unreleased guard of this owner, or nil.
function Owners:top(kind, owner)
  local stacks = rawget(self, kind)
  local stack = stacks and stacks[owner]
  return stack and stack[#stack]
end

--- Adds a guard to its owner's stack. `scope`: the nginx request whose end
-- releases the guard, if any.
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
    scope.guards[guard] = true
  end
end

--- Removes a released guard from its owner's stack. Does nothing if it was
-- already removed.
function Owners.forget(guard)
  local scope, stack = rawget(guard, "_scope"), guard._stack or NOTHING
  if scope then scope.guards[guard] = nil end
  for i = #stack, 1, -1 do
    if stack[i] == guard then
      table.remove(stack, i)
    end
  end
  guard._stack = false -- the stack would keep later guards alive
end

return Owners
