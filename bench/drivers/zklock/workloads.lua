--- The workloads: each opens its sessions and starts its workers, which go on
-- until `run.stopping`.  What they count is the run's.
local epoll = require "epoll"
local Histogram = require "histogram"
local zklock = require "zklock"
local now = zklock.now

local TOGETHER = 64 -- locks that W5 asks for at once

local Run = {}
Run.__index = Run

local function connect(self, loop_option)
  local session = assert(zklock.connect(self.hosts, {
    session_timeout = 60, connect_timeout = 60,
    loop = loop_option or self.loop.option,
  }))
  self.sessions[#self.sessions + 1] = session
  return session
end

-- A worker; an error of it ends the driver.
function Run:spawn(fn, ...)
  self.running = self.running + 1
  local arguments, n = { ... }, select("#", ...)
  self.loop.spawn(function()
    fn(self, (table.unpack or unpack)(arguments, 1, n))
    self.running = self.running - 1
  end)
end

-- A guard; nil when the run ends.
function Run:acquire(lock)
  local guard, message = lock:acquire()
  if not guard and not self.stopping then error(message) end
  return guard
end

-- W1, W1p: nobody else wants the lock.
local function alone(self, lock)
  while not self.stopping do
    local begun = now()
    local guard = self:acquire(lock)
    if not guard then return end
    self.latencies:add(now() - begun)
    guard:release()
  end
end

-- W2, W4: everybody wants the same lock.
local function contended(self, lock)
  while not self.stopping do
    local guard = self:acquire(lock)
    if not guard then return end
    assert(not self.held, "two hold the lock")
    self.held = true
    if self.released_at then self.latencies:add(now() - self.released_at) end
    if self.work > 0 and not self.stopping then self.loop.sleep(self.work) end
    self.held = false
    self.released_at = now()
    guard:release()
  end
end

-- W3.  The generator is Park's and Miller's, the same in each Lua.
local function reading_and_writing(self, locks, seed)
  local state = seed
  while not self.stopping do
    state = state * 16807 % 2147483647
    local reading = state % 100 < self.read_percent
    local begun = now()
    local guard = self:acquire(reading and locks.read or locks.write)
    if not guard then return end
    self.latencies:add(now() - begun)
    guard:release()
  end
end

local function take_share(self, session, from)
  for i = from, self.locks, TOGETHER do
    local lock = session:mutex(("%s/%d"):format(self.path, i))
    self.kept[i] = assert(lock:acquire())
  end
end

local start = {}

function start.W1(self)
  local lock = connect(self, "poll"):mutex(self.path, self.options)
  self.loop.set_job(function()
    local begun = now()
    local guard = assert(lock:acquire())
    self.latencies:add(now() - begun)
    guard:release()
  end)
end

function start.W1p(self)
  local session = connect(self)
  for i = 1, self.workers do
    local path = ("%s/%d"):format(self.path, i)
    self:spawn(alone, session:mutex(path, self.options))
  end
end

function start.W2(self)
  for _ = 1, self.workers do connect(self) end
  for _, session in ipairs(self.sessions) do
    self:spawn(contended, session:mutex(self.path, self.options))
  end
end

function start.W3(self)
  for _ = 1, self.workers do connect(self) end
  for i, session in ipairs(self.sessions) do
    self:spawn(reading_and_writing, session:rwlock(self.path), i * 7919)
  end
end

function start.W4(self)
  local session = connect(self)
  for _ = 1, self.workers do
    self:spawn(contended, session:mutex(self.path, self.options))
  end
end

function start.W5(self)
  self.kept = {}
  for i = 1, self.locks do self.kept[i] = false end
  self.holder = connect(self)
end

function start.W6() end

--- Memory of this process that is in RAM, in bytes.
local function resident()
  collectgarbage()
  collectgarbage()
  local file = assert(io.open("/proc/self/status"))
  local kib = file:read("*a"):match "VmRSS:%s*(%d+)"
  file:close()
  return tonumber(kib) * 1024
end

local sample = {}

local function take_locks(self)
  local before, begun = resident(), now()
  for i = 1, math.min(TOGETHER, self.locks) do
    self:spawn(take_share, self.holder, i)
  end
  while self.running > 0 do self.loop.sleep(0.01) end
  self.seconds = now() - begun
  return (" ops=%d memory_bytes=%d"):format(self.locks, resident() - before)
end

-- From a broken connection until all is answered that was asked again.
local function reconnect(self)
  local connected
  self.holder:on("reconnected", function() connected = true end)
  local broken = now()
  epoll.cut()
  repeat self.loop.sleep(0.001)
  until connected and self.holder:stats().in_flight == 0
  return (" reconnect_us=%.0f"):format((now() - broken) * 1e6)
end

--- The first takes the locks.
function sample.W5(self)
  if self.taken then return reconnect(self) end
  self.taken = true
  return take_locks(self)
end

local STARTS = 20

--- New processes, one after the other.
function sample.W6(self)
  local closing, starting = 0, 0
  for i = 1, STARTS do
    local begun = now()
    local child = assert(io.popen(("exec '%s' '%s' '%s' '%s/%d'"):format(
      arg[-1], arg[0]:gsub("main%.lua$", "cold.lua"), self.hosts, self.path,
      i)))
    local held, took = child:read("*a"):match "^(%S+) (%S+)"
    child:close()
    assert(held, "a new process did not get the lock")
    self.latencies:add(tonumber(held) - begun)
    starting = starting + tonumber(held) - begun
    closing = closing + tonumber(took)
  end
  self.seconds = starting
  return (" close_us=%.0f"):format(closing / STARTS * 1e6)
end

function Run:clear()
  self.seconds = nil
  self.latencies:clear()
  self.begun, self.cpu = now(), os.clock()
end

--- The words of a sample's answer.
function Run:sample()
  local more = self.sample_more and self:sample_more() or ""
  local text = ("seconds=%.6f cpu_us=%.0f hist=%s%s"):format(
    self.seconds or now() - self.begun, (os.clock() - self.cpu) * 1e6,
    self.latencies:text(), more)
  self:clear()
  return text
end

function Run:stop()
  self.stopping = true
  self.loop.set_job(nil)
  for _, session in ipairs(self.sessions) do session:close() end
  while self.running > 0 do self.loop.sleep(0.001) end
end

--- Opens the sessions and starts the workers.
local function new(loop, hosts, words)
  local self = setmetatable({
    loop = loop,
    hosts = hosts,
    path = words.path,
    workers = words.workers or 1,
    work = (words.work_us or 0) / 1e6,
    options = { local_turns = words.local_turns, wait = words.scheme },
    locks = words.locks,
    read_percent = words.read_percent,
    sessions = {},
    stopping = false,
    latencies = Histogram.new(),
    running = 0, -- workers that have not ended
    held = false, -- by a worker: there must be one at most
    released_at = false,
    sample_more = sample[words.workload],
  }, Run)
  start[words.workload](self)
  self:clear()
  return self
end

return { new = new, names = "W1,W1p,W2,W3,W4,W5,W6" }
