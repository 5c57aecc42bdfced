--- Rows: formats the contenders of a path, for people and for programs.
local await = require "zklock.cli.await"
local load = require "zklock.cli.load"
local plain = require "zklock.plain"
local quote = require "zklock.quote"

local rows = {}

--- Adds `path` and `place` to the contenders; place 1 is the head of the queue.
function rows.number(path, contenders)
  for place, row in ipairs(contenders) do
    row.path, row.place = path, place
  end
  return contenders
end

--- Returns the state of a row:
--   "holds", "waits"  a contender of a lock
--   "present"         a member of a double barrier, for which no session waits
--   "unowned"         a node that no session owns, which blocks the lock until
--                     it is deleted
--   "done"            no contender, but the record of the last run under
--                     --once-per
function rows.state(row)
  if row.done then return "done" end
  if row.session == "0x0" then return "unowned" end
  if row.mode == "member" then return "present" end
  return row.holds and "holds" or "waits"
end

--- Estimates the servers' time of day, in seconds since 1970.
--
-- The field `created` is a time of the leader's clock, but no read returns the
-- leader's current time. The leader's clock cannot be behind the newest
-- `created`. So returns the later of two times: the newest `created`, and this
-- machine's time. The estimate serves only to show ages to people, such as
-- "2h05m". Its error is at most the difference of the two clocks, and the same
-- for all rows. No lock depends on it.
function rows.servers_time(contenders)
  local now = await.time_of_day()
  for _, row in ipairs(contenders) do
    if row.created and row.created > now then now = row.created end
  end
  return now
end

local units = { { "d", 86400 }, { "h", 3600 }, { "m", 60 }, { "s", 1 } }

--- Formats seconds with two units at most: `4d03h`, `2h05m`, `12m40s`, `9s`.
function rows.duration(seconds)
  seconds = math.floor(math.max(seconds, 0))
  for i, unit in ipairs(units) do
    local less = units[i + 1]
    if seconds >= unit[2] or not less then
      local rest = less and seconds % unit[2] / less[2]
      return ("%d%s"):format(math.floor(seconds / unit[2]), unit[1])
        .. (rest and ("%02d%s"):format(math.floor(rest), less[1]) or "")
    end
  end
end

--- If this session may not read a node, a table shows this text for its
-- session, token, age and data.
rows.UNKNOWN = "?"
-- In the row of a job's last run, a table shows this text for each field that
-- only contenders have.
local NONE = "-"

local function field(row, name)
  return row[name] or row.done and NONE or rows.UNKNOWN
end

function rows.place(row)
  return row.place and ("%d"):format(row.place) or NONE
end

function rows.session(row) return field(row, "session") end
function rows.token(row) return field(row, "token") end

function rows.age(row, now)
  local since = row.created or row.done
  if not since then return rows.UNKNOWN end
  return (since > now + 1 and "-" or "") .. rows.duration(math.abs(now - since))
end

local none = {}

function rows.node(row) return plain.show(row.node, none) end

-- The maximum number of bytes of a node's data that a table shows.
local MOST = 1000

--- Returns the data in quotation marks, because untrusted data must not look
-- like zklock's own output.
function rows.data(row)
  if row.data then return quote(row.data:sub(1, MOST), #row.data > MOST) end
  return row.size and ("(%d bytes)"):format(row.size) or rows.UNKNOWN
end

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  .. "0123456789+/"

local function base64(bytes)
  local filled = ("\0"):rep(-#bytes % 3)
  return ((bytes .. filled):gsub("...", function(three)
    local a, b, c = three:byte(1, 3)
    local number, digits = a * 65536 + b * 256 + c, {}
    for i = 4, 1, -1 do
      local digit = number % 64
      digits[i], number = alphabet:sub(digit + 1, digit + 1),
        (number - digit) / 64
    end
    return table.concat(digits)
  end):sub(1, -#filled - 1) .. ("="):rep(#filled))
end

local is_mark = { ["\\"] = true }

-- Returns whether JSON can contain the data as text. It cannot if the data have
-- bytes that plain.show escapes, such as invalid UTF-8 or marks of text
-- direction. Control characters and backslashes are allowed, because JSON
-- escapes them.
local function is_text(data)
  local printable = data:gsub("[%c\127\\]", "")
  return plain.show(printable, is_mark) == printable
end

local order = { "time", "change", "path", "place", "node", "mode", "sequence",
  "token", "holds", "session", "created", "done", "data", "data_base64",
  "size" }

--- Returns one JSON object with the row's fields, always in the same order. If
-- is_text is false for the data, `data_base64` replaces `data`. `more`: further
-- fields, or nil.
function rows.json(row, more)
  local json, object = load "dkjson", {}
  for key, value in pairs(row) do object[key] = value end
  for key, value in pairs(more or none) do object[key] = value end
  if row.data and not is_text(row.data) then
    object.data, object.data_base64 = nil, base64(row.data)
  end
  return json.encode(object, { keyorder = order })
end

return rows
