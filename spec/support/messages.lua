--- ZooKeeper's requests, replies and events as tables, and on the wire.  The
-- tables are those of src/virtual/lua_messages.h, so that a client of the model
-- and one of a real server can be asked the same.
local frame = require "support.frame"

local int, buffer = frame.int, frame.buffer
local read_int, read_unsigned = frame.read_int, frame.read_unsigned

local messages = {}

local NUMBERS = {
  create = 1, delete = 2, exists = 3, get = 4, set = 5, get_acl = 6,
  set_acl = 7, children = 8, sync = 9, ping = 11, children2 = 12, check = 13,
  multi = 14, create2 = 15, remove_watches = 18, create_container = 19,
  create_ttl = 21, close = -11, auth = 100, set_watches = 101, who_am_i = 107,
}
local NAMES = {}
for name, number in pairs(NUMBERS) do NAMES[number] = name end

local OPEN = { { perms = 31, scheme = "world", id = "anyone" } }

-- Requests.

local function long(text)
  local number = tonumber(text or 0)
  return int(math.floor(number / 4294967296)) .. int(number % 4294967296)
end

local function data(value)
  if value == false then return int(-1) end
  return buffer(value or "")
end

local function acl(list)
  local parts = { int(#(list or OPEN)) }
  for _, entry in ipairs(list or OPEN) do
    parts[#parts + 1] = int(entry.perms) .. buffer(entry.scheme)
      .. buffer(entry.id)
  end
  return table.concat(parts)
end

local function strings(list)
  local parts = { int(#(list or {})) }
  for _, text in ipairs(list or {}) do parts[#parts + 1] = buffer(text) end
  return table.concat(parts)
end

local write = {
  path = buffer, scheme = buffer, data = data, acl = acl, ttl = long,
  seen = long, data_watches = strings, exist_watches = strings,
  child_watches = strings,
  type = function() return int(0) end, -- of auth
  flags = function(value) return int(value or 0) end,
  version = function(value) return int(value or -1) end,
  watch = function(value) return value and "\1" or "\0" end,
}

-- The fields of requests, in order.
local REQUESTS = {
  create = "path data acl flags", create2 = "path data acl flags",
  create_container = "path data acl flags",
  create_ttl = "path data acl flags ttl",
  delete = "path version", check = "path version", exists = "path watch",
  get = "path watch", children = "path watch", children2 = "path watch",
  set = "path data version", get_acl = "path", sync = "path",
  set_acl = "path acl version", remove_watches = "path flags",
  auth = "type scheme data",
  set_watches = "seen data_watches exist_watches child_watches",
}

local function encode(r)
  local parts = {}
  for name in (REQUESTS[r.op] or ""):gmatch "%S+" do
    parts[#parts + 1] = write[name](r[name])
  end
  for _, part in ipairs(r.parts or {}) do
    parts[#parts + 1] = int(NUMBERS[part.op]) .. "\0" .. int(-1)
      .. encode(part)
  end
  return table.concat(parts)
    .. (r.op == "multi" and int(-1) .. "\1" .. int(-1) or "")
end

--- What travels in a frame.
function messages.request(r)
  return int(r.xid) .. int(NUMBERS[r.op]) .. encode(r)
end

--- A connection begins with it: `options`: timeout (in milliseconds), session,
-- password, seen.
function messages.hello(options)
  local id = ("0"):rep(16) .. (options.session or ""):gsub("^0x", "")
  local bytes = id:sub(-16):gsub("%x%x", function(pair)
    return string.char(tonumber(pair, 16))
  end)
  return int(0) .. long(options.seen) .. int(options.timeout or 30000) .. bytes
    .. buffer(options.password or ("\0"):rep(16)) .. "\0"
end

-- Replies.  A reader takes a text and a position, and returns what it has read
-- and the position behind it.

local function read_text(text, at)
  local size = read_int(text, at)
  if size < 0 then return nil, at + 4 end
  return text:sub(at + 4, at + 3 + size), at + 4 + size
end

-- (A number of a test server's zxids is exact in a double.)
local function read_long(text, at)
  return read_int(text, at) * 4294967296 + read_unsigned(text, at + 4)
end

local function read_zxid(text, at)
  return ("%019.0f"):format(read_long(text, at))
end

local function read_id(text, at)
  local digits = text:sub(at, at + 7):gsub(".", function(c)
    return ("%02x"):format(c:byte())
  end)
  return "0x" .. digits:gsub("^0+", "")
end

local STAT = 68
local function read_stat(text, at)
  return {
    czxid = read_zxid(text, at), mzxid = read_zxid(text, at + 8),
    ctime = read_long(text, at + 16), mtime = read_long(text, at + 24),
    version = read_int(text, at + 32), cversion = read_int(text, at + 36),
    aversion = read_int(text, at + 40), owner = read_id(text, at + 44),
    size = read_int(text, at + 52), children = read_int(text, at + 56),
    pzxid = read_zxid(text, at + 60),
  }, at + STAT
end

local function read_list(text, at, read)
  local list, count = {}, read_int(text, at)
  at = at + 4
  for i = 1, count do list[i], at = read(text, at) end
  return list, at
end

local function read_entry(text, at)
  local entry = { perms = read_int(text, at) }
  entry.scheme, at = read_text(text, at + 4)
  entry.id, at = read_text(text, at)
  return entry, at
end

local function read_user(text, at)
  local entry = { perms = 0 }
  entry.scheme, at = read_text(text, at)
  entry.id, at = read_text(text, at)
  return entry, at
end

local read = {
  path = read_text, data = read_text, stat = read_stat,
  names = function(text, at) return read_list(text, at, read_text) end,
  acl = function(text, at) return read_list(text, at, read_entry) end,
  users = function(text, at) return read_list(text, at, read_user) end,
}

-- The fields of replies, in order.
local REPLIES = {
  create = "path", create2 = "path stat", create_container = "path stat",
  create_ttl = "path stat", exists = "stat", set = "stat", set_acl = "stat",
  sync = "path", children = "names", children2 = "names stat",
  get = "data stat", get_acl = "acl stat", who_am_i = "users",
}

local function decode(reply, text, at)
  for name in (REPLIES[reply.op] or ""):gmatch "%S+" do
    reply[name == "users" and "acl" or name], at = read[name](text, at)
  end
  return at
end

local function decode_parts(reply, text, at)
  reply.parts = {}
  while text:byte(at + 4) == 0 do
    local part = { op = NAMES[read_int(text, at)] }
    at = at + 9
    if part.op then
      part.rc = 0
      at = decode(part, text, at)
    else
      part.rc, at = read_int(text, at), at + 4
    end
    reply.parts[#reply.parts + 1] = part
  end
end

local EVENTS = { "created", "deleted", "changed", "children" }

--- What a frame of a server says.  `op_of(xid)`: what was asked.
function messages.read(text, op_of)
  local xid = read_int(text, 1)
  if xid == -1 then
    return { kind = "event", type = EVENTS[read_int(text, 17)],
      path = (read_text(text, 25)), zxid = read_zxid(text, 5) }
  end
  local reply = { kind = "reply", xid = xid, op = op_of(xid),
    zxid = read_zxid(text, 5), rc = read_int(text, 13) }
  if reply.rc == 0 and #text > 16 then
    local read_body = reply.op == "multi" and decode_parts or decode
    read_body(reply, text, 17)
  end
  return reply
end

--- The answer to messages.hello.
function messages.read_session(text)
  return { kind = "connected", timeout = read_int(text, 5),
    id = read_id(text, 9), password = (read_text(text, 17)) }
end

return messages
