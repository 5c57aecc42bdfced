--- Board: shares the reports of all nginx workers. So any worker can answer a
-- request for the operators' page, and show all of them.
--
-- Every second, each worker with a session writes a report into a shared
-- dictionary, under its process id. A report expires after LIFE. reader.lua
-- calls board.turn, which writes the report. A report is plain data:
-- `{ worker =, pid =, time =, leaving =, too_large =, sessions = }`. Each
-- session is a snapshot with its `index`. `too_large`: the full report did not
-- fit into the dictionary, so `sessions` is empty.
local core = require "zklock.core"
local json = require "zklock.ngx.json"
local Meters = require "zklock.meters"
local plain = require "zklock.plain"
local snapshots = require "zklock.snapshot"

local board = {
  -- Returns the worker's open sessions, as `{ index =, session = }`.
  list = function() return {} end,
}

local DICTIONARY, PREFIX = "zklock", "worker "
local PERIOD, LIFE = 1, 4 -- seconds: between reports; until one expires
-- A report has at most this many holds of each session, and as many waits: the
-- oldest ones.
local ROWS = 50

local due = 0 -- when the next report must be written
local was_leaving = false -- whether the last report said "leaving"
local has_complained = false

local function dictionary() return ngx.shared[DICTIONARY] end

--- Returns the seconds within which turn() must be called again; nil if there
-- is no dictionary.
function board.period() return dictionary() and PERIOD end

local function report_of(list)
  local sessions = {}
  for i, one in ipairs(list) do
    local session = snapshots.read(one.session._engine)
    session.index = one.index
    session.holds = { unpack(session.holds, 1, ROWS) }
    session.waits = { unpack(session.waits, 1, ROWS) }
    session.counters.wait_histogram = nil -- the meters already have it
    sessions[i] = session
  end
  return { worker = tostring(ngx.worker.id() or "-"), pid = ngx.worker.pid(),
    time = ngx.now(), leaving = ngx.worker.exiting(), too_large = false,
    sessions = sessions }
end

-- Builds and returns this worker's report; its field `text` is the report as
-- JSON. Writes it into the dictionary, if there is one and the worker has a
-- session. If the dictionary is full, writes a short report with `too_large`.
-- Never evicts another report.
local function write(dict)
  local mine = report_of(board.list())
  mine.text = json.write(mine)
  local key = PREFIX .. mine.pid
  if not dict or not mine.sessions[1] then return mine end
  local ok, problem = dict:safe_set(key, mine.text, LIFE)
  if ok then return mine end
  if not has_complained then
    has_complained = true
    ngx.log(ngx.WARN, ("zklock: lua_shared_dict %s has no room for what this "
      .. "worker has to tell of its sessions (%s): make it larger"):format(
      DICTIONARY, plain.text(problem)))
  end
  local short = report_of {}
  short.too_large = true
  if not dict:safe_set(key, json.write(short), LIFE) then dict:delete(key) end
  return mine
end

--- If there is a dictionary, writes this worker's report once per PERIOD, and
-- once when the worker begins to exit. Each reader calls this after each step
-- of its session.
function board.turn()
  local dict, is_leaving = dictionary(), ngx.worker.exiting()
  local is_due = core.now() >= due or is_leaving ~= was_leaving
  if not dict or not is_due then return end
  due, was_leaving = core.now() + PERIOD, is_leaving
  write(dict)
end

--- Called when the reader of a session has ended. Writes a report without this
-- session. If no session is left or the worker exits, deletes the report
-- instead.
function board.leave()
  due = 0
  if board.list()[1] and not ngx.worker.exiting() then return board.turn() end
  local dict = dictionary()
  if dict then dict:delete(PREFIX .. ngx.worker.pid()) end
end

-- Reading. SHAPE has the fields that the page and the metrics need, with values
-- of the right types. `each`: the shape of each item of a list. An empty table:
-- all its values must be numbers. The lease is not among the fields, because a
-- report omits an endless lease.

local SHAPE = { worker = "", pid = 0, time = 0, leaving = false,
  too_large = false, sessions = { each = { hosts = "", state = "", id = "",
    index = 0, timeout = 0,
    counters = { reconnects = 0, expirations = 0, requests = 0,
      pending_releases = 0 },
    locks = { each = Meters.meter("", "") },
    holds = { each = { path = "", mode = "", seconds = 0, token = "", node = "",
      state = "" } },
    waits = { each = { path = "", mode = "", seconds = 0 } } } } }

local function fits(value, shape)
  if type(shape) ~= "table" or type(value) ~= "table" then
    return type(value) == type(shape)
  end
  local each = shape.each or not next(shape) and 0
  for key, part in pairs(each and value or shape) do
    if not fits(value[key], each or part) then return false end
  end
  return each or #value == #shape
end

-- Returns the report that the text contains; nil if the text has another shape,
-- because another program has written it.
local function read_report(text)
  local ok, report = pcall(json.read, text)
  return ok and fits(report, SHAPE) and report or nil
end

-- Returns a text that identifies a worker and sorts the workers. A leaving
-- worker has the same number as its successor. So its text has the process id
-- instead, and sorts last.
local function place_of(report)
  return report.leaving and ("leaving %10d"):format(report.pid)
    or ("%5s"):format(report.worker)
end

local function by_place(a, b) return place_of(a) < place_of(b) end

--- Returns the reports of all workers, each with its `text`; and whether there
-- is a dictionary. This worker's report is made now, and written before the
-- other reports are read. So if another worker answers a later request, its
-- answer is not older, and no counter decreases. Calls `pause()` after each
-- report, so that other requests can run.
function board.read(pause)
  local dict = dictionary()
  local mine = write(dict)
  local places, reports = { [place_of(mine)] = mine }, {}
  for _, key in ipairs(dict and dict:get_keys(0) or {}) do
    local text = key:sub(1, #PREFIX) == PREFIX and dict:get(key)
    local report = read_report(text)
    if report and report.pid ~= mine.pid then
      report.text = text
      -- If two reports have the same place, keeps the newer one: a new worker
      -- has replaced the other.
      local other = places[place_of(report)]
      if not other or other.time < report.time then
        places[place_of(report)] = report
      end
      pause()
    end
  end
  for _, report in pairs(places) do reports[#reports + 1] = report end
  table.sort(reports, by_place)
  return reports, dict ~= nil
end

return board
