--- JSON: the content of the operators' page, for programs.  It uses the library
-- that is installed: OpenResty has cjson, Debian lua-cjson and lua-dkjson.
local Meters = require "zklock.meters"
local plain = require "zklock.plain"
local tally = require "zklock.tally"

local json = {}

-- Marks an empty list, which cjson would write as an object.  No text of a
-- report can equal it.
local NOTHING = "\0"

local function list_of(from, make)
  local list = {}
  for i, item in ipairs(from) do list[i] = make(item) end
  if not list[1] then list[1] = NOTHING end
  return list
end

local function object(fields)
  return setmetatable(fields, { __jsontype = "object" }) -- for dkjson
end

-- Copies texts, made plain, and finite numbers.
local function scalars(from)
  local to = {}
  for key, value in pairs(from) do
    if type(value) == "string" then
      to[key] = plain.text(value)
    elseif type(value) == "boolean"
        or type(value) == "number" and value - value == 0 then
      to[key] = value
    end
  end
  return object(to)
end

local function histogram(of)
  return { count = tally.count(of), sum = of.sum,
    buckets = { unpack(of, 1, #Meters.bounds + 1) } }
end

local function of_lock(lock)
  return { path = plain.text(lock.path), mode = lock.mode,
    waits = histogram(lock.waits), holds = histogram(lock.holds),
    refusals = scalars(lock.refusals), losses = scalars(lock.losses) }
end

local function of_session(session)
  local to = scalars(session)
  to.counters = scalars(session.counters)
  to.counters.internal = scalars(session.counters.internal)
  to.locks = list_of(session.locks, of_lock)
  for _, name in ipairs { "holds", "waits", "holding", "waiting" } do
    to[name] = list_of(session[name], scalars)
  end
  return to
end

-- Long lists are written item by item.  Meanwhile this stands for them; no
-- text of a report can equal it.
local LIST = "\1"

-- `texts`: the items of the list.
local function encode_with(encode, fields, texts)
  local text = encode(fields)
  local first, last = text:find('"\\u0001"', 1, true)
  return text:sub(1, first - 1) .. "[" .. table.concat(texts, ",") .. "]"
    .. text:sub(last + 1)
end

local function encode_worker(encode, report, pause)
  local to, texts = scalars(report), {}
  for i, session in ipairs(report.sessions) do
    texts[i] = encode(of_session(session))
    pause()
  end
  to.sessions = LIST
  return encode_with(encode, to, texts)
end

local function of_queue(queue)
  local to = scalars(queue)
  to.contenders = list_of(queue.contenders, scalars)
  return to
end

-- Returns a separate instance of cjson each time.  The user's settings (sparse
-- lists, digits of numbers) do not apply to it, and it reads the decimal mark
-- of the present locale.
local function encoder()
  for _, name in ipairs { "cjson", "dkjson" } do
    local ok, library = pcall(require, name)
    if ok then return (library.new and library.new() or library).encode end
  end
end

--- Returns the JSON text of `all`, as of page.text; nil and a message if there
-- is no library.
function json.text(all)
  local encode = encoder()
  if not encode then
    return nil, "there is no library for JSON: install lua-cjson (OpenResty "
      .. "brings it) or lua-dkjson"
  end
  local workers = {}
  for i, report in ipairs(all.reports) do
    workers[i] = encode_worker(encode, report, all.pause)
  end
  local text = encode_with(encode, {
    time = all.time,
    complete = all.is_shared,
    bounds = { unpack(Meters.bounds) },
    workers = LIST,
    queues = all.queues and list_of(all.queues.list, of_queue) or nil,
  }, workers)
  return (text:gsub('"\\u0000"', ""))
end

return json
