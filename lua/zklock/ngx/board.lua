--- Board: shares the reports of all workers of an nginx, so that the worker
-- that serves the operators' page can show all of them.
--
-- Every second, each worker with a session writes a report into a shared
-- dictionary, under its process id; a report expires after LIFE. The report is
-- written by Board:turn, which the readers of the sessions (reader.lua) call. A
-- report has only data: `{ worker =, pid =, time =, leaving =, too_large =,
-- sessions = }`; each session is a snapshot with its `index`.
local core = require "zklock.core"
local json = require "zklock.ngx.json"
local Meters = require "zklock.meters"
local plain = require "zklock.plain"
local snapshots = require "zklock.snapshot"

local Board = {}
Board.__index = Board

local DICTIONARY, PREFIX = "zklock", "worker "
local PERIOD, LIFE = 1, 4 -- seconds between two reports, and of a report
-- How many holds, and how many waits, of a session a report lists: the oldest.
local ROWS = 50

--- Makes this worker's board. `list()` returns the worker's open sessions, as
-- `{ index =, session = }`.
function Board.new(list)
  return setmetatable({
    list = list,
    due = 0, -- when the next report must be written
    leaving = false, -- whether the last report said so
    complained = false,
  }, Board)
end

--- Returns the seconds within which turn() must be called again; nil if there
-- is no dictionary.
function Board.period() return ngx.shared[DICTIONARY] and PERIOD end

local function first_of(rows)
  return { unpack(rows, 1, ROWS) }
end

local function read_session(one)
  local snapshot = snapshots.read(one.session._engine)
  snapshot.index = one.index
  snapshot.holds = first_of(snapshot.holds)
  snapshot.waits = first_of(snapshot.waits)
  snapshot.counters.wait_histogram = nil -- it is already in the locks' meters
  return snapshot
end

-- Returns this worker's report. Without `list`, the report has no sessions, and
-- says that they were too large for the dictionary.
local function report_of(list)
  local sessions = {}
  for i, one in ipairs(list or {}) do sessions[i] = read_session(one) end
  return { worker = tostring(ngx.worker.id() or "-"), pid = ngx.worker.pid(),
    time = ngx.now(), leaving = ngx.worker.exiting(), too_large = not list,
    sessions = sessions }
end

-- Writes this worker's report into the dictionary, and returns its text. If
-- there is no room, writes a report without sessions; never evicts another
-- report.
local function put(self, dict, mine)
  local key, text = PREFIX .. mine.pid, json.write(mine)
  local ok, problem = dict:safe_set(key, text, LIFE)
  if ok then return text end
  if not self.complained then
    self.complained = true
    ngx.log(ngx.WARN, ("zklock: lua_shared_dict %s has no room for what this "
      .. "worker has to tell of its sessions (%s): make it larger"):format(
      DICTIONARY, plain.text(problem)))
  end
  if not dict:safe_set(key, json.write(report_of()), LIFE) then
    dict:delete(key)
  end
  return text
end

--- Writes this worker's report, if the last one is old and there is a
-- dictionary. Each reader calls this after each step of its session.
function Board:turn()
  local dict, is_leaving = ngx.shared[DICTIONARY], ngx.worker.exiting()
  local is_due = core.now() >= self.due or is_leaving ~= self.leaving
  if not dict or not is_due then return end
  self.due, self.leaving = core.now() + PERIOD, is_leaving
  put(self, dict, report_of(self.list()))
end

--- Called when the reader of a session has ended: writes a report without the
-- session, or deletes the report if no session is left or the worker exits.
function Board:leave()
  self.due = 0
  if self.list()[1] and not ngx.worker.exiting() then return self:turn() end
  local dict = ngx.shared[DICTIONARY]
  if dict then dict:delete(PREFIX .. ngx.worker.pid()) end
end

-- Reading. SHAPE has the fields that the page and the metrics need, with values
-- of the right types. `each`: all items have this shape; {}: all are numbers.

local SHAPE = { worker = "", pid = 0, time = 0, leaving = false,
  too_large = false, sessions = { each = { hosts = "", state = "", id = "",
    index = 0, timeout = 0, lease = 0,
    counters = { reconnects = 0, expirations = 0, requests = 0,
      pending_releases = 0 },
    locks = { each = Meters.meter("", "") },
    holds = { each = { path = "", mode = "", seconds = 0, lease = 0,
      token = "", node = "", state = "" } },
    waits = { each = { path = "", mode = "", seconds = 0 } }, } } }

local function fits(value, shape)
  if type(shape) ~= "table" or type(value) ~= "table" then
    return type(value) == type(shape)
  end
  local each = shape.each or not next(shape) and 0
  if each then
    for _, item in pairs(value) do
      if not fits(item, each) then return false end
    end
    return true
  end
  for key, part in pairs(shape) do
    if not fits(value[key], part)
        and not (key == "lease" and value.lease == nil) then -- endless lease
      return false
    end
  end
  return #value == #shape
end

-- Returns the report that the text contains; nil if the text has another shape,
-- because another program has written it.
local function read_report(text)
  local ok, one = pcall(json.read, text)
  return ok and fits(one, SHAPE) and one or nil
end

-- Returns a text that identifies a worker and sorts the workers. A leaving
-- worker has one of its own, at the end: its number belongs to its successor.
local function place_of(one)
  return one.leaving and ("leaving %10d"):format(one.pid)
    or ("%5s"):format(one.worker)
end

local function by_place(a, b) return place_of(a) < place_of(b) end

-- Adds a report. If two reports are of one place, the newer one counts, because
-- a new worker has replaced another.
local function add(places, one)
  local other = places[place_of(one)]
  if not other or other.time < one.time then places[place_of(one)] = one end
end

--- Returns the reports of all workers, each with its `text`; and whether there
-- is a dictionary. This worker's report is made now. It is written before the
-- others are read, so a later answer of any worker is never older, and no
-- counter ever falls. Calls `pause()` now and then.
function Board:read(pause)
  local mine, dict = report_of(self.list()), ngx.shared[DICTIONARY]
  local places, reports, text = {}, {}, nil
  if dict and mine.sessions[1] then
    text = put(self, dict, mine)
  end
  for _, key in ipairs(dict and dict:get_keys(0) or {}) do
    local found = key:sub(1, #PREFIX) == PREFIX and dict:get(key)
    local one = read_report(found)
    if one and one.pid ~= mine.pid then
      one.text = found
      add(places, one)
      pause()
    end
  end
  mine.text = text or json.write(mine)
  add(places, mine)
  for _, one in pairs(places) do reports[#reports + 1] = one end
  table.sort(reports, by_place)
  return reports, dict ~= nil
end

return Board
