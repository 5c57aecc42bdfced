--- The process behind support.proxy: accepts clients, connects each to a
-- server, and passes on what they say to each other, or does not.  It speaks
-- with the spec as every child does: `require "support.wire"(hosts)` in one.
-- luacheck: globals say hear parent_socket
local frames = require "support.frame"
local socket = require "socket"

local now, number = socket.gettime, frames.read_unsigned
local servers, next_server = {}, 0
local listener = assert(socket.bind("127.0.0.1", 0))

-- What heal() ends, and what waits for its moment.
local weather, traps = { delay = 0 }, {}
-- socket → its end of a connection: `peer`, a socket; what it has said of a
-- frame that is not whole; what it is to be told, and when.
local ends = {}

local function cut(condition)
  for s, this in pairs(ends) do
    if not condition or condition(this) then
      ends[s] = nil
      s:close()
      if this.peer then
        ends[this.peer] = nil
        this.peer:close()
      end
    end
  end
end

local function connect_to_server()
  for _ = 1, #servers do
    next_server = next_server % #servers + 1
    local host, port = servers[next_server]:match "([%w%.]+):(%d+)"
    local server = socket.connect(host, tonumber(port))
    if server then return server end
  end
end

local function accept()
  local client = listener:accept()
  local server = client and not weather.refusing and connect_to_server()
  if not server then
    if client then client:close() end
    return
  end
  local kinds = {}
  for s, peer in pairs { [client] = server, [server] = client } do
    s:setoption("tcp-nodelay", true)
    s:settimeout(0)
    ends[s] = { peer = peer, is_server = s == server, kinds = kinds, said = "",
      out = {} }
  end
end

local EVENT = -1

local function is_event(this, frame)
  return this.is_server and this.greeted and #frame >= 12
    and frames.read_int(frame, 5) == EVENT
end

-- `text` for the other end of `this`; nil: the end of it.
local function pass_on(this, text)
  local other = this.peer and ends[this.peer]
  if not other then return end
  if text and weather.mute and is_event(this, text) then return end
  if text and weather.dropped == (this.is_server and "replies" or "requests")
  then
    this.broken = true -- bytes are missing: nothing sensible can follow
  else
    table.insert(other.out, { text = text, due = now() + weather.delay })
  end
end

-- A multi is told by its first operation: 1400 and the number of that; one that
-- checks a node first by the second, too: 141300 and the number of that.
local MULTI, CHECK, NO_OPERATION = 14, 13, 4294967295
local function kind_asked(frame)
  local kind = number(frame, 9)
  if kind ~= MULTI then return kind end
  local first = number(frame, 13)
  local second = first == CHECK and number(frame, 30 + number(frame, 22))
  if not second or second == NO_OPERATION then return 100 * MULTI + first end
  return 10000 * MULTI + 100 * CHECK + second
end

-- The kind of request that this frame of a server's answers.
local function kind_of(this, frame)
  if this.is_server and not this.greeted or #frame < 12 then
    this.greeted = true
    return nil
  end
  local xid = number(frame, 5)
  if not this.is_server then
    if this.greeted then this.kinds[xid] = kind_asked(frame) end
    this.greeted = true
    return nil
  end
  local kind = this.kinds[xid]
  this.kinds[xid] = nil
  return kind
end

-- A request that is late: no server has read it yet.
local late = { xid = 1500000000, frame = false }

local function keep(this, frame)
  if this.is_server or not this.greeted or #frame < 12 then return false end
  if not (traps.late and traps.late[kind_asked(frame)]) then return false end
  traps.late = nil
  late.frame = frame:sub(1, 4) .. frames.int(late.xid) .. frame:sub(9)
  cut()
  say "kept"
  return true
end

-- True: that was the end of the connection.
local function handle(this, frame)
  if keep(this, frame) then return true end
  if this.is_server and this.greeted and #frame >= 12
      and number(frame, 5) == late.xid then
    say "applied" -- or refused
    return false
  end
  local kind = kind_of(this, frame)
  if kind and kind == traps.lost then
    traps.lost, weather.refusing = nil, true
    cut()
    say "lost"
    return true
  end
  pass_on(this, frame)
  if kind and kind == traps.last then
    traps.last = nil
    pass_on(this, nil)
    say "cut"
    return true
  end
