--- Board: shares the reports of all nginx workers. So any worker can answer a
-- request for the operators' page, and show all of them.
--
-- Every second, the readers of a worker's sessions (reader.lua) call
-- board.turn, which writes the worker's report into a shared dictionary, under
-- its process id. A report expires after LIFE. A report is plain data:
-- `{ worker =, pid =, time =, leaving =, sessions = }`. Each session is a
-- snapshot with its `index`.
local core = require "zklock.core"
local json = require "zklock.ngx.json"
local Meters = require "zklock.meters"
local plain = require "zklock.plain"
local snapshots = require "zklock.snapshot"

local board = {
  -- Returns the worker's open sessions, as `{ index =, session = }`.
  list = function() return {} end,
}

local LIFE = 4 -- seconds
-- A report has at most this many holds of each session, and as many waits: the
-- oldest ones.
local ROWS = 50

local written = -math.huge -- when the last report was written
local has_complained = false

--- Returns the shared dictionary; nil if nginx has none for zklock.
function board.dictionary() return ngx.shared.zklock end

local function new_report()
  local sessions = {}
  for i, one in ipairs(board.list()) do
    local session = snapshots.read(one.session._engine)
    session.index = one.index
    session.holds = { unpack(session.holds, 1, ROWS) }
    session.waits = { unpack(session.waits, 1, ROWS) }
    sessions[i] = session
  end
  -- A worker that exits has the same number as its successor.
  local pid, leaving = ngx.worker.pid(), ngx.worker.exiting()
  return { worker = leaving and "leaving " .. pid
    or tostring(ngx.worker.id() or "-"), pid = pid, leaving = leaving,
    time = ngx.now(), sessions = sessions }
end

-- Returns this worker's report. Writes it into the dictionary, if there is one
-- and the worker has a session. Never evicts another report.
local function write()
  local mine, dict = new_report(), board.dictionary()
  written = core.now()
  if not dict or not mine.sessions[1] then return mine end
  local ok, problem = dict:safe_set(mine.pid, json.write(mine), LIFE)
  if not ok and not has_complained then
    has_complained = true
    ngx.log(ngx.WARN, "zklock: lua_shared_dict zklock has no room for the "
      .. "report of this worker, so other workers do not show it (",
      plain.text(problem), "): make it larger")
  end
  return mine
end

--- Writes this worker's report if there is a dictionary, unless a report was
-- written less than a second ago, by the reader of another session.
function board.turn()
  if board.dictionary() and core.now() > written + 0.9 then write() end
end

--- Called when the reader of a session has ended. Deletes the report if the
-- worker has no other session or exits; another reader may write it again.
function board.leave()
  local dict = board.dictionary()
  if dict and (ngx.worker.exiting() or not board.list()[1]) then
    dict:delete(ngx.worker.pid())
  end
end

-- Reading. SHAPE has the fields that the page and the metrics need, with values
-- of the right types. `each`: the shape of each item of a list. An empty table:
-- all its values must be numbers.

local SHAPE = { worker = "", pid = 0, time = 0, leaving = false,
  sessions = { each = { hosts = "", state = "", id = "", index = 0,
    timeout = 0, lease = 0, counters = { reconnects = 0, expirations = 0,
      heartbeats = 0, requests = 0, pending_releases = 0,
      refused_releases = 0 },
    locks = { each = Meters.meter("", "") },
    holds = { each = { path = "", mode = "", seconds = 0, lease = 0,
      token = "", node = "", state = "" } },
    waits = { each = { path = "", mode = "", seconds = 0 } } } } }

local function fits(value, shape)
  if type(shape) ~= "table" or type(value) ~= "table" then
    return type(value) == type(shape)
      and (shape ~= 0 or value - value == 0) -- a finite number
  end
  local each = shape.each or not next(shape) and 0
  for key, part in pairs(each and value or shape) do
    if not fits(value[key], each or part) then return false end
  end
  return each or #value == #shape
end

-- The numbers of the workers in order, then those that leave.
local function by_worker(a, b)
  return ("%20s"):format(a.worker) < ("%20s"):format(b.worker)
end

--- Returns the reports of all workers. This worker's report is written before
-- the other reports are read. So if another worker answers a later request, its
-- answer is not older, and no counter decreases. Calls `pause()` after each
-- report, so that other requests can run.
function board.read(pause)
  local dict, mine = board.dictionary(), write()
  local newest, reports = {}, {}
  for _, key in ipairs(dict and dict:get_keys(0) or {}) do
    local ok, report = pcall(json.read, dict:get(key))
    if ok and fits(report, SHAPE) and report.pid ~= mine.pid then
      -- If a worker has replaced another, both can have a report.
      local other = newest[report.worker]
      if not other or other.time < report.time then
        newest[report.worker] = report
      end
      pause()
    end
  end
  newest[mine.worker] = mine
  for _, report in pairs(newest) do reports[#reports + 1] = report end
  table.sort(reports, by_worker)
  return reports
end

return board
