--- Surveys: who contends for a path, and who of them holds.
--
-- How many children a directory has is asked before they are listed, of each
-- contender its Stat, and only then the data, as far as there is room for them:
-- what strangers have put there must not cost what they like.  Of an election
-- only the head is asked about, for many may want to know it, and at the same
-- moment.
local core = require "zklock.core"
local questions = require "zklock.questions"

local is_refused, run, ask_now = questions.is_refused, questions.run,
  questions.ask_now

local surveys = { UNFAIR = "holder" }

local MIB = 1024 * 1024

-- Data of so many bytes are small.  Those are read first, as long as all that
-- was read is not more than the second; larger ones only while it is not more
-- than the third.  Data of more bytes than any lock's are not read.
local SMALL, ALL_SMALL, ALL_LARGE = 64 * 1024, 16 * MIB, 4 * MIB

local UNFAIR = surveys.UNFAIR
local MISSING, HIDDEN = { missing = true }, { missing = true, hidden = true }

-- Rows: contenders, as `{ node=, mode=, sequence= }`, and what is known of
-- them.  Of one that may not be looked at there is nothing but what its name
-- says.

local function learn(row, seen)
  row.token, row.session, row.created = seen.token, seen.session, seen.created
  row.size = seen.size
  row.data = seen.data or seen.size == 0 and "" or nil
end

-- Of a semaphore: permits are in one directory, the mutexes of its gate in the
-- other, and in neither is anything else of interest.
local PLACES = { "", "locks/", "leases/" }

local function belongs(mode, place)
  if place == "leases/" then return mode == "lease" end
  if place == "locks/" then return mode == "mutex" end
  return mode ~= "lease" and mode ~= "hold"
end

-- Adds those of `names` that are contenders, and belong there.
local function add_rows(rows, names, place)
  for _, name in ipairs(names or {}) do
    local mode, sequence = core.mode(name)
    if mode and belongs(mode, place) then
      rows[#rows + 1] = { node = place .. name, mode = mode,
        sequence = sequence }
    end
  end
end

