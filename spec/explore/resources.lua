--- What the tasks of a story contend for: each resource is a path, its kind,
-- and the options that all sessions have in common.  The torture draws from
-- these kinds, too.
local resources = {}

local makers = {}

local function mutex(options)
  return { modes = { "W" }, options = options,
    make = function(session, path) return { session:mutex(path, options) } end }
end

function makers.mutex(chance)
  local options = { local_turns = chance:pick { 0, 0, 1, 3 },
    wait = chance:pick { "predecessor", "predecessor", "parent", "poll" } }
  if options.wait ~= "predecessor" then options.local_turns = nil end
  if options.wait == "poll" then options.poll_interval = 0.3 end
  if chance:one_in(6) then options.layout = "kazoo" end
  return mutex(options)
end

function makers.turns(chance)
  return mutex { local_turns = chance:pick { 2, 5, 200 } }
end

function makers.unfair() return mutex { fair = false } end

function makers.rwlock(chance)
  local options = { layout = chance:one_in(5) and "kazoo" or nil }
  return { modes = { "W", "R" }, options = options,
    make = function(session, path)
      local both = session:rwlock(path, options)
      return { both.write, both.read }
    end }
end

function makers.semaphore(chance)
  local options, permits = {}, chance:between(1, 3)
  return { modes = { "P" }, options = options, permits = permits,
    make = function(session, path)
      return { session:semaphore(path, permits, options) }
    end }
end

function makers.election(chance)
  local options = { layout = chance:one_in(3) and "latch" or nil }
  return { modes = { "W" }, options = options, is_election = true,
    make = function(session, path)
      return { session:election(path, options) }
    end }
end

function makers.once()
  return { modes = { "W" }, options = {}, is_once = true,
    make = function(session, path) return { session:mutex(path) } end }
end

function makers.barrier()
  return { modes = {}, is_barrier = true,
    make = function(session, path) return { session:barrier(path) } end }
end

function makers.double_barrier(chance)
  local options, count = {}, chance:between(1, 3)
  return { modes = { "M" }, options = options, is_gate = true, count = count,
    make = function(session, path)
      return { session:double_barrier(path, count, options) }
    end }
end

local kinds = { "mutex", "mutex", "turns", "unfair", "rwlock", "rwlock",
  "semaphore", "semaphore", "election", "once", "barrier", "double_barrier" }

--- One of a kind, with options that are drawn.
function resources.new(chance, kind, number)
  local resource = makers[kind](chance)
  resource.path = "/" .. number .. "-" .. kind
  resource.kind = kind
  local options = resource.options
  if options then
    if chance:one_in(8) then options.max_hold = chance:pick { 0.3, 1.5 } end
    if chance:one_in(8) then options.lose_on_suspend = true end
  end
  return resource
end

local can_be_part = { mutex = true, turns = true, unfair = true, rwlock = true,
  semaphore = true }

local function multi(list)
  local parts = {}
  for _, resource in ipairs(list) do
    if can_be_part[resource.kind] then parts[#parts + 1] = resource end
  end
  if #parts < 2 then return nil end
  return { kind = "multi", path = "multi", parts = parts, modes = { "W" },
    options = {}, make = function(session, _, locks_of)
      local locks = {}
      for i, part in ipairs(parts) do locks[i] = locks_of(part)[1] end
      return { session:multi(locks) }
    end }
end

--- Those of one story.
function resources.draw(chance)
  local list = {}
  for i = 1, chance:pick { 1, 1, 2, 3 } do
    list[i] = resources.new(chance, chance:pick(kinds), i)
  end
  if chance:one_in(3) then list[#list + 1] = multi(list) end
  return list
end

return resources
