--- A story of the core alone: what the contenders of one session, or two, do
-- to each other. Calls of zklock.core, as plain Lua can make them, take all
-- kinds of locks at one or two paths; others wait for the nodes of these locks,
-- an operator deletes such nodes, and the world fails. The process lives, and
-- when all was given back nothing is left: no release, no wait, no watch.
local Chance = require "explore.chance"
local World = require "explore.world"
local core = require "zklock.core"
local virtual = require "zklock.virtual"

local SHARES, AWAITINGS = 30, 10 -- that are kept
local PATIENCE = 90 -- seconds, in which all must be gone
local TURNS = 3000 -- at most; a story that never waits has one every 0.1 ms
local NOTHING = "0 releases, 0 waits, 0 watches"

local Contest = {}
Contest.__index = Contest

local function open(self)
  return assert(core.open { hosts = self.world:link(), session_timeout = 4,
    log = false })
end

local function keep(self, list, thing, most)
  if #list >= most then self.chance:take(list) end
  list[#list + 1] = thing
end

local function any_share(self)
  return self.shares[1] and self.chance:pick(self.shares)
end

-- The node of a hold, or one that some lock makes.
local function any_node(self)
  local one = any_share(self)
  local known, node = pcall(function() return one.share:node() end)
  return known and node or self.chance:pick(self.paths)
    .. self.chance:pick { "/holder", "/ready", "/locks", "/leases" }
end

-- A writer that a reader of this layout can downgrade.
local function find_writer(self, layout)
  for _, one in ipairs(self.shares) do
    if one.way.kind == "write" and one.way.layout == layout
      and one.share:state() == "held" then
      return one
    end
  end
end

local function draw_way(self)
  local chance = self.chance
  local way = { kind = chance:pick(self.kinds),
    lose_on_suspend = chance:below(2) }
  local kind = way.kind
  if kind == "permit" or kind == "member" then
    way.permits = chance:between(1, 3)
  elseif kind ~= "unfair" then
    way.layout = chance:pick(self.layouts)
  end
  if kind == "mutex" and chance:one_in(3) then
    way.local_turns = chance:pick { 1, 2, 5 }
  elseif kind == "mutex" and chance:one_in(3) then
    way.wait, way.poll_interval = chance:pick { "parent", "poll" }, 0.005
  end
  return way
end

local acts = {}

function acts.acquire(self)
  local chance, way = self.chance, draw_way(self)
  local session, path = chance:pick(self.sessions), chance:pick(self.paths)
  local writer = way.kind == "read" and chance:one_in(3)
    and find_writer(self, way.layout)
  if writer then
    way.writer, session, path = writer.share, writer.session, writer.path
  end
  local made, share = pcall(session.acquire, session, path,
    chance:pick { 0.005, 0.05, 0.3, 1 }, not chance:one_in(4),
    chance:pick { "", "data" }, chance:pick { 0.002, 0.02, 0.3, 1 }, way)
  if not made then return end
  keep(self, self.shares, { share = share, way = way, session = session,
    path = path }, SHARES)
end

function acts.again(self)
  local one = any_share(self)
  if not one then return end
  keep(self, self.shares, { share = one.share:again(), way = one.way,
    session = one.session, path = one.path }, SHARES)
end

function acts.release(self)
  local one = any_share(self)
  if one then one.share:release(self.chance:one_in(4)) end
end

for _, name in ipairs { "cancel", "watch", "find_loss" } do
  acts[name] = function(self)
    local one = any_share(self)
    if one then one.share[name](one.share) end
  end
end

function acts.drop(self) table.remove(self.shares) end

function acts.await(self)
  local chance = self.chance
  local session = chance:pick(self.sessions)
  local path = chance:one_in(3) and chance:pick(self.paths) or any_node(self)
  keep(self, self.awaitings, (session:await(
    chance:pick { "gone", "gone", "there", "crowd" }, path,
    chance:pick { 0.005, 0.05, 1 }, not chance:one_in(4), chance:below(3))),
    AWAITINGS)
end

function acts.await_no_more(self)
  if self.awaitings[1] then self.chance:pick(self.awaitings):cancel() end
end

function acts.depart(self)
  local one = any_share(self)
  if not one or one.way.kind ~= "member" then return end
  local begun, awaiting = pcall(one.session.depart, one.session, one.share,
    self.chance:pick { 0.005, 0.1, 1 }, not self.chance:one_in(4))
  if begun then keep(self, self.awaitings, awaiting, AWAITINGS) end
end

-- The operator.
function acts.disturb(self)
  local directory, name = any_node(self):match "^(.*)/(.*)$"
  local session = self.chance:pick(self.sessions)
  if self.chance:one_in(12) then
    pcall(session.evict, session, directory, name)
  elseif self.chance:one_in(4) then
    pcall(session.revoke, session, directory, { name, 4 })
  end
end

function acts.ask(self)
  local one = any_share(self)
  if one then pcall(one.session.verify, one.session, one.share) end
end

function acts.close(self)
  if not self.chance:one_in(100) then return end
  local i = self.chance:between(1, #self.sessions)
  self.sessions[i]:close()
  if self.chance:one_in(2) then self.sessions[i]:leave() end
  self.sessions[i] = open(self)
end

function acts.collect(self)
  if self.chance:one_in(20) then collectgarbage() end
end

local names = {}
for name in pairs(acts) do names[#names + 1] = name end
table.sort(names) -- the seed decides, not the order of a table
for name in ("acquire acquire acquire release release release await await")
  :gmatch "%l+" do
  names[#names + 1] = name
end

-- (One that was closed by now says so.)
local function hear(self, patience)
  for _, session in ipairs(self.sessions) do
    pcall(session.wait, session, patience)
    while session:next() do session:noted() end
  end
end

-- What is left of anything, in the first session that has something.
local function find_left(self)
  for _, session in ipairs(self.sessions) do
    local stats = session:stats()
    local left = ("%d releases, %d waits, %d watches"):format(
      stats.pending_releases, stats.waiting, stats.watches)
    if left ~= NOTHING then return left end
  end
end

local function give_all_back(self)
  for _, one in ipairs(self.shares) do one.share:release() end
  for _, awaiting in ipairs(self.awaitings) do awaiting:cancel() end
  self.shares, self.awaitings = {}, {}
  collectgarbage()
  collectgarbage()
end

-- The world fails, in a coroutine of its own.
local function begin_to_fail(self)
  local due, scheduler = virtual.now(), {}
  function scheduler.pause(_, seconds)
    due = virtual.now() + seconds
    coroutine.yield()
  end
  local fail = coroutine.wrap(function()
    while true do
      scheduler:pause(self.chance:seconds(6))
      self.world:fail(scheduler, function() end)
    end
  end)
  return function() if virtual.now() >= due then fail() end end
end

local every = { "mutex", "read", "write", "permit", "unfair", "member" }
local some = { every, every, { "unfair", "member" }, { "unfair" },
  { "mutex", "unfair", "member" }, { "mutex", "read", "write" }, { "mutex" },
  { "permit" } }

--- Runs the story of a seed.
local function run(seed)
  local chance = Chance.new(seed * 7919 + 17)
  virtual.explore { switches = chance:pick { 0, 5, 20, 100 } }
  local self = setmetatable({ chance = chance, world = World.new(chance, seed),
    shares = {}, awaitings = {}, kinds = chance:pick(some),
    layouts = chance:pick { { "curator" }, { "curator", "kazoo" } },
    paths = chance:pick { { "/a" }, { "/a", "/b" } } }, Contest)
  self.sessions = { open(self) }
  if chance:one_in(3) then self.sessions[2] = open(self) end
  local fail = chance:one_in(2) and begin_to_fail(self) or function() end

  local deadline = virtual.now() + chance:pick { 1, 5, 10 }
  for _ = 1, TURNS do
    if virtual.now() >= deadline then break end
    for _ = 1, chance:between(1, 6) do acts[chance:pick(names)](self) end
    hear(self, chance:pick { 0, 0.001, 0.003, 0.01 })
    fail()
  end

  self.world:heal()
  give_all_back(self)
  deadline = virtual.now() + PATIENCE
  while find_left(self) do
    hear(self, 0.01)
    if virtual.now() > deadline then
      error("VIOLATION all is given back, and these are left: "
        .. find_left(self), 0)
    end
  end
  for _, session in ipairs(self.sessions) do session:close() end
  virtual.sleep(2) -- a thread waits so long for its farewell, at most
  if virtual.threads() ~= 1 then
    error(("VIOLATION all is closed, and there are %d threads"):format(
      virtual.threads()), 0)
  end
end

return { run = run }
