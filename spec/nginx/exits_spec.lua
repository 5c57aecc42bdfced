-- nginx ends what runs in a worker in more ways than a request ends.  In each
-- way: waits end, locks pass on, and the worker goes.
--
-- A cell is a way, a moment and a place, and has an nginx of its own: nothing
-- but what the cell does may wake the worker.
local nginx = require "nginx.server"
local processes = require "support.processes"
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
  function jobs.wait(path) tell_end(of():mutex(path):acquire(600)) end
  function jobs.wait_endlessly(path) tell_end(of():mutex(path):acquire()) end
  function jobs.hold(path)
    stay(assert(of():mutex(path):acquire(30)))
    tell_end(nil, nil, "lost")
  end
  function jobs.connect(path)
    tell_end(of(SILENT):mutex(path):acquire(600))
  end
  function jobs.connect_endlessly(path)
    tell_end(of(SILENT):mutex(path):acquire())
  end
  function jobs.campaign(path)
    tell_end(of():election(path):run(stay_while_wanted))
  end
  jobs.lead = jobs.campaign
  function jobs.lead_on(path) tell_end(of():election(path):run(stay)) end
  function jobs.rest(path)
    local options = { backoff = 300, max_backoff = 300,
      on_error = function() end }
    tell_end(of():election(path):run(options, function()
      tell "held"
      error "on purpose"
    end))
  end
  function jobs.wait_for_barrier(path) tell_end(of():barrier(path):wait()) end
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
    of():election(path):observe(function(leader, _, code)
      if leader then return tell "held" end
      if code then tell_end(nil, nil, code) end
    end)
    ngx.sleep(1) -- (the request lasts on)
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
    places[ngx.var.arg_place](ngx.var.arg_job, ngx.var.arg_path)
  } }
  location = /warm { content_by_lua_block {
    assert(of():mutex(ngx.var.arg_path):acquire(30)):release()
  } }
  location = /freeze { content_by_lua_block { is_frozen = true } }
  location = /close_sockets { content_by_lua_block { close_sockets() } }
]]

-- In which state of the world a moment is:
--   behind   its contender waits for ours
--   barrier  it waits for a barrier that is set
--   silent   it waits for servers that never answer
--   held     it has the lock
--   seen     it was told who leads
local STATES = { wait = "behind", wait_endlessly = "behind", hold = "held",
  connect = "silent", connect_endlessly = "silent", campaign = "behind",
  lead = "held", lead_on = "held", rest = "held",
  wait_for_barrier = "barrier", call_back = "behind", observe = "seen",
  wait_cut_off = "behind", release_cut_off = "held" }

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

-- `stays`: the worker lives on.
local WAYS = {
  quit = { act = quit },
  reload = { act = reload },
  upgrade = { act = upgrade, daemon = "on" },
  -- Nothing tells of the exit: nginx drops the timer that would.
  unannounced = { running = true, act = quit },
  timeout = { act = quit, top = "worker_shutdown_timeout 1s;" },
  terminate = { act = function(cell) cell.server:signal "TERM" end },
  kill = { act = function(cell)
    cell.server:signal("KILL", cell.worker)
  end },
  -- The socket that wakes the worker is closed.
  socket = { stays = true, act = function(cell)
    assert.truthy(tonumber((cell.server:must "/close_sockets")) > 0)
  end },
}

-- A way, a moment, a place, and the end that the moment tells, if any; `freed`:
-- when what it waits for has come.
local CELLS = {
  { "quit", "wait_endlessly", "timer", "cancelled" },
  { "quit", "campaign", "timer", "well" },
  { "quit", "observe", "callback", "cancelled" },
  { "quit", "wait_endlessly", "farewell", "timeout" },
  { "reload", "wait", "request", "well", freed = true },
  { "reload", "rest", "timer", "well" },
  { "reload", "wait_for_barrier", "timer", "cancelled" },
  { "upgrade", "connect_endlessly", "timer", "cancelled" },
  { "unannounced", "campaign", "timer", "well" },
  { "timeout", "wait", "timer", "closed" },
  { "timeout", "connect", "timer", "closed" },
  { "timeout", "lead_on", "timer", "well" },
  { "timeout", "hold", "callback", "lost" },
  { "terminate", "hold", "request" },
  { "kill", "hold", "timer" },
  { "socket", "wait", "request", "well", freed = true },
  { "quit", "lead", "timer", "well" },
  { "quit", "call_back", "timer", "cancelled" },
  { "quit", "wait_cut_off", "timer", "cancelled" },
  { "quit", "release_cut_off", "timer", "closed" },
}

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
    http = way.running and ("lua_max_running_timers %d;\n"):format(
      in_timer and 2 or 1),
    daemon = way.daemon,
  }
