-- nginx ends what runs in a worker in more ways than a request ends.  In each
-- way, at each moment: waits end, locks pass on, and the worker goes.
--
-- A cell is a way, a moment and a place, and has an nginx of its own: nothing
-- but what the cell does may wake the worker.  Some of them run always; with
-- EXITS=all the whole table does (`make exits`), or, with EXITS="quit kill",
-- that of these ways; many at a time.
local nginx = require "nginx.server"
local start_hostile = require "support.hostile".start
local socket = require "socket"
local support = require "support"

local T = 6 -- seconds: the session timeout

-- What is told is in nginx's log: a worker that has gone answers no question.
local INIT = [[
  is_frozen = false
  local of_worker = require("zklock.ngx").session
  function of(hosts)
    return assert(of_worker(hosts or "$hosts",
      { session_timeout = hosts == FROZEN and 10 or T, connect_timeout = 5 }))
  end
  local function tell(...)
    ngx.log(ngx.NOTICE, "told: ", table.concat({ ... }, " "), ".")
  end
  local function tell_end(got, _, code)
    tell("ended", got and "well" or code)
    if type(got) == "table" then got:release() end
  end
  local function stay(guard)
    tell "held"
    while guard:is_held() do ngx.sleep(0.05) end
  end
  local function stay_while_wanted(guard)
    tell "held"
    while guard:is_held() and not ngx.worker.exiting() do ngx.sleep(0.05) end
  end

  jobs = {}
  function jobs.wait(path) tell_end(of():mutex(path):acquire(60)) end
  function jobs.wait_endlessly(path) tell_end(of():mutex(path):acquire()) end
  function jobs.hold(path)
    stay(assert(of():mutex(path):acquire(30)))
    tell_end(nil, nil, "lost")
  end
  function jobs.connect(path) tell_end(of(SILENT):mutex(path):acquire(15)) end
  function jobs.connect_endlessly(path)
    tell_end(of(SILENT):mutex(path):acquire())
  end
  function jobs.campaign(path)
    tell_end(of():election(path):run(stay_while_wanted))
  end
  jobs.lead = jobs.campaign
  function jobs.lead_on(path) tell_end(of():election(path):run(stay)) end
  function jobs.campaign_once(path) tell_end(of():election(path):campaign()) end
  function jobs.rest(path)
    tell_end(of():election(path):run(function()
      tell "held"
      error "on purpose"
    end, { backoff = 300, max_backoff = 300, on_error = function() end }))
  end
  function jobs.wait_for_barrier(path) tell_end(of():barrier(path):wait()) end
  function jobs.enter(path) tell_end(of():double_barrier(path, 2):enter()) end
  function jobs.take_both(path)
    local session = of()
    tell_end(session:multi { session:mutex(path),
      session:mutex(path .. "-both") }:acquire())
  end
  function jobs.do_once(path)
    tell_end(of():once(path, { per = 1 }, function() end))
  end
  function jobs.call_back(path)
    local over
    of():mutex(path):acquire_async(function(...)
      over = true
      tell_end(...)
    end)
    while not over do ngx.sleep(0.01) end
  end
  -- Through a server that then neither answers nor breaks the connection.
  function jobs.wait_cut_off(path)
    tell_end(of(FROZEN):mutex(path):acquire())
  end
  function jobs.release_cut_off(path)
    local session = of(FROZEN)
    local guard = assert(session:mutex(path):acquire(30))
    tell "held"
    while not is_frozen do ngx.sleep(0.01) end
    tell_end(guard:release { wait = true })
  end
  function jobs.observe(path)
    of():election(path):leader(function(leader, _, code)
      if leader then return tell "held" end
      if code then tell_end(nil, nil, code) end
    end)
    ngx.sleep(1)
  end

  local function begin(premature, job, path, wants_premature)
    if premature == wants_premature then jobs[job](path) end
  end
  places = {}
  function places.request(job, path) jobs[job](path) end
  function places.timer(job, path) ngx.timer.at(0, begin, job, path, false) end
  -- A callback that no request has given: it lasts as long as the session.
  function places.callback(job, path)
    local session = of()
    session:on("connected", function() jobs[job](path) end)
  end
  -- The timer begins when the worker exits.
  function places.farewell(job, path)
    ngx.timer.at(3600, begin, job, path, true)
    tell "ready"
  end
  function place(name, job, path)
    places[name](job, path)
  end

  local ffi = require "ffi"
  ffi.cdef [=[
    struct address { unsigned short family; char path[108]; };
    int getpeername(int fd, struct address *address, unsigned *size);
    int shutdown(int fd, int how);
  ]=]
  function close_sockets()
    local n, address = 0, ffi.new "struct address"
    for fd = 3, 100 do
      local size = ffi.new("unsigned[1]", ffi.sizeof(address))
      if ffi.C.getpeername(fd, address, size) == 0 and address.family == 1
          and ffi.string(address.path):find "/zklock-" then
        n = n + ffi.C.shutdown(fd, 2) + 1
      end
    end
    ngx.print(n)
  end
]]

