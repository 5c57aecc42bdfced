--- `zklock watch`: prints each change of the queue of a lock.
--
-- It polls the queue, so it misses changes between two reads. ZooKeeper's
-- watches would not help. A watch reports only one change, so changes before
-- the next watch is set would be missed, too. And each handoff would cost an
-- event for each contender.
local await = require "zklock.cli.await"
local exit = require "zklock.cli.exit"
local output = require "zklock.cli.output"
local rows = require "zklock.cli.rows"
local talk = require "zklock.cli.talk"
local visit = require "zklock.cli.visit"
local window = require "zklock.cli.window"

local INTERVAL = 1
-- After a slow read of a long queue, the pause is SHARE times as long as this
-- read took.
local SHARE = 5

local words = { holds = "granted", waits = "waits", present = "present",
  unowned = "unowned" }

-- Returns a list of `{ change =, row = }`. `before`: the contenders of the last
-- read; at first, an empty list. The contenders that have left come first in
-- the list, because the later changes follow from them.
local function changes(contenders, before)
  local list, was, is = {}, {}, {}
  for _, row in ipairs(before) do was[row.node] = row end
  for _, row in ipairs(contenders) do is[row.node] = row end
  -- A different node can have the same name by now; its token differs.
  local function find(row, others)
    local other = others[row.node]
    return other and other.token == row.token and other
  end
  for _, row in ipairs(before) do
    if not find(row, is) then
      list[#list + 1] = { change = "left", row = row }
    end
  end
  for _, row in ipairs(contenders) do
    local earlier, state = find(row, was), rows.state(row)
    if not earlier or rows.state(earlier) ~= state then
      list[#list + 1] = { change = words[state], row = row }
    end
  end
  return list
end

-- Returns the line for a change. On a terminal, cuts it to the width.
local function line_of(entry, is_json)
  local row, time = entry.row, os.date "!%Y-%m-%dT%H:%M:%SZ"
  if is_json then
    return rows.json(row, { time = time, change = entry.change })
  end
  return window.cut(table.concat({ time, ("%-7s"):format(entry.change),
    row.mode, rows.node(row), rows.session(row), rows.token(row),
    rows.data(row) }, " "), window.columns(1))
end

local function show(list, is_json)
  local lines = {}
  for i, entry in ipairs(list) do lines[i] = line_of(entry, is_json) end
  if lines[1] then output.line(table.concat(lines, "\n")) end
end

-- Prints when the connection is lost, and when it is there again.
local function follow_connection(session, path)
  local lost = false
  local function tell(is_there)
    return function()
      if lost ~= is_there then return end
      lost = not is_there
      talk.say(is_there and "connected again: %s is watched on"
        or "no connection: %s cannot be seen", path)
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

return function(request)
  return visit.servers(request, function(session)
    local path = request.path
    follow_connection(session, path)
    local interval = math.max(request.interval or INTERVAL, 0.05)
    local before = {}
    while true do
      local begun = await.now()
      local contenders, message, code = session:contenders(path)
      if contenders then
        show(changes(rows.number(path, contenders), before), request.json)
        before = contenders
      elseif not passes[code] then
        exit.refuse(message, code)
      end
      await.seconds(math.max(interval, SHARE * (await.now() - begun)))
    end
  end)
end
