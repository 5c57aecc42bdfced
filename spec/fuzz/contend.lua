--- Fuzzes what the contenders of one session do to each other: calls of
-- zklock.core, as plain Lua can make them, of all kinds of locks at one or two
-- paths, with waiters that watch the nodes of these locks, and an operator who
-- deletes such nodes.  The process lives, and when all was given back nothing
-- is left: no release, no wait, no watch.
--
--     lua contend.lua HOSTS SECONDS [SEED]
--
-- (calls.lua calls everything, with any arguments: its calls seldom meet.)
local core = require "zklock.core"

local hosts, seconds = arg[1], tonumber(arg[2]) or 10
local seed = tonumber(arg[3]) or os.time() % 1000000
math.randomseed(seed)
local random = math.random

local SHARES, AWAITINGS = 30, 10 -- that are kept
local PATIENCE = 60 -- seconds, in which all must be gone

local function pick(list) return list[random(#list)] end

-- One session, or two, of which each is seldom closed and opened again.
local sessions = {}

local function open()
  return assert(core.open { hosts = hosts, session_timeout = 4, log = false })
end

sessions[1] = open()
if seed % 3 == 0 then sessions[2] = open() end

-- What contends in this run, and where.
local every = { "mutex", "read", "write", "permit", "unfair", "member" }
local kinds = pick { every, every, { "unfair", "member" }, { "unfair" },
  { "mutex", "unfair", "member" }, { "mutex", "read", "write" }, { "mutex" },
  { "permit" } }
local layouts = pick { { "curator" }, { "curator", "kazoo" } }
local paths = { "/contend/a" .. seed, "/contend/b" .. seed }
if random(2) == 1 then paths[2] = nil end

-- `{ share =, way =, session =, path = }`
local shares, awaitings = {}, {}

local function keep(list, thing, most)
  if #list >= most then table.remove(list, random(#list)) end
  list[#list + 1] = thing
end

local function any_share() return shares[1] and pick(shares) end

-- The node of a hold, or one that some lock makes.
local function any_node()
  local one = any_share()
  local known, node = pcall(function() return one.share:node() end)
  return known and node
    or pick(paths) .. pick { "/holder", "/ready", "/locks", "/leases" }
end

-- A writer that a reader of this layout can downgrade.
local function find_writer(layout)
  for _, one in ipairs(shares) do
    if one.way.kind == "write" and one.way.layout == layout
        and one.share:state() == "held" then
      return one
    end
  end
end

local function make_way()
  local way = { kind = pick(kinds), lose_on_suspend = random(0, 1) }
  local kind = way.kind
  if kind == "permit" or kind == "member" then way.permits = random(3) end
  if kind == "mutex" or kind == "read" or kind == "write" then
    way.layout = pick(layouts)
  end
  if kind == "mutex" and random(3) == 1 then
    way.handoffs = pick { 1, 2, 5 }
  elseif kind == "mutex" and random(3) == 1 then
    way.wait, way.poll_interval = pick { "parent", "poll" }, 0.005
  end
  return way
end

local acts = {}

function acts.acquire()
  local way, session, path = make_way(), pick(sessions), pick(paths)
  local writer = way.kind == "read" and random(3) == 1
    and find_writer(way.layout)
  if writer then
    way.writer, session, path = writer.share, writer.session, writer.path
  end
  local made, share = pcall(session.acquire, session, path,
    pick { 0.005, 0.05, 0.3, 1 }, random(4) > 1, pick { "", "data" },
    pick { 0.002, 0.02, 0.3, 1 }, way)
  if not made then return end
  keep(shares, { share = share, way = way, session = session, path = path },
    SHARES)
end

function acts.release()
  local one = any_share()
  if one then one.share:release(random(4) == 1) end
end

function acts.drop() table.remove(shares) end

for _, name in ipairs { "cancel", "watch", "find_loss" } do
  acts[name] = function()
    local one = any_share()
    if one then one.share[name](one.share) end
  end
end

function acts.again()
  local one = any_share()
  if not one then return end
  keep(shares, { share = one.share:again(), way = one.way,
    session = one.session, path = one.path }, SHARES)
end

function acts.await()
  local session = pick(sessions)
  local path = random(3) == 1 and pick(paths) or any_node()
  keep(awaitings, (session:await(pick { "gone", "gone", "there", "crowd" },
    path, pick { 0.005, 0.05, 1 }, random(4) > 1, random(0, 2))), AWAITINGS)
end

function acts.await_no_more()
  if awaitings[1] then pick(awaitings):cancel() end
end

function acts.depart()
  local one = any_share()
  if not one or one.way.kind ~= "member" then return end
  local begun, awaiting = pcall(one.session.depart, one.session, one.share,
    pick { 0.005, 0.1, 1 }, random(4) > 1)
  if begun then keep(awaitings, awaiting, AWAITINGS) end
end

-- The operator.
function acts.disturb()
  local directory, name = any_node():match "^(.*)/(.*)$"
  local session, what = pick(sessions), random(12)
  if what == 1 then
    pcall(session.evict, session, directory, name)
  elseif what < 5 then
    pcall(session.revoke, session, directory, { name, 4 })
  end
end

function acts.ask()
  local one = any_share()
  if one then pcall(one.session.verify, one.session, one.share) end
end

function acts.close()
  if random(100) > 1 then return end
  local i = random(#sessions)
  sessions[i]:close()
  if random(2) == 1 then sessions[i]:leave() end
  sessions[i] = open()
end

function acts.collect()
  if random(20) == 1 then collectgarbage() end
end

local names = {}
for name in pairs(acts) do names[#names + 1] = name end
table.sort(names) -- the seed decides, not the order of a table
for name in ("acquire acquire acquire release release release await await")
  :gmatch "%l+" do
  names[#names + 1] = name
end

-- (One that was closed by now says so.)
local function hear(session, patience)
  pcall(session.wait, session, patience)
  while session:next() do session:noted() end
end

local function hear_all(patience)
  for _, session in ipairs(sessions) do hear(session, patience) end
end

local calls, deadline = 0, core.now() + seconds
while core.now() < deadline do
  for _ = 1, random(6) do
    acts[pick(names)]()
    calls = calls + 1
  end
  hear_all(pick { 0, 0.001, 0.003, 0.01 })
end

-- All is given back.

local NOTHING = "0 releases, 0 waits, 0 watches"

local function left_in(session)
  local stats = session:stats()
  return ("%d releases, %d waits, %d watches"):format(stats.pending_releases,
    stats.waiting, stats.watches)
end

-- What is left of anything, in the first session that has something.
local function find_left()
  for _, session in ipairs(sessions) do
    local left = left_in(session)
    if left ~= NOTHING then return left end
  end
end

local function give_all_back()
  for _, one in ipairs(shares) do one.share:release() end
  for _, awaiting in ipairs(awaitings) do awaiting:cancel() end
  shares, awaitings = {}, {}
  collectgarbage()
  collectgarbage()
end

give_all_back()
deadline = core.now() + PATIENCE
while find_left() do
  hear_all(0.01)
  if core.now() > deadline then
    io.stderr:write(("FAILED, seed %d: %s are left\n"):format(seed,
      find_left() or "some"))
    os.exit(1)
  end
end
print(("contend: %s, %d calls, seed %d"):format(table.concat(kinds, " "), calls,
  seed))