end

local function read(s)
  local this = ends[s]
  if not this then return end
  local data, problem, part = s:receive(65536)
  this.said = this.said .. (data or part or "")
  local frame, rest = frames.split(this.said)
  while frame do
    this.said = rest
    if handle(this, frame) then return end
    frame, rest = frames.split(rest)
  end
  if problem == "closed" then
    ends[s] = nil
    s:close()
    pass_on(this, nil)
  end
end

-- Of `text` what may go before the connection breaks, and whether it does.
local function up_to_the_cut(this, text)
  local left = traps.left
  if not left or this.is_server then return text, false end
  traps.left = left - #text
  if traps.left > 0 then return text, false end
  traps.left = nil
  return text:sub(1, left), true
end

local function write(s)
  local this = ends[s]
  local head = this and this.out[1]
  if not head then return end
  if not head.text then
    ends[s] = nil
    s:close()
    if this.peer and ends[this.peer] then
      ends[this.peer] = nil
      this.peer:close()
    end
    return
  end
  local text, is_last = up_to_the_cut(this, head.text)
  local sent, _, partly = s:send(text)
  if is_last then
    cut(function(one) return one == this end)
    say "cut"
  elseif sent then
    table.remove(this.out, 1)
  else
    head.text = head.text:sub((partly or 0) + 1)
  end
end

local commands = {
  cut = function() cut() end,
  refuse = function() weather.refusing = true cut() end,
  freeze = function() weather.frozen = true end,
  delay = function(seconds) weather.delay = tonumber(seconds) end,
  drop = function(what) weather.dropped = what end,
  mute_events = function() weather.mute = true end,
  lose = function(kind) traps.lost = tonumber(kind) end,
  cut_after_reply = function(kind) traps.last = tonumber(kind) end,
  cut_after = function(bytes) traps.left = tonumber(bytes) end,
  -- Nobody is there any more, and somebody elsewhere, at the same port.
  move = function(address)
    local _, port = listener:getsockname()
    local new = socket.bind(address, port)
    if new then
      listener:close()
      listener = new
      cut()
    end
    say(new and "moved" or "stays")
  end,
  half_open = function()
    for s, this in pairs(ends) do
      if this.is_server then
        ends[s] = nil
        s:close()
        if ends[this.peer] then ends[this.peer].peer = nil end
      end
    end
  end,
  heal = function()
    weather = { delay = 0 }
    cut(function(this) return this.broken end)
  end,
  disarm = function() traps = {} end,
  keep = function(kinds)
    traps.late = {}
    for kind in kinds:gmatch "%d+" do traps.late[tonumber(kind)] = true end
  end,
  -- Through the connection that there is now.
  apply = function()
    for _, this in pairs(ends) do
      if not this.is_server then pass_on(this, late.frame) end
    end
  end,
}

-- What select() is to look at, and for how long.
local function interests()
  local reading, writing, patience = { parent_socket }, {}, nil
  if weather.frozen then return reading, writing, patience end
  reading[2] = listener
  for s, this in pairs(ends) do
    reading[#reading + 1] = s
    local left = this.out[1] and this.out[1].due - now()
    if left and left <= 0 then
      writing[#writing + 1] = s
    elseif left then
      patience = math.min(left, patience or left)
    end
  end
  return reading, writing, patience
end

local function obey()
  local line = hear()
  if not line then os.exit(0) end
  local name, argument = line:match "(%S+) ?(%S*)"
  commands[name](argument)
  say "done"
end

return function(hosts)
  for host in hosts:gmatch "[^,]+" do servers[#servers + 1] = host end
  say((select(2, listener:getsockname())))
  while true do
    local readable, writable = socket.select(interests())
    for _, s in ipairs(writable) do write(s) end
    for _, s in ipairs(readable) do
      if s == parent_socket then
        obey()
      elseif s == listener then
        accept()
      else
        read(s)
      end
    end
  end
end
