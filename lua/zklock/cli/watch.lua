--- `zklock watch`: shows the queue of a lock as it changes.
--
-- It polls the queue, so it misses changes between two reads. ZooKeeper's
-- watches would not help. A watch reports only one change, so changes before
-- the next watch is set would be missed, too. And each handoff would cost an
-- event for each contender.
local await = require "zklock.cli.await"
local exit = require "zklock.cli.exit"
local output = require "zklock.cli.output"
local rows = require "zklock.cli.rows"
local table_of = require "zklock.cli.table"
local talk = require "zklock.cli.talk"
local terminal = require "zklock.cli.terminal"
local text = require "zklock.cli.text"
local visit = require "zklock.cli.visit"
local window = require "zklock.cli.window"

local INTERVAL = 1
-- After a slow read of a long queue, the pause is SHARE times as long as this
-- read took.
local SHARE = 5

local function time_of_day() return os.date "!%Y-%m-%dT%H:%M:%SZ" end

-- Output to pipes and files: prints a line for each change.

local words = { holds = "granted", waits = "waits", present = "present",
  unowned = "unowned" }

-- Returns a list of `{ change =, row = }`, and the state for the next
-- comparison. `before`: the state that the last call has returned. In the first
-- call it is nil, and all rows count as changed. The contenders that have left
-- come first in the list, because the later changes follow from them.
local function changes(contenders, before)
  local list, after, order = {}, {}, {}
  for i, row in ipairs(contenders) do
    after[row.node], order[i] = row, row.node
  end
  after[0] = order
  for _, node in ipairs(before and before[0] or {}) do
    -- A different node can have the same name by now; its token differs.
    local now, then_ = after[node], before[node]
    if not now or now.token ~= then_.token then
      list[#list + 1] = { change = "left", row = then_ }
    end
  end
  for _, row in ipairs(contenders) do
    local was = before and before[row.node]
    local same = was and was.token == row.token
    if not same or rows.state(was) ~= rows.state(row) then
      list[#list + 1] = { change = words[rows.state(row)], row = row }
    end
  end
  return list, after
end

local Lines = {}
Lines.__index = Lines

local function lines_of(request)
  return setmetatable({ json = request.json }, Lines)
end

function Lines:line(entry)
  local row, time = entry.row, time_of_day()
  if self.json then
    return rows.json(row, { time = time, change = entry.change })
  end
  return table.concat({ time, ("%-7s"):format(entry.change), row.mode,
    rows.node(row), rows.session(row), rows.token(row), rows.data(row) }, " ")
end

function Lines:show(contenders)
  local list, after = changes(contenders, self.before)
  self.before = after
  if #list == 0 then return end
  local lines = {}
  for i, entry in ipairs(list) do lines[i] = self:line(entry) end
  output.line(table.concat(lines, "\n"))
  output.finish() -- raises an error if a write has failed
end

function Lines:connection(is_there, path)
  talk.say(is_there and "connected again: %s is watched on"
    or "no connection: %s cannot be seen", path)
end

function Lines:close() end

-- Output to a terminal: draws the whole screen.

local Screen = {}
Screen.__index = Screen

local function screen_of(request)
  local self = setmetatable({ path = request.path, contenders = {} }, Screen)
  self.draw, self.close = terminal.take(function() self:redraw() end)
  return self
end

function Screen:head()
  local count = { holds = 0, waits = 0, present = 0, unowned = 0 }
  for _, row in ipairs(self.contenders) do
    local state = rows.state(row)
    count[state] = count[state] + 1
  end
  return ("%s  %s: %d holding, %d waiting%s"):format(time_of_day(), self.path,
    count.holds, count.waits,
    count.present > 0 and (", %d present"):format(count.present) or "")
end

function Screen:redraw()
  local columns, height = window.size(1)
  if not columns then return end -- the terminal has hung up
  local lines = { text.cut(self:head(), columns) }
  lines[2] = self.lost_at and text.cut("no connection since " .. self.lost_at
    .. ": this is what was seen last", columns) or ""
  local shown = {} -- the first contenders, as many as the window can show
  for i = 1, math.min(#self.contenders, math.max(height - 4, 1)) do
    shown[i] = self.contenders[i]
  end
  local time = rows.servers_time(self.contenders, await.time_of_day())
  for _, line in ipairs(table_of(shown, time, columns)) do
    lines[#lines + 1] = line
  end
  if #shown < #self.contenders then
    lines[#lines + 1] = ("… and %d more"):format(#self.contenders - #shown)
  end
  self.draw(lines)
end

function Screen:show(contenders)
  self.contenders = contenders
  self:redraw()
end

function Screen:connection(is_there)
  self.lost_at = not is_there and (self.lost_at or time_of_day()) or nil
  self:redraw()
end

-- Reading.

-- Calls `view:connection` when the connection is lost, and when it is there
-- again. `view` writes the output: a Lines or a Screen object.
local function follow_connection(session, view, path)
  local lost = false
  local function tell(is_there)
    return function()
      if lost ~= is_there then return end
      lost = not is_there
      view:connection(is_there, path)
    end
  end
  for event, is_there in pairs { suspended = false, expired = false,
    connected = true, reconnected = true } do
    session:on(event, tell(is_there))
  end
end

-- The codes of read errors that are not printed, because follow_connection
-- already reports the lost connection.
local passes = { disconnected = true, expired = true }

local function look(session, path, view)
  local contenders, message, code = session:contenders(path)
  if contenders then
    view:show(rows.number(path, contenders))
  elseif not passes[code] then
    exit.refuse(message, code)
  end
end

return function(request)
  return visit.servers(request, function(session)
    output.heed()
    local on_screen = terminal.is_output() and not request.json
      and os.getenv "TERM" ~= "dumb"
    local view = (on_screen and screen_of or lines_of)(request)
    follow_connection(session, view, request.path)
    local interval = math.max(request.interval or INTERVAL, 0.05)
    local ok, problem = pcall(function()
      while true do
        local begun = await.now()
        look(session, request.path, view)
        await.seconds(math.max(interval, SHARE * (await.now() - begun)))
      end
    end)
    view:close()
    if not ok then error(problem, 0) end
  end)
end