local SERVER = [[
  location = /begin { content_by_lua_block {
    place(ngx.var.arg_place, ngx.var.arg_job, ngx.var.arg_path)
  } }
  location = /warm { content_by_lua_block {
    assert(of():mutex(ngx.var.arg_path):acquire(30)):release()
  } }
  location = /freeze { content_by_lua_block { is_frozen = true } }
  location = /close_sockets { content_by_lua_block { close_sockets() } }
]]

-- Only the first worker begins (a reload starts others).
local INIT_WORKER = [[
  lua_shared_dict begun 1m;
  init_worker_by_lua_block {
    if ngx.shared.begun:add("begun", true) then place("timer", "%s", "%s") end
  }
]]

-- In which state of the world a moment is, and what ends it from outside:
--   behind   its contender waits for ours: release
--   barrier  it waits for a barrier that is set: lift
--   alone    it waits for another member: nothing
--   silent   it waits for servers that never answer: its own timeout, if any
--   held     it has the lock: nothing, or the session's end
--   seen     it was told who leads
-- `freezes`: then its server falls silent.
-- `told`: how it ends when the worker exits, where no client's request is;
-- `closed`: it goes on then, and how it ends when its session is closed.
-- `limited`: it has an end of its own.
local MOMENTS = {
  wait = { state = "behind", limited = true, closed = "closed" },
  wait_endlessly = { state = "behind", told = "cancelled" },
  hold = { state = "held", closed = "lost" },
  connect = { state = "silent", limited = true, closed = "closed" },
  connect_endlessly = { state = "silent", told = "cancelled" },
  campaign = { state = "behind", told = "well" },
  lead = { state = "held", told = "well" },
  lead_on = { state = "held", closed = "well" },
  campaign_once = { state = "behind", told = "cancelled" },
  rest = { state = "held", told = "well" },
  wait_for_barrier = { state = "barrier", told = "cancelled" },
  enter = { state = "alone", told = "cancelled" },
  take_both = { state = "behind", told = "cancelled" },
  do_once = { state = "behind", told = "cancelled" },
  call_back = { state = "behind", told = "cancelled" },
  observe = { state = "seen", told = "cancelled" },
  wait_cut_off = { state = "behind", told = "cancelled", freezes = true },
  release_cut_off = { state = "held", told = "closed", freezes = true },
}

local function quit(cell) cell.server:signal "QUIT" end
local function reload(cell) cell.server:signal "HUP" end

local function upgrade(cell)
  local server = cell.server
  local old = server.master
  server:signal "USR2"
  support.wait_until(function()
    server.master = server:pids()[1]
    return server.master and server.master ~= old
      and #server:workers(server.master) == 1
  end, 10, "the new binary")
  server:signal("WINCH", old)
  support.wait_until(function()
    return server:log():find "gracefully shutting down"
  end, 10, "the end of the old workers to begin")
  server:signal("QUIT", old)
end

-- `graceful`: nginx lets requests end by themselves.  `closes`: it gives the
-- worker up at last.  `kills`: it does so at once.  None: the worker stays.
local WAYS = {
  quit = { graceful = true, act = quit },
  reload = { graceful = true, act = reload },
  upgrade = { graceful = true, act = upgrade, daemon = "on" },
  -- Nothing tells of the exit: nginx drops the timer that would.
  unannounced = { graceful = true, running = true, act = quit },
  timeout = { closes = true, act = quit,
    top = "worker_shutdown_timeout 1s;" },
  reload_timeout = { closes = true, act = reload,
    top = "worker_shutdown_timeout 1s;" },
  terminate = { kills = true, ends_all = true,
    act = function(cell) cell.server:signal "TERM" end },
  kill = { kills = true, ends_all = true, act = function(cell)
    cell.server:signal("KILL", cell.worker)
  end },
  abort = { aborts = true, ends_all = true,
    act = function(cell) cell.request:abort() end },
  -- The socket that wakes the worker is closed, and the worker lives on.
  socket = { act = function(cell)
    assert.truthy(tonumber((cell.server:must "/close_sockets")) > 0)
  end },
}

local PLACES = { request = true, timer = true, init_worker = true,
  callback = true, farewell = true }

-- What comes of a moment: `told`, the end that it tells, if any; `freed`: after
-- what ends it from outside; `aborted`: after the client has gone.  Nil: there
-- is no such cell.

