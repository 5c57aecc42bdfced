--- Board: shares the reports of all workers of an nginx, so that the worker
-- that serves the page can show all of them.
--
-- Each worker with a session writes a report into a shared dictionary, each
-- second, under its process id; an old report expires after LIFE.  A report is
-- plain: `{ worker =, pid =, time =, leaving =, too_large =, sessions = }`;
-- each session is a snapshot of census.read with its `index`.
local census = require "zklock.census"
local core = require "zklock.core"
local plain = require "zklock.plain"
local report = require "zklock.ngx.report"
local scopes = require "zklock.ngx.scope"
local waits = require "zklock.wait"

local Board = {}
Board.__index = Board

local DICTIONARY, PREFIX = "zklock", "worker "
local PERIOD, LIFE = 1, 4 -- seconds
-- A timer that is late by this time no longer exists.
local LATE = 1
-- The holds and waits of a session that are listed: the oldest ones.
local ROWS = 50

-- The process that has loaded this module.  In any other process, a worker,
-- the Lua state lasts as long as the worker.
local loaded_by = core.pid()

--- `list()`: returns this worker's open sessions, `{ index =, session = }`
-- each.
function Board.new(list)
  return setmetatable({
    list = list,
    turn = 0, -- of the last started timer
    due = 0, -- the deadline of the next turn; zero: there is no timer
    complained = false,
  }, Board)
end

local function first_of(rows)
  return { unpack(rows, 1, ROWS) }
end

local function report_of(self)
  local sessions = {}
  for i, one in ipairs(self.list()) do
    local snapshot = census.read(one.session._engine)
    snapshot.index = one.index
    snapshot.holds = first_of(snapshot.holds)
    snapshot.waits = first_of(snapshot.waits)
    sessions[i] = snapshot
  end
  return { worker = tostring(ngx.worker.id() or "-"), pid = ngx.worker.pid(),
    time = ngx.now(), leaving = ngx.worker.exiting(), too_large = false,
    sessions = sessions }
end

local function complain(self, problem)
  if self.complained then return end
  self.complained = true
  ngx.log(ngx.WARN, ("zklock: lua_shared_dict %s has no room for what this "
    .. "worker has to tell of its sessions (%s): make it larger"):format(
    DICTIONARY, plain.text(problem)))
end

-- A report for which there is no room evicts no other report.
local function put(self, dict, mine)
  local key = PREFIX .. mine.pid
  local ok, problem = dict:safe_set(key, report.write(mine), LIFE)
  if ok then return end
  complain(self, problem)
  local less = { worker = mine.worker, pid = mine.pid, time = mine.time,
    leaving = mine.leaving, too_large = true, sessions = {} }
  if not dict:safe_set(key, report.write(less), LIFE) then dict:delete(key) end
end

-- The timer.

-- Returns whether the Lua state lasts without the board's help.  If it serves
-- one request (lua_code_cache off), it lasts only as long as other work runs
-- in it.
local function lasts(self)
  if scopes.lasts or core.pid() ~= loaded_by then return true end
  for _, one in ipairs(self.list()) do
    local engine = one.session._engine
    if next(engine.holds) or waits.exist(engine.waits) then return true end
  end
  return false
end

-- Returns whether requests of nginx or waits keep an exiting worker, which
-- goes on reporting as long.
local function is_kept(self)
  for _, one in ipairs(self.list()) do
    local engine = one.session._engine
    if engine.core:requests(true) > 0 or waits.exist(engine.waits) then
      return true
    end
  end
  return false
end

local function take_leave(self, dict)
  while is_kept(self) do
    put(self, dict, report_of(self))
    ngx.sleep(0.1)
  end
  dict:delete(PREFIX .. ngx.worker.pid())
end

local start

-- Starts the next timer first, because this turn may raise.
local function tick(premature, self, turn)
  if turn ~= self.turn then return end -- was given up, but ran late
  local dict = ngx.shared[DICTIONARY]
  if premature then return take_leave(self, dict) end
  self.due = 0
  if lasts(self) then start(self, PERIOD) end
  put(self, dict, report_of(self))
end

function start(self, delay)
  if not ngx.timer.at(delay, tick, self, self.turn + 1) then return end
  self.turn = self.turn + 1
  self.due = core.now() + delay + LATE
end

--- Lets other workers see this worker's reports, if there is a dictionary.
-- Must be called at every activity.  nginx refuses a timer while too many are
-- pending (lua_max_pending_timers), and silently drops one when too many run
-- (lua_max_running_timers); then this starts another.
function Board:watch()
  if core.now() < self.due or not ngx.shared[DICTIONARY]
      or ngx.worker.exiting() then
    return
  end
  start(self, 0)
end

-- Reading.

-- Of two reports with the same number the newer one counts, because a worker
-- may have replaced another.  A worker that leaves has a place of its own.
local function add(places, one)
  local place = one.leaving and "leaving " .. one.pid or one.worker
  local other = places[place]
  if not other or other.time < one.time then places[place] = one end
end

local function by_place(a, b)
  if a.leaving ~= b.leaving then return b.leaving end
  local i, j = tonumber(a.worker) or -1, tonumber(b.worker) or -1
  if i ~= j then return i < j end
  return a.pid < b.pid
end

--- Returns the reports of all workers, this worker's as of now, and whether
-- there is a dictionary.  It writes this worker's report before it reads, so
-- the next answer knows at least as much, and no counter ever falls.  Calls
-- `pause()` now and then.
function Board:read(pause)
  local mine, dict = report_of(self), ngx.shared[DICTIONARY]
  local places, reports = {}, {}
  if dict and mine.sessions[1] then
    put(self, dict, mine)
    self:watch()
  end
  for _, key in ipairs(dict and dict:get_keys(0) or {}) do
    local text = key:sub(1, #PREFIX) == PREFIX and dict:get(key)
    local one = text and report.read(text)
    if one and one.pid ~= mine.pid then add(places, one) end
    if one then pause() end
  end
  add(places, mine)
  for _, one in pairs(places) do reports[#reports + 1] = one end
  table.sort(reports, by_place)
  return reports, dict ~= nil
end

return Board
