--- `zklock ls`: shows the holders and the waiters of locks.
local exit = require "zklock.cli.exit"
local once = require "zklock.cli.once"
local output = require "zklock.cli.output"
local rows = require "zklock.cli.rows"
local table_of = require "zklock.cli.table"
local talk = require "zklock.cli.talk"
local visit = require "zklock.cli.visit"
local walk = require "zklock.cli.walk"
local window = require "zklock.cli.window"
local plain = require "zklock.plain"

-- The maximum number of lines that are written at once.
local BATCH = 256

local function write(lines)
  for first = 1, #lines, BATCH do
    local last = math.min(first + BATCH - 1, #lines)
    output.write(table.concat(lines, "\n", first, last) .. "\n")
  end
end

local function show_json(contenders)
  local lines = {}
  for i, row in ipairs(contenders) do lines[i] = rows.json(row) end
  write(lines)
end

local function show_table(contenders)
  write(table_of(contenders, window.columns(1)))
end

local function list(session, request)
  local path = request.path
  local contenders, is_there = visit.answer(session:contenders(path))
  rows.number(path, contenders)
  local is_idle = #contenders == 0
  contenders[#contenders + 1] = once.last(session, path)
  if request.json then
    show_json(contenders)
  elseif #contenders > 0 then
    show_table(contenders)
  end
  if is_idle and not request.json then
    talk.say("no process holds %s or waits for it%s", path,
      is_there and "" or ": the node does not exist")
  end
end

-- The codes of errors that concern only one directory. After such an error,
-- `zklock ls -R` still lists the other directories.
local passed_over = { denied = true, invalid = true }

local function list_all(session, request)
  local found, refusal = 0, nil
  walk(session, request.path, function(path, contenders)
    found = found + 1
    if request.json then return show_json(contenders) end
    output.line((found > 1 and "\n" or "") .. plain.text(path) .. ":")
    show_table(contenders)
  end, function(path, message, code)
    if not passed_over[code] then exit.refuse(message, code) end
    talk.say("%s is left out: %s", path, talk.bare(message))
    refusal = "refused"
  end)
  if found == 0 and not refusal and not request.json then
    talk.say("no process holds or waits for a lock at %s or below",
      request.path)
  end
  return refusal and exit.codes[refusal]
end

return function(request)
  return visit.servers(request, function(session)
    return (request.recursive and list_all or list)(session, request)
  end)
end
