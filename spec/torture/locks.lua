--- The locks that the clients contend for: few paths, so that they meet.  How a
-- waiter learns of its turn, and what it lets others of its session do, is each
-- lock object's own.
local Chance = require "explore.chance"
local resources = require "explore.resources"

local random = math.random

local kinds = {}
for kind, weight in ("mutex 13 turns 2 unfair 3 rwlock 9 semaphore 6 multi 3")
  :gmatch "(%l+) (%d+)" do
  for _ = 1, weight do kinds[#kinds + 1] = kind end
end

local function mutex_path(root, number) return root .. "/mutex-" .. number end

-- Beside those who take the same mutexes one by one.
local function draw_multi(session, root)
  local first = random(3)
  local paths = { mutex_path(root, first), mutex_path(root, first % 3 + 1) }
  return { paths = paths, mode = "W", kind = "multi", lock = session:multi {
    session:mutex(paths[1]), session:mutex(paths[2]) } }
end

local chance

--- A lock, its paths, its mode, and what the witness is to count it as.  A
-- rwlock's writer has the reader beside it.
local function draw(session, root)
  chance = chance or Chance.new(random(2 ^ 30))
  local kind = kinds[random(#kinds)]
  if kind == "multi" then return draw_multi(session, root) end
  local resource = resources.new(chance, kind, 0)
  -- (The users of a path in one session agree on these.)
  local form = resource.options.layout or resource.permits
  local path = form and ("%s/%s-%s"):format(root, kind, form)
    or (kind == "mutex" or kind == "turns") and mutex_path(root, random(3))
    or root .. "/" .. kind
  local sides = resource.make(session, path)
  local side = random(#sides)
  return { paths = { path }, kind = kind, lock = sides[side],
    mode = resource.modes[side] .. (resource.permits or ""),
    other = side == 1 and sides[2] }
end

return { draw = draw }
