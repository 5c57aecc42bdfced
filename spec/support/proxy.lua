--- A wire between client and server that a spec can cut.  It is a process of
-- its own; `proxy.hosts` is where clients connect.
local child = require "support.child"
local support = require "support"

local Proxy = {}
Proxy.__index = Proxy

local CODE = [[
local socket = require "socket"
local host, port = (...):match("([%w%.]+):(%d+)")
local listener = assert(socket.bind("127.0.0.1", 0))
local refusing, frozen, wanted = false, false, nil
local pairs_of = {} -- socket → its end: { peer =, buffer =, kinds =, server = }

local function number(text, at)
  local a, b, c, d = text:byte(at, at + 3)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

local function cut()
  for s in pairs(pairs_of) do s:close() end
  pairs_of = {}
end

local function accept()
  local client = listener:accept()
  if not client then return end
  if refusing then client:close() return end
  local server = socket.connect(host, tonumber(port))
  if not server then client:close() return end
  local kinds = {}
  for s, peer in pairs { [client] = server, [server] = client } do
    s:setoption("tcp-nodelay", true)
    pairs_of[s] = { peer = peer, buffer = "", kinds = kinds,
      server = s == server, first = true }
  end
end

-- True: it was the reply that is to be lost.
local function is_wanted(from, frame)
  if from.first then from.first = false return false end
  local xid = number(frame, 5)
  if not from.server then
    from.kinds[xid] = number(frame, 9)
    return false
  end
  local kind = from.kinds[xid]
  from.kinds[xid] = nil
  return wanted ~= nil and kind == wanted
end

local function forward(s)
  local from = pairs_of[s]
  if not from then return end
  s:settimeout(0)
  local data, problem, part = s:receive(65536)
  from.buffer = from.buffer .. (data or part or "")
  while #from.buffer >= 4 do
    local size = number(from.buffer, 1) + 4
    if #from.buffer < size then break end
    local frame = from.buffer:sub(1, size)
    from.buffer = from.buffer:sub(size + 1)
    if is_wanted(from, frame) then
      wanted, refusing = nil, true
      cut()
      say "lost"
      return
    end
    from.peer:settimeout(10)
    from.peer:send(frame)
  end
  if problem == "closed" then
    pairs_of[from.peer] = nil
    pairs_of[s] = nil
    from.peer:close()
    s:close()
  end
end

local commands = {
  cut = cut,
  refuse = function() refusing = true cut() end,
  heal = function() refusing, frozen = false, false end,
  freeze = function() frozen = true end,
  lose = function(kind) wanted = tonumber(kind) end,
}

say((select(2, listener:getsockname())))
while true do
  local sources = { parent_socket }
  if not frozen then
    sources[2] = listener
    for s in pairs(pairs_of) do sources[#sources + 1] = s end
  end
  for _, s in ipairs((socket.select(sources))) do
    if s == parent_socket then
      local line = hear()
      if not line then os.exit(0) end
      local name, argument = line:match("(%S+) ?(%S*)")
      commands[name](argument)
      say "done"
    elseif s == listener then
      accept()
    else
      forward(s)
    end
  end
end
]]

local function start(hosts)
  local self = setmetatable({}, Proxy)
  self.process = child.spawn(CODE, hosts or support.hosts)
  self.hosts = "127.0.0.1:" .. self.process:hear()
  return self
end

local function command(self, line)
  self.process:say(line)
  self.process:expect "done"
end

--- Breaks the connections; new ones are welcome.
function Proxy:cut() command(self, "cut") end
--- Breaks the connections and refuses new ones, until heal().
function Proxy:refuse() command(self, "refuse") end
--- Nothing passes and nothing breaks, until heal().
function Proxy:freeze() command(self, "freeze") end
function Proxy:heal() command(self, "heal") end

local kinds = { create = 15, delete = 2, list = 8, get = 4 }

--- The next reply to a request of this kind is lost, and with it the
-- connection; until heal().
function Proxy:lose_reply(kind) command(self, "lose " .. kinds[kind]) end
function Proxy:await_loss() self.process:expect "lost" end

return { start = start }