end

function Cell:prepare()
  local silent = support.closing(assert(socket.bind("127.0.0.1", 0)))
  local state = self.state
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
  if self.freezes then
    self.hostile = start_hostile()
    words = words .. ("FROZEN = %q\n"):format(self.hostile.hosts)
  end
  self.server = nginx_of(self, words)
  self.server.may_complain = true
  self.worker = self.server:workers()[1]
end

function Cell:await_moment()
  local state, path = self.state, self.path
  if self.place == "farewell" then
    support.wait_until(function() return self:has_told "ready" end)
  elseif state == "behind" then
    support.wait_for_queue(path, 2)
  elseif state == "held" or state == "seen" then
    support.wait_until(function() return self:has_told "held" end)
  elseif state == "barrier" then
    support.wait_until(function() return support.count_watches(path) > 0 end)
  else -- (an attempt has been made)
    support.wait_until(function()
      return self.server:log():find "it does not answer"
    end)
  end
end

-- From now on its server says nothing.
function Cell:freeze()
  if not self.freezes or self.place == "farewell" then return end
  self.hostile:behave { kind = "frozen" }
  self.server:must "/freeze"
end

function Cell:begin()
  self:prepare()
  -- By then the socket is read, and a wait relies on it.
  if self.place ~= "callback" and self.state ~= "silent" then
    self.server:must("/warm?path=" .. self.path .. "-warm")
  end
  self.request = self.server:begin(("/begin?place=%s&job=%s&path=%s"):format(
    self.place, self.job, self.path))
  support.closing(self.request.socket)
  self:await_moment()
end

-- Another process gets the lock, behind nobody.
function Cell:await_lock()
  if self.state == "barrier" then
    return support.wait_until(function()
      return support.count_watches(self.path) == 0
    end)
  end
  if self.guard then self.guard:release() end
  local guard, problem = support.connect():mutex(self.path)
    :acquire(60)
  assert.truthy(guard, problem)
  guard:release()
end

function Cell:finish()
  local way = self.way
  if self.freed then
    assert.is_nil(self:has_told "ended %a+")
    self.guard:release()
  end
  if not way.stays then nginx.await_end({ self.worker }, 5) end
  if self.told then
    support.wait_until(function() return self:has_told "ended %a+" end, 5,
      "its end to be told")
    assert.truthy(self:has_told("ended " .. self.told),
      self:has_told "ended %a+")
  end
  self:await_lock()
  assert.equal(way.stays or false, processes.is_alive(self.worker))
  if not self.told then assert.is_nil(self:has_told "ended %a+") end
  for line in self.server:complaints():gmatch "[^\n]+" do
    -- (Of servers that do not answer, of a timer that was dropped, of a worker
    -- that was killed.)
    local is_known = line:find "%[warn%]" or line:find "exited on signal 9"
      or way.running and line:find "lua_max_running_timers are not enough"
    assert.truthy(is_known, line)
  end
end

local function new(row)
  local way, job, place = row[1], row[2], row[3]
  return setmetatable({ way = WAYS[way], job = job, place = place,
    told = row[4], freed = row.freed, state = STATES[job],
    freezes = job:find "cut_off" ~= nil,
    name = ("%s, %s in a %s"):format(way, job, place) }, Cell)
end

-- Some at a time: a machine has so much room.
local AT_ONCE = 8

describe("nginx ends a worker, or what runs in it:", function()
  if not nginx.ready(pending) then return end

  for first = 1, #CELLS, AT_ONCE do
    it(("cells from %d on"):format(first), function()
      local cells, problems = {}, {}
      for i = first, math.min(first + AT_ONCE - 1, #CELLS) do
        cells[#cells + 1] = new(CELLS[i])
      end
      for _, step in ipairs { Cell.begin, Cell.freeze,
        function(cell) cell.way.act(cell) end, Cell.finish } do
        for _, cell in ipairs(cells) do
          local ok, problem = true, nil
          if not cell.failed then ok, problem = pcall(step, cell) end
          if not ok then
            cell.failed = true
            problems[#problems + 1] = cell.name .. ": " .. tostring(
              type(problem) == "table" and problem.message or problem)
          end
        end
      end
      if problems[1] then error(table.concat(problems, "\n"), 0) end
    end)
  end
end)
