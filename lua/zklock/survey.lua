--- Surveys: queries for the contenders of a path and its holders.
--
-- A query first reads the number of children, then their names, and then each
-- contender's Stat. Last it reads the data, up to a limit of bytes. So
-- untrusted nodes cannot make a query expensive. Many clients may ask for an
-- election's leader at the same moment. So the query for the leader reads only
-- the head of the queue.
local core = require "zklock.core"
local questions = require "zklock.questions"

local ask, expect, ask_now = questions.send, questions.expect,
  questions.ask_now

local surveys = { UNFAIR = "holder" }

local MIB = 1024 * 1024

-- Limits of the data that a query reads, in bytes. The query first reads small
-- data, which is at most SMALL per node, and at most ALL_SMALL in total. Then
-- it reads larger data, if all data together stays within ALL_LARGE. It never
-- reads data of more than questions.LARGEST, because no lock needs so much.
local SMALL, ALL_SMALL, ALL_LARGE = 64 * 1024, 16 * MIB, 4 * MIB

local UNFAIR = surveys.UNFAIR
local MISSING, HIDDEN = { missing = true }, { missing = true, hidden = true }

-- A row is a contender: `{ node=, mode=, sequence= }` from its node's name, and
-- the fields of its Stat. If the session may not read the node, the row has
-- only the three fields from the name.

local function learn(row, seen)
  row.token, row.session, row.created = seen.token, seen.session, seen.created
  row.size = seen.size
  row.data = seen.data or seen.size == 0 and "" or nil
end

-- The directories of a lock, below its path. A semaphore's "leases/" contains
-- its permits. Its "locks/" contains the nodes of its gate, a mutex that a
-- client holds while it takes a permit. All other nodes in these two
-- directories are not contenders.
local PLACES = { "", "locks/", "leases/" }

local function belongs(mode, place)
  if place == "leases/" then return mode == "permit" end
  if place == "locks/" then return mode == "mutex" end
  return mode ~= "permit" and mode ~= "hold"
end

-- Adds a row for each contender's name in `names`. Skips contenders whose mode
-- cannot occur in the directory `place`.
local function add_rows(rows, names, place)
  for _, name in ipairs(names or {}) do
    local mode, sequence = core.mode(name)
    if mode and belongs(mode, place) then
      rows[#rows + 1] = { node = place .. name, mode = mode,
        sequence = sequence }
    end
  end
end