-- In a timer that begins when the worker exits.
local function expect_farewell(way, moment)
  if not way.graceful or moment.closed or moment.freezes then
    return nil -- (as in a timer)
  elseif moment.told == "well" then
    return { told = "well" } -- it does not even begin
  end
  return { told = moment.state == "silent" and "disconnected" or "timeout" }
end

local freed = { behind = "well", barrier = "well", silent = "disconnected" }

-- Where nothing of nginx or zklock ends it.
local function expect_end(moment, of_client)
  local may_be_freed = not moment.freezes
    and (moment.state ~= "silent" or moment.limited)
  if may_be_freed and freed[moment.state] then
    return { told = freed[moment.state], freed = true }
  end
  return of_client and { aborted = true } or nil
end

local function is_possible(way, moment, place)
  if way.aborts and place ~= "request" then return false end
  -- (The new binary's worker would begin, too: it shares no dictionary.)
  if way.daemon and place == "init_worker" then return false end
  -- (By the time that it looks by itself the session may be over.)
  if way.running and moment.freezes then return false end
  if place == "callback" then return moment.state ~= "silent" end
  return moment.state ~= "seen"
end

local function expect(way, moment, place)
  local of_client = place == "request"
  if not is_possible(way, moment, place) then return nil end
  if place == "farewell" then return expect_farewell(way, moment) end
  if way.ends_all then return {} end
  if moment.told == "well" then -- a run: it ends wherever it is
    return (way.graceful or way.closes) and { told = "well" } or nil
  elseif way.closes and of_client then
    return {}
  elseif way.closes or way.graceful and moment.told and not of_client then
    return { told = moment.told or moment.closed }
  end
  return expect_end(moment, of_client)
end

-- The members of a double barrier have names of their own.
local function count_members(path)
  return #(support.zk():children(path) or {})
end

local Cell = {}
Cell.__index = Cell

function Cell:has_told(words)
  return self.server:log():match("told: " .. words .. "%.")
end

local function nginx_of(cell, words)
  local way, place = cell.way, cell.place
  local in_timer = place ~= "request" and place ~= "callback"
  return nginx.start {
    init = words .. INIT,
    server = SERVER,
    top = way.top,
    http = (way.running and ("lua_max_running_timers %d;\n"):format(
      in_timer and 2 or 1) or "")
      .. (place == "init_worker" and INIT_WORKER:format(cell.job, cell.path)
        or ""),
    daemon = way.daemon,
  }
end

function Cell:prepare()
  local silent = support.closing(assert(socket.bind("127.0.0.1", 0)))
  local state = self.moment.state
  self.path = support.path()
  self.session = support.connect()
  if state == "behind" or state == "seen" then
    self.guard = assert(self.session:mutex(self.path):acquire(30))
  elseif state == "barrier" then
    assert(self.session:barrier(self.path):set())
  end
  local address, port = silent:getsockname()
  local words = ("SILENT, FROZEN, T = '%s:%d', 0, %d\n"):format(address, port,
    T)
  if self.moment.freezes then
    self.hostile = start_hostile()
    words = words .. ("FROZEN = %q\n"):format(self.hostile.hosts)
  end
  self.server = nginx_of(self, words)
  self.server.may_complain = true
  self.worker = self.server:workers()[1]
end

function Cell:await_moment()
  local state, path = self.moment.state, self.path
  if self.place == "farewell" then
    support.wait_until(function() return self:has_told "ready" end)
  elseif state == "behind" then
    support.wait_for_queue(path, 2)
  elseif state == "held" or state == "seen" then
    support.wait_until(function() return self:has_told "held" end)
  elseif state == "barrier" then
    support.wait_until(function() return support.count_watches(path) > 0 end)
  elseif state == "alone" then
    support.wait_until(function() return count_members(path) == 1 end)
  else -- (an attempt has been made)
    support.wait_until(function()
      return self.server:log():find "it does not answer"
    end)
  end
end

-- From now on its server says nothing.
function Cell:freeze()
  if not self.moment.freezes or self.place == "farewell" then return end
  self.hostile:behave { kind = "frozen" }
  self.server:must "/freeze"
end

function Cell:begin()
  self:prepare()
  if self.place == "init_worker" then return self:await_moment() end
  -- By then the socket is read, and a wait relies on it.
  if self.place ~= "callback" and self.moment.state ~= "silent" then
    self.server:must("/warm?path=" .. self.path .. "-warm")
  end
  self.request = self.server:begin(("/begin?place=%s&job=%s&path=%s"):format(
    self.place, self.job, self.path))
  support.closing(self.request.socket)
  self:await_moment()
end

function Cell:free()
  local state = self.moment.state
  if state == "behind" then
    self.guard:release()
  elseif state == "barrier" then
    assert(self.session:barrier(self.path):lift())
  end
end

-- Another process gets the lock, behind nobody.
function Cell:await_lock()
  if self.moment.state == "barrier" or self.moment.state == "alone" then
    return support.wait_until(function()
      return count_members(self.path) == 0
    end)
  end
  if self.guard then self.guard:release() end
  local guard, problem = support.connect():mutex(self.path)
    :acquire(60)
  assert.truthy(guard, problem)
  guard:release()
end

function Cell:finish()
  local way, expected = self.way, self.expected
  local stays = not (way.graceful or way.closes or way.kills)
  if expected.freed then
    assert.is_nil(self:has_told "ended %a+")
    self:free()
  elseif expected.aborted then
    assert.is_true(self.request:is_open())
    self.request:abort()
  end
  if not stays then nginx.await_end({ self.worker }, 5) end
  if expected.told then
    support.wait_until(function() return self:has_told "ended %a+" end, 5,
      "its end to be told")
    assert.truthy(self:has_told("ended " .. expected.told),
      self:has_told "ended %a+")
  end
  self:await_lock()
  if stays then
    assert.is_true(nginx.is_alive(self.worker))
  end
  if not expected.told then assert.is_nil(self:has_told "ended %a+") end
  for line in self.server:complaints():gmatch "[^\n]+" do
    -- (Of servers that do not answer, of a timer that was dropped, of a worker
    -- that was killed.)
    local is_known = line:find "%[warn%]" or line:find "exited on signal 9"
      or way.running and line:find "lua_max_running_timers are not enough"
    assert.truthy(is_known, line)
  end
end

local function new(way, job, place)
  local cell = setmetatable({ way = WAYS[way], moment = MOMENTS[job],
    job = job, place = place,
    name = ("%s, %s in a %s"):format(way, job, place) }, Cell)
  cell.expected = expect(cell.way, cell.moment, place)
  return cell.expected and cell
end

-- Those that run always.
local CHOSEN = {
  { "quit", "wait_endlessly", "timer" },
  { "quit", "campaign", "init_worker" },
  { "quit", "observe", "callback" },
  { "quit", "wait_endlessly", "farewell" },
  { "reload", "wait", "request" },
  { "reload", "rest", "timer" },
  { "upgrade", "connect_endlessly", "timer" },
  { "unannounced", "campaign", "timer" },
  { "timeout", "wait", "timer" },
  { "timeout", "lead_on", "timer" },
  { "timeout", "hold", "callback" },
  { "terminate", "hold", "request" },
  { "kill", "hold", "timer" },
  { "socket", "wait", "request" },
}

-- Some at a time: a machine has so much room.
local AT_ONCE = 8

local function sorted(map)
  local names = {}
  for name in pairs(map) do names[#names + 1] = name end
  table.sort(names)
  return ipairs(names)
end

local function run(cells)
  local problems = {}
  local function each(method, ...)
    for _, cell in ipairs(cells) do
      if not cell.failed then
        local ok, problem = pcall(method, cell, ...)
        if not ok then
          cell.failed = true
          problems[#problems + 1] = cell.name .. ": " .. tostring(
            type(problem) == "table" and problem.message or problem)
        end
      end
    end
  end
  each(Cell.begin)
  each(Cell.freeze)
  each(function(cell) cell.way.act(cell) end)
  each(Cell.finish)
  if problems[1] then error(table.concat(problems, "\n"), 0) end
end

-- The cells that are wanted, by what they have in common.
local function wanted_cells()
  local wanted, groups = os.getenv "EXITS", {}
  if not wanted then
    groups["the chosen ones"] = {}
    for i, chosen in ipairs(CHOSEN) do
      groups["the chosen ones"][i] = new((unpack or table.unpack)(chosen))
    end
    return groups
  end
  for _, way in sorted(WAYS) do
    for _, place in sorted(PLACES) do
      local cells = {}
      for _, job in sorted(MOMENTS) do
        cells[#cells + 1] = new(way, job, place)
      end
      if wanted == "all" or (" " .. wanted .. " "):find(" " .. way .. " ") then
        groups[("%s, in a %s"):format(way, place)] = cells
      end
    end
  end
  return groups
end

describe("nginx ends a worker, or what runs in it:", function()
  if not nginx.ready(pending, before_each, after_each, teardown) then return end

  local groups = wanted_cells()
  for _, name in sorted(groups) do
    for first = 1, #groups[name], AT_ONCE do
      it(("%s from %d on"):format(name, first), function()
        run { (unpack or table.unpack)(groups[name], first,
          math.min(first + AT_ONCE - 1, #groups[name])) }
      end)
    end
  end
end)
