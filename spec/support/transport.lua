--- A connection to a real server, message by message (support.messages).  The
-- model's has the same functions (support.model).
local frame = require "support.frame"
local messages = require "support.messages"
local socket = require "socket"

local Connection = {}
Connection.__index = Connection

local function receive_frame(self)
  local head, problem = self.socket:receive(4)
  if not head then return nil, problem end
  return self.socket:receive(frame.read_int(head, 1))
end

--- Connects to `host` ("ip:port").  `options`: of messages.hello, and
-- `patience`: how long to wait for anything, in seconds.  The connection
-- has a `session`, whose timeout is 0 if it was refused.
local function open(host, options)
  local ip, port = host:match "([%w%.]+):(%d+)"
  local self = setmetatable({ socket = assert(socket.tcp()), ops = {},
    xid = 0 }, Connection)
  self.socket:settimeout(options.patience or 30)
  assert(self.socket:connect(ip, tonumber(port)))
  self.socket:setoption("tcp-nodelay", true)
  assert(self.socket:send(frame.buffer(messages.hello(options))))
  self.session = messages.read_session(assert(receive_frame(self)))
  return self
end

-- Those that servers know without having counted them.
local XIDS = { ping = -2, auth = -4 }

--- Its xid; nil: the connection has broken.
function Connection:send(request)
  request.xid = XIDS[request.op]
  if not request.xid then
    self.xid = self.xid + 1
    request.xid = self.xid
  end
  self.ops[request.xid] = request.op
  local sent = self.socket:send(frame.buffer(messages.request(request)))
  return sent and request.xid
end

--- The next reply or event; the connection's end: { kind = "ended" }.
function Connection:receive()
  local text, problem = receive_frame(self)
  if text then
    return messages.read(text, function(xid) return self.ops[xid] end)
  end
  assert(problem == "closed", problem)
  return { kind = "ended" }
end

--- Returns when the server has closed the connection, too: until then it would
-- take a later connection of the session out of its table by mistake
-- (ServerCnxnFactory.removeCnxnFromSessionMap), and never close that one.
function Connection:hang_up()
  self.socket:shutdown "send"
  self.socket:receive "*a"
  self.socket:close()
end

return { open = open }
