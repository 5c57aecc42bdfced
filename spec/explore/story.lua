--- One story: sessions, tasks, faults, then calm; judged all the while.
local Chance = require "explore.chance"
local exam = require "explore.exam"
local Ledger = require "explore.ledger"
local resources = require "explore.resources"
local Scheduler = require "support.scheduler"
local Task = require "explore.tasks"
local Witness = require "explore.witness"
local World = require "explore.world"
local virtual = require "zklock.virtual"
local zklock = require "zklock"

local Story = {}
Story.__index = Story

local LINES = 60
local LEAST = 2 -- seconds: two of the longest ticks
local EXAM = 1000 -- seconds
local LIMIT = 3000 -- seconds, for all of it
local CALM = 90 -- seconds, in which everything comes to its end

-- ---- What has happened ------------------------------------------------------

function Story:note(...)
  local line = ("%10.6f  %s"):format(virtual.now() - self.begun,
    (...):format(select(2, ...)))
  virtual.note("# " .. line)
  self.line = self.line % LINES + 1
  self.lines[self.line] = line
end

local function last_lines(self)
  local lines = {}
  for i = 1, LINES do
    lines[#lines + 1] = self.lines[(self.line + i - 1) % LINES + 1]
  end
  return table.concat(lines, "\n")
end

-- ---- Sessions ---------------------------------------------------------------

local function log(self, slot)
  return function(level, text)
    self:note("%s: %s: %s", slot.name, level, text)
  end
end

local function open(self, slot)
  local session, _, code = zklock.connect(slot.hosts, {
    session_timeout = slot.timeout, loop = slot.loop or self.scheduler.adapter,
    min_session_timeout = slot.least, connect_timeout = 5,
    log = log(self, slot),
    tick_time = slot.tells_tick and self.world.tick or nil })
  self:note("%s: connect: %s", slot.name, session and session:id() or code)
  if not session then return end
  slot.session, slot.closed, slot.abandoned = session, false, 0
  self.ledger:watch(slot, session)
end

local function keep_open(self, slot)
  while not self.is_over do
    if slot.closed then open(self, slot) end
    self.scheduler:pause(0.5)
    if slot.loop == "poll" and not slot.closed then slot.session:step() end
  end
end

--- Closes the session of a slot; another one takes its place.
function Story:close(slot)
  if slot.closed then return end
  slot.closed = true
  self:note("%s closes", slot.name)
  self.witness:closed(slot.session)
  slot.session:close()
end

local function new_slot(self, number)
  local chance = self.chance
  local slot = { name = "s" .. number, closed = true, tasks = {},
    timeout = chance:pick { 2, 4, 6 }, tells_tick = chance:one_in(3),
    least = chance:one_in(3) and LEAST or nil }
  if slot.least then slot.timeout = 6 end -- which can fall
  slot.hosts = self.world:link(slot.least)
  if chance:one_in(3) then
    slot.hosts = slot.hosts .. "," .. self.world:link(slot.least)
  end
  if chance:one_in(5) then slot.loop = "poll" end
  for i = 1, chance:between(1, 4) do slot.tasks[i] = Task.new(self, slot, i) end
  return slot
end

-- ---- Force ------------------------------------------------------------------

local function leaves(ensemble, path, into)
  for _, name in ipairs(ensemble:children(path)) do
    local below = (path == "/" and "" or path) .. "/" .. name
    if below ~= "/zookeeper" then
      local before = #into
      leaves(ensemble, below, into)
      if #into == before then into[before + 1] = below end
    end
  end
  return into
end

--- An operator deletes a node of a resource.
function Story:evict(resource)
  if resource.parts or not self.has_operator then return end
  local nodes = leaves(self.ensemble, resource.path, {})
  if #nodes == 0 then return end
  self:take(self.chance:pick(nodes))
end

--- An operator deletes this node.
function Story:take(node)
  self:note("an operator deletes %s", node)
  self.witness:take(node)
  self.world:delete(node)
end

local function seize(self)
  local slot = self.chance:pick(self.slots)
  if slot.closed then return end
  local id = slot.session:id()
  self.witness:seize(id)
  self:note("the session %s is ended: %s", id, self.ensemble:end_session(id))
end

local function fail(self)
  while not self.is_calm do
    self.scheduler:pause(self.chance:seconds(self.pace))
    if self.is_calm then return end
    if self.has_operator and self.chance:one_in(12) then
      seize(self)
    else
      self.world:fail(self.scheduler, function(...) self:note(...) end)
    end
  end
end

-- ---- The end ----------------------------------------------------------------

local function run_until(self, condition, seconds)
  local deadline, turns = virtual.now() + seconds, 0
  while virtual.now() < deadline do
    if condition() then return true end
    self.scheduler:turn()
    turns = turns + 1
    if turns % 200 == 0 or virtual.now() >= self.collects_at then
      self.collects_at = virtual.now() + 5
      collectgarbage()
    end
  end
  return false
end

local function check_nodes(self, when)
  local left = {}
  for _, path in ipairs(leaves(self.ensemble, "/", {})) do
    local stat = self.ensemble:look(path)
    -- (A nonce that is made late goes with its session.)
    if not stat.owner:find "^0x0*$"
      and not (self.world.is_late and path:find "%-nonce%-") then
      left[#left + 1] = path .. " of " .. stat.owner
    end
  end
  if left[1] then
    self.violate("%s, and these nodes are left: %s", when,
      table.concat(left, ", "))
  end
end

local function are_connected(self)
  for _, slot in ipairs(self.slots) do
    if slot.closed or slot.session:state() ~= "connected" then return false end
  end
  return true
end

local function examine(self)
  local is_done = false
  virtual.explore { switches = self.switches }
  self:note "the exam begins"
  self.scheduler:spawn(function()
    exam.run(self)
    is_done = true
  end)
  if not run_until(self, function() return is_done end, EXAM) then
    self.violate "all is quiet, and the exam does not end"
  end
  run_until(self, function() return false end, 2)
end

local function calm(self)
  self.is_calm = true
  self.world:heal()
  self:note "all is well from now on"
  local function are_over() return self.living == 0 end
  if not run_until(self, are_over, CALM) then
    self.ledger:check_over()
    self.violate "all is quiet, and tasks have not ended"
  end
  if not run_until(self, function() return are_connected(self) end, CALM) then
    self.violate "all is quiet, and a session is not connected"
  end
  collectgarbage()
  collectgarbage()
  run_until(self, function() return false end, 8)
  examine(self)
  self.witness:ask()
  self.ledger:check_over()
  check_nodes(self, "all is quiet")
  for _, slot in ipairs(self.slots) do self.ledger:check_counts(slot) end
end

local function close_all(self)
  self.is_over = true
  for _, slot in ipairs(self.slots) do
    self.scheduler:spawn(function()
      slot.closed = true
      slot.session:close()
    end)
  end
  local function are_over() return self.scheduler:is_over() end
  if not run_until(self, are_over, CALM) then
    self.violate "sessions have been closed, and tasks have not ended"
  end
  virtual.sleep(2) -- a thread waits so long for its farewell, at most
  check_nodes(self, "all sessions are closed")
  if virtual.threads() ~= 1 then
    self.violate("all sessions are closed, and there are %d threads",
      virtual.threads())
  end
end

-- ---- All of it --------------------------------------------------------------

local function live(self, task)
  task:live()
  self.living = self.living - 1
end

local function begin(self)
  for i = 1, self.chance:between(1, 4) do self.slots[i] = new_slot(self, i) end
  for _, slot in ipairs(self.slots) do
    self.scheduler:spawn(keep_open, self, slot)
    for _, task in ipairs(slot.tasks) do
      self.living = self.living + 1
      self.scheduler:spawn(live, self, task)
    end
  end
  if self.pace then self.scheduler:spawn(fail, self) end
end

--- Runs the story of a seed; raises what is against the promises.
local function run(seed)
  collectgarbage "stop"
  virtual.seed(seed)
  virtual.limit(LIMIT)
  local chance = Chance.new(seed * 7919 + 17)
  local switches = chance:pick { 0, 5, 20, 100, 400 }
  virtual.explore { switches = switches,
    stalls = chance:pick { 0, 0, 200, 1000 }, stall = 0.05 }
  local self = setmetatable({ chance = chance, switches = switches,
    begun = virtual.now(), slots = {}, lines = {}, line = 0, living = 0,
    collects_at = 0,
    has_operator = chance:one_in(3),
    pace = chance:pick { false, 1, 3, 8 } }, Story)
  function self.violate(...)
    error(("VIOLATION %s\n%s"):format((...):format(select(2, ...)),
      last_lines(self)), 0)
  end
  self.world = World.new(chance, seed)
  self.ensemble = self.world.ensemble
  self.witness = Witness.new(self.world, self.violate)
  self.witness.has_operator = self.has_operator
  self.ledger = Ledger.new(self.world, self.violate)
  self.resources = resources.draw(chance)
  self.scheduler = Scheduler.new(chance, function(seconds)
    self.ledger:count_turn(seconds)
    self.witness:ask()
  end)
  begin(self)
  run_until(self, function() return false end, chance:pick { 3, 8, 20 })
  calm(self)
  close_all(self)
  return self
end

return { run = run }