-- Calls `request(row)` for each row. If it returns a request, sends the
-- request, and stores the answer in the row. Returns the rows whose nodes still
-- exist. A node that the session may not read counts as existing.
local function ask_of_each(rows, request, ...)
  local requests, asked = {}, {}
  for _, row in ipairs(rows) do
    local of_row = request(row)
    if of_row then
      requests[#requests + 1] = of_row
      asked[row] = #requests
    end
  end
  if #requests == 0 then return rows end
  local found, there = ask(requests, ...), {}
  for _, row in ipairs(rows) do
    local answer = expect(found[asked[row]] or {}, HIDDEN)
    if answer.session then learn(row, answer) end
    if answer.is ~= "missing" then there[#there + 1] = row end
  end
  return there
end

local function look_at(path, rows)
  return ask_of_each(rows, function(row)
    return not row.token and { "exists", path .. "/" .. row.node } or nil
  end)
end

-- Reads the data of nodes with more than `least` and at most `each` bytes.
-- Skips a node whose data would raise the total above `all` bytes.
local function read_some(path, rows, least, each, all)
  local sum = 0
  return ask_of_each(rows, function(row)
    local size = row.size or 0
    if size <= least or size > each or size > all - sum then return nil end
    sum = sum + size
    return { "get", path .. "/" .. row.node, nil, size }
  end, each, all)
end

-- Returns the contenders in the order of the queue, which the C core
-- determines. If `with_data` is true, also reads their data. Contenders for a
-- semaphore's gate are shown with the mode "permit", because they wait for a
-- permit.
local function in_order(path, rows, with_data)
  if with_data then
    rows = read_some(path, core.survey(rows), 0, SMALL, ALL_SMALL)
    local kept = 0
    for _, row in ipairs(rows) do kept = kept + #(row.data or "") end
    rows = read_some(path, rows, SMALL, questions.LARGEST, ALL_LARGE - kept)
  end
  local contenders = core.survey(rows)
  for _, contender in ipairs(contenders) do
    if contender.node:sub(1, 6) == "locks/" then contender.mode = "permit" end
  end
  return contenders
end

local function path_of(path, node)
  return (path .. "/" .. node):match "^(.-)/?$"
end

-- Lists the lock's directories, and reads the Stat of an unfair lock's node.
-- Returns the rows, and whether the path exists. So far, only the row of an
-- unfair lock's node has the fields of its Stat.
local function list_rows(path)
  local looks, lists, listed, rows = {}, {}, {}, {}
  for i, place in ipairs(PLACES) do
    looks[i] = { "exists", path_of(path, place) }
  end
  looks[#looks + 1] = { "exists", path_of(path, UNFAIR) }
  local seen = ask_now(path, looks)
  for i, place in ipairs(PLACES) do
    if not expect(seen[i], MISSING).code then
      listed[#listed + 1] = place
      lists[#lists + 1] = { "list", looks[i][2], nil, seen[i].children }
    end
  end
  local holder = expect(seen[#seen], HIDDEN)
  if holder.is ~= "missing" then
    rows[1] = { node = UNFAIR, mode = "unfair", sequence = 0 }
    if holder.session then learn(rows[1], holder) end
  end
  if #lists == 0 then return rows, false end
  for i, list in ipairs(ask(lists)) do
    add_rows(rows, expect(list, MISSING).names, listed[i])
  end
  return rows, listed[1] == ""
end

-- Returns the contenders for a path, in order, and whether the path exists.
local function survey(path, with_data)
  local rows, exists = list_rows(path)
  return in_order(path, look_at(path, rows), with_data), exists
end

-- Returns a list with the first row whose node still exists, or an empty list.
-- A node that no session owns does not lead, but no contender behind it can
-- lead either.
local function find_first(path, rows)
  for _, row in ipairs(rows) do
    local there = look_at(path, { row })
    if there[1] then return there end
  end
  return {}
end

-- Returns a list with the first contender of a mode. If the sequence numbers do
-- not show which contender is first, the list has all contenders of the mode.
-- Also returns the number of contenders of all modes, or false if the path does
-- not exist.
local function head(path, mode)
  local seen = expect(ask_now(path, { { "exists", path } })[1], MISSING)
  if seen.code then return {}, false end
  local list = expect(ask { { "list", path, nil, seen.children } }[1], MISSING)
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
  rows = (ordered and find_first or look_at)(path, rows)
  return in_order(path, rows, true), count
end

-- Contenders as users see them.

-- The modes whose name in the C core differs from the name that users see.
local public_modes = { ["kazoo-lock"] = "mutex", ["kazoo-read"] = "read",
  latch = "mutex" }

-- Turns a row of the C core into a row for users, without internal fields.
-- `size` stays only if the data was not read.
local function show(contender)
  contender.mode = public_modes[contender.mode] or contender.mode
  if contender.data then
    contender.data, contender.size = core.own_data(contender.data), nil
  end
  if contender.mode == "unfair" then contender.sequence = nil end
  return contender
end

--- Returns the contenders for a path, in order, and whether the path exists.
function surveys.contenders(engine, path)
  local contenders, exists, code = questions.query(engine, "who contends for",
    survey, path, true)
  if not contenders then return nil, exists, code end
  for _, contender in ipairs(contenders) do show(contender) end
  return contenders, exists
end

--- Returns the holders of a path. With `modes`, returns only those of one of
-- these modes, with their data. Without it, returns all holders, without data.
function surveys.holders(engine, path, modes)
  local contenders, message, code = questions.query(engine, "who holds",
    survey, path, modes ~= nil)
  if not contenders then return nil, message, code end
  local holders = {}
  for _, contender in ipairs(contenders) do
    if contender.holds and (not modes or modes[contender.mode]) then
      holders[#holders + 1] = show(contender)
    end
  end
  return holders
end

--- Finds the leader: the first of the `contenders` that holds the lock and has
-- one of these modes. Returns the leader as users see it, and the name of its
-- node. Returns false if there is no leader.
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

--- Asks a server for the leader. Returns `{ data=, size=, token=, session=,
-- since= }`; nil if there is no leader; or nil, message, code on failure.
-- `modes`: a set whose only member is the mode of the candidates' nodes.
function surveys.leader(engine, path, modes)
  local contenders, message, code = questions.query(engine, "who leads", head,
    path, (next(modes)))
  if not contenders then return nil, message, code end
  return surveys.leader_of(contenders, modes) or nil
end

--- Asks a server for the leader, without suspending the caller. `callback` gets
-- the contenders for `leader_of`, and the number of contenders of all modes at
-- the path. The number is false if the path does not exist. If the query fails,
-- `callback` gets nil, code and reason.
function surveys.begin_leader(engine, scope, path, modes, callback)
  return questions.begin(engine, scope, callback, head, path, (next(modes)))
end

return surveys
