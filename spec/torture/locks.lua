--- The locks that the clients contend for: few paths, so that they meet.
local random = math.random

-- kind → how often it is drawn, and what comes of it for a session: the lock,
-- its paths, its mode, and what the witness is to count it as.
local kinds = {}

local function kind(name, weight, make)
  kinds[#kinds + 1] = { name = name, weight = weight, make = make }
end

local function mutex_path(root) return root .. "/mutex-" .. random(3) end

local function alone(path, lock)
  return { paths = { path }, mode = "W", lock = lock }
end

-- How a waiter learns of its turn, and what it lets others of its session do,
-- is each lock object's own: they share the paths.
for name, options in pairs {
  mutex = {},
  local_turns = { local_turns = 3 },
  parent = { wait = "parent" },
  poll = { wait = "poll", poll_interval = 0.05 },
  lose = { lose_on_suspend = true },
} do
  kind(name, name == "mutex" and 5 or 2, function(session, root)
    local path = mutex_path(root)
    return alone(path, session:mutex(path, options))
  end)
end

kind("kazoo", 2, function(session, root)
  local path = root .. "/kazoo"
  return alone(path, session:mutex(path, { layout = "kazoo" }))
end)

kind("unfair", 3, function(session, root)
  local path = root .. "/unfair"
  return alone(path, session:mutex(path, { fair = false }))
end)

for name, layout in pairs { rwlock = "curator", ["kazoo-rwlock"] = "kazoo" } do
  kind(name, layout == "curator" and 6 or 3, function(session, root)
    local path = root .. "/rwlock-" .. layout
    local side = session:rwlock(path, { layout = layout })
    if random(5) <= 3 then
      return { paths = { path }, mode = "R", lock = side.read }
    end
    return { paths = { path }, mode = "W", lock = side.write,
      other = side.read }
  end)
end

for _, permits in ipairs { 1, 3 } do
  kind("semaphore-" .. permits, 3, function(session, root)
    local path = root .. "/semaphore-" .. permits
    return { paths = { path }, mode = "P" .. permits,
      lock = session:semaphore(path, permits) }
  end)
end

-- Beside those who take the same mutexes one by one.
kind("multi", 3, function(session, root)
  local first = random(3)
  local paths = { root .. "/mutex-" .. first,
    root .. "/mutex-" .. first % 3 + 1 }
  return { paths = paths, mode = "W", lock = session:multi {
    session:mutex(paths[1]), session:mutex(paths[2]) } }
end)

-- (pairs() goes as it likes.)
table.sort(kinds, function(a, b) return a.name < b.name end)

local total = 0
for _, one in ipairs(kinds) do total = total + one.weight end

local function draw(session, root)
  local dice = random(total)
  for _, one in ipairs(kinds) do
    dice = dice - one.weight
    if dice <= 0 then
      local wanted = one.make(session, root)
      wanted.kind = one.name
      return wanted
    end
  end
end

return { draw = draw }