-- Sends `request(row)` for each row that it is not nil for, and learns from the
-- answers: the rows that are still there; or nil, code and reason.  (Who hides
-- its node, or its data, contends nonetheless.)
local function ask_of_each(ask, rows, request, ...)
  local requests, asked = {}, {}
  for _, row in ipairs(rows) do
    local of_row = request(row)
    if of_row then
      requests[#requests + 1] = of_row
      asked[row] = #requests
    end
  end
  if #requests == 0 then return rows end
  local found, code, reason = ask(requests, ...)
  if not found then return nil, code, reason end
  local there = {}
  for _, row in ipairs(rows) do
    local answer = found[asked[row]] or {}
    if is_refused(answer, HIDDEN) then
      return nil, answer.code, answer.reason
    end
    if answer.session then learn(row, answer) end
    if answer.is ~= "missing" then there[#there + 1] = row end
  end
  return there
end

local function look_at(ask, path, rows)
  return ask_of_each(ask, rows, function(row)
    return not row.token and { "exists", path .. "/" .. row.node } or nil
  end)
end

-- Reads data of more than `least` bytes, `each` at most, and `all` in all.
local function read_some(ask, path, rows, least, each, all)
  local sum = 0
  return ask_of_each(ask, rows, function(row)
    local size = row.size or 0
    if size <= least or size > each or size > all - sum then return nil end
    sum = sum + size
    return { "get", path .. "/" .. row.node, nil, size }
  end, each, all)
end

local function read_data(ask, path, rows)
  local small, code, reason = read_some(ask, path, core.survey(rows), 0, SMALL,
    ALL_SMALL)
  if not small then return nil, code, reason end
  local kept = 0
  for _, row in ipairs(small) do kept = kept + #(row.data or "") end
  return read_some(ask, path, small, SMALL, questions.LARGEST,
    ALL_LARGE - kept)
end

-- Contenders in order, as the core has read them.
local function in_order(rows)
  local contenders = core.survey(rows)
  for _, contender in ipairs(contenders) do
    if contender.node:sub(1, 6) == "locks/" then contender.mode = "lease" end
  end
  return contenders
end

local function path_of(path, node)
  return (path .. "/" .. node):match "^(.-)/?$"
end

-- The directories' lists, and an unfair lock's node: rows of which only that
-- one is known; and whether the path exists.
local function list_rows(ask, path)
  local looks, lists, listed, rows = {}, {}, {}, {}
  for i, place in ipairs(PLACES) do
    looks[i] = { "exists", path_of(path, place) }
  end
  looks[#looks + 1] = { "exists", path_of(path, UNFAIR) }
  local seen, code, reason = ask_now(ask, path, looks)
  if not seen then return nil, code, reason end
  for i, place in ipairs(PLACES) do
    if is_refused(seen[i], MISSING) then
      return nil, seen[i].code, seen[i].reason
    end
    if not seen[i].code then
      listed[#listed + 1] = place
      lists[#lists + 1] = { "list", looks[i][2], nil, seen[i].children }
    end
  end
  local holder = seen[#seen]
  if is_refused(holder, HIDDEN) then return nil, holder.code, holder.reason end
  if holder.is ~= "missing" then
    rows[1] = { node = UNFAIR, mode = "unfair", sequence = 0 }
    if holder.session then learn(rows[1], holder) end
  end
  if #lists == 0 then return rows, false end
  local found
  found, code, reason = ask(lists)
  if not found then return nil, code, reason end
  for i, list in ipairs(found) do
    if is_refused(list, MISSING) then return nil, list.code, list.reason end
    add_rows(rows, list.names, listed[i])
  end
  return rows, listed[1] == ""
end

-- Who contends for a path, in order; and whether the path exists.
local function survey(ask, path, with_data)
  local rows, exists, reason = list_rows(ask, path)
  if not rows then return nil, exists, reason end
  local code
  rows, code, reason = look_at(ask, path, rows)
  if rows and with_data then rows, code, reason = read_data(ask, path, rows) end
  if not rows then return nil, code, reason end
  return in_order(rows), exists
end

-- The first of these rows whose node is still there, in a list.  (A node that
-- no session owns keeps all behind it from leading, and does not lead.)
local function find_first(ask, path, rows)
  for _, row in ipairs(rows) do
    local there, code, reason = look_at(ask, path, { row })
    if not there then return nil, code, reason end
    if there[1] then return there end
  end
  return {}
end

-- The first of a mode (all, where their numbers do not tell who is first), in a
-- list; and how many contenders there are of any mode, or false: no such path.
local function head(ask, path, mode)
  local found, code, reason = ask_now(ask, path, { { "exists", path } })
  if not found then return nil, code, reason end
  local seen = found[1]
  if seen.is == "missing" then return {}, false end
  if seen.code then return nil, seen.code, seen.reason end
  found, code, reason = ask { { "list", path, nil, seen.children } }
  if not found then return nil, code, reason end
  local list = found[1]
  if is_refused(list, MISSING) then return nil, list.code, list.reason end
  local rows, count = {}, 0
  for _, name in ipairs(list.names or {}) do
    local of_node, sequence = core.mode(name)
    if of_node then count = count + 1 end
    if of_node == mode then
      rows[#rows + 1] = { node = name, mode = mode, sequence = sequence }
    end
  end
  local ordered
  rows, ordered = core.survey(rows)
  rows, code, reason = (ordered and find_first or look_at)(ask, path, rows)
  if rows then rows, code, reason = read_data(ask, path, rows) end
  if not rows then return nil, code, reason end
  return in_order(rows), count
end

-- Contenders, as users see them.

-- The core's words, where they are not the user's.
local public_modes = { ["kazoo-lock"] = "mutex", ["kazoo-read"] = "read",
  latch = "mutex" }

-- The size is told of data that were not read.
local function show(contender)
  contender.mode = public_modes[contender.mode] or contender.mode
  if contender.data then
    contender.data, contender.size = core.own_data(contender.data), nil
  end
  if contender.mode == "unfair" then contender.sequence = nil end
  return contender
end

--- Those who hold a path, in order, without their data; or nil, code and
-- reason.
function surveys.all_holders(engine, path)
  local contenders, code, reason = run(engine, survey, path, false)
  if not contenders then return nil, code, reason end
  local holders = {}
  for _, contender in ipairs(contenders) do
    if contender.holds then holders[#holders + 1] = contender end
  end
  return holders
end

--- Who contends for a path, in order; and whether the path exists.
function surveys.contenders(engine, path)
  local contenders, exists, reason = run(engine, survey, path, true)
  if not contenders then
    return questions.refuse(engine, exists, reason, "who contends for", path)
  end
  for _, contender in ipairs(contenders) do show(contender) end
  return contenders, exists
end

--- Those that hold it in one of these modes.
function surveys.holders(engine, path, modes)
  local contenders, code, reason = run(engine, survey, path, true)
  if not contenders then
    return questions.refuse(engine, code, reason, "who holds", path)
  end
  local holders = {}
  for _, contender in ipairs(contenders) do
    if contender.holds and modes[contender.mode] then
      holders[#holders + 1] = show(contender)
    end
  end
  return holders
end

--- Of contenders in order, who leads, as users see it, and its node; false if
-- nobody does.  A leader holds in one of these modes.
function surveys.leader_of(contenders, modes)
  for _, contender in ipairs(contenders) do
    if contender.holds and modes[contender.mode] then
      local data = contender.data
      return { data = data and core.own_data(data),
        size = not data and contender.size or nil, token = contender.token,
        session = contender.session, since = contender.created },
        contender.node
    end
  end
  return false
end

--- Who leads: `{ data=, token=, session=, since= }`; nil if nobody does.  Who
-- leads is in one of these modes, of which there is one.
function surveys.leader(engine, path, modes)
  local contenders, code, reason = run(engine, head, path, (next(modes)))
  if not contenders then
    return questions.refuse(engine, code, reason, "who leads", path)
  end
  return surveys.leader_of(contenders, modes) or nil
end

--- The same for who does not wait: `callback` gets contenders for `leader_of`,
-- and how many of any kind are children of the path, false: it does not exist;
-- or nil, code and reason.
function surveys.begin_leader(engine, scope, path, modes, callback)
  return questions.begin(engine, scope, callback, head, path, (next(modes)))
end

return surveys
