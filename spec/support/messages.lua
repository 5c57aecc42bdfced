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

local function flag(value) return value and "\1" or "\0" end

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

local function create(r)
  return buffer(r.path) .. data(r.data) .. acl(r.acl) .. int(r.flags or 0)
end
local function path_and_watch(r) return buffer(r.path) .. flag(r.watch) end
local function path_and_version(r)
  return buffer(r.path) .. int(r.version or -1)
end

local encode = {
  create = create, create2 = create, create_container = create,
  create_ttl = function(r) return create(r) .. long(r.ttl) end,
  delete = path_and_version, check = path_and_version,
  exists = path_and_watch, get = path_and_watch, children = path_and_watch,
  children2 = path_and_watch,
  set = function(r)
    return buffer(r.path) .. data(r.data) .. int(r.version or -1)
  end,
  get_acl = function(r) return buffer(r.path) end,
  sync = function(r) return buffer(r.path) end,
  set_acl = function(r)
    return buffer(r.path) .. acl(r.acl) .. int(r.version or -1)
  end,
  remove_watches = function(r) return buffer(r.path) .. int(r.flags) end,
  auth = function(r) return int(0) .. buffer(r.scheme) .. data(r.data) end,
  set_watches = function(r)
    return long(r.seen) .. strings(r.data_watches) .. strings(r.exist_watches)
      .. strings(r.child_watches)
  end,
}
function encode.multi(r)
  local parts = {}
  for _, part in ipairs(r.parts) do
    parts[#parts + 1] = int(NUMBERS[part.op]) .. "\0" .. int(-1)
      .. encode[part.op](part)
  end
  return table.concat(parts) .. int(-1) .. "\1" .. int(-1)
end

--- What travels in a frame.
function messages.request(r)
  local payload = encode[r.op]
  return int(r.xid) .. int(NUMBERS[r.op]) .. (payload and payload(r) or "")
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

local function reads_path(reply, text, at)
  reply.path, at = read_text(text, at)
  return at
end
local function reads_stat(reply, text, at)
  reply.stat, at = read_stat(text, at)
  return at
end
local function reads_both(reply, text, at)
  return reads_stat(reply, text, reads_path(reply, text, at))
end
local function reads_names(reply, text, at)
  reply.names, at = read_list(text, at, read_text)
  return at
end

local decode = {
  create = reads_path, create2 = reads_both, create_container = reads_both,
  create_ttl = reads_both, exists = reads_stat, set = reads_stat,
  set_acl = reads_stat, sync = reads_path, children = reads_names,
  get = function(reply, text, at)
    reply.data, at = read_text(text, at)
    return reads_stat(reply, text, at)
  end,
  get_acl = function(reply, text, at)
    reply.acl, at = read_list(text, at, read_entry)
    return reads_stat(reply, text, at)
  end,
  children2 = function(reply, text, at)
    return reads_stat(reply, text, reads_names(reply, text, at))
  end,
  who_am_i = function(reply, text, at)
    reply.acl, at = read_list(text, at, read_user)
    return at
  end,
}
function decode.multi(reply, text, at)
  reply.parts = {}
  while text:byte(at + 4) == 0 do
    local part = { op = NAMES[read_int(text, at)] }
    at = at + 9
    if part.op then
      part.rc = 0
      if decode[part.op] then at = decode[part.op](part, text, at) end
    else
      part.rc, at = read_int(text, at), at + 4
    end
    reply.parts[#reply.parts + 1] = part
  end
  return at
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
  if reply.rc == 0 and decode[reply.op] and #text > 16 then
    decode[reply.op](reply, text, 17)
  end
  return reply
end

--- The answer to messages.hello.
function messages.read_session(text)
  return { kind = "connected", timeout = read_int(text, 5),
    id = read_id(text, 9), password = (read_text(text, 17)) }
end

return messages
