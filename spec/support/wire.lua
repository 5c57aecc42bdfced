--- The process behind support.hostile and support.proxy: accepts clients,
-- connects each to a server, and passes on what they say to each other, but as
-- its manners, its traps and the lies of support.lies have it.
-- luacheck: globals say hear parent_socket
local frames = require "support.frame"
local lies = require "support.lies"
local now = require "zklock.core".now
local socket = require "socket"

local AUTH_XID, EVENT_XID = -4, -1
local AUTH = 100
local AUTH_FAILED = -115
local int, buffer = frames.int, frames.buffer
local number, read_int = frames.read_unsigned, frames.read_int

local servers, next_server = {}, 0
local places = {} -- { listener =, manners =, traps =, events = }, each
local by_listener = {}
-- socket → its end of a link: { link =, is_server =, said =, out = }.  A link:
-- { place =, client =, server =, has_frames =, greeted =, answered =,
-- asked = {} }.
local ends = {}

local function note(place, what)
  table.insert(place.events, ("%.6f %s"):format(now(), what))
end

local function close_end(s)
  if s and ends[s] then
    ends[s] = nil
    s:close()
  end
end

local function cut(link)
  close_end(link.client)
  close_end(link.server)
  link.over = true
end

-- Those of place `i` (0: of all) for which `condition` holds.
local function cut_all(i, condition)
  local doomed = {}
  for _, this in pairs(ends) do
    local link = this.link
    if (i == 0 or link.place == places[i])
        and (not condition or condition(link)) then
      doomed[#doomed + 1] = link
    end
  end
  for _, link in ipairs(doomed) do cut(link) end
end

-- True as often as the manners have it.
local function happens(place, what)
  local n = place.manners[what]
  if not n or n == 0 then return false end
  if n ~= "always" then place.manners[what] = n - 1 end
  return true
end

-- Without `text`: the end.
local function tell(s, text, delay)
  if s and ends[s] then
    table.insert(ends[s].out, { text = text, due = now() + (delay or 0) })
  end
end

-- After what it has been told.
local function leave_client(link)
  tell(link.client, nil)
  close_end(link.server)
end

local function open_end(link, s, is_server)
  s:settimeout(0)
  s:setoption("tcp-nodelay", true)
  ends[s] = { link = link, is_server = is_server, said = "", out = {} }
  return s
end

-- The next one that accepts.
local function connect_to_server()
  for _ = 1, #servers do
    next_server = next_server % #servers + 1
    local ip, port = servers[next_server]:match "([%w%.]+):(%d+)"
    local server = socket.connect(ip, tonumber(port))
    if server then return server end
  end
end

local function accept(place)
  local client = place.listener:accept()
  if not client then return end
  note(place, "connection")
  local kind = place.manners.kind
  local link = { place = place, client = client, asked = {},
    has_frames = kind ~= "bytes" }
  open_end(link, client, false)
  if kind == "close" or place.manners.refuse then return cut(link) end
  if kind ~= "pass" and kind ~= "bytes" then return end
  link.server = connect_to_server()
  if not link.server then return cut(link) end
  open_end(link, link.server, true)
end

-- Lies: what support.lies has in the place of `h`, the truth: bytes, seconds to
-- wait, "close" or "silence"; true if there is a lie.
local function lie_about(link, h)
  local place = link.place
  local lie = lies.list[place.manners.lie]
  if not lie or lie.on ~= h.kind and lie.on ~= "any" then return false end
  place.seen = (place.seen or 0) + 1
  local n = place.seen
  if n > (lie.times or math.huge) then return false end
  local delay = 0
  for _, piece in ipairs { lie.tell(h, n) } do
    if type(piece) == "number" then
      delay = delay + piece
    elseif piece == "close" then
      tell(link.client, nil, delay)
    elseif piece == "silence" then
      link.mute = true
    else
      tell(link.client, piece, delay)
    end
  end
  return true
end

-- What the client says.  A connect request: its timeout stands at byte 17, its
-- session at 21.

local function greet(link, frame)
  local place, manners = link.place, link.place.manners
  link.greeted = true
  if frame:sub(21, 28) ~= ("\0"):rep(8) then note(place, "return") end
  if link.server then
    if manners.asks then
      frame = frame:sub(1, 16) .. int(manners.asks * 1000) .. frame:sub(21)
    end
    tell(link.server, frame, manners.delay_all)
  end
end

local function refuse_auth(link)
  tell(link.client, buffer(int(AUTH_XID) .. int(0) .. int(0)
    .. int(AUTH_FAILED)))
  leave_client(link)
end

local function note_request(link, frame)
  local kind = number(frame, 9)
  link.asked[number(frame, 5)] = { kind = kind,
    path = #frame > 16 and frame:sub(17, 16 + number(frame, 13)) }
end

local function hear_client(link, frame)
  if not link.greeted then return greet(link, frame) end
  local place, manners = link.place, link.place.manners
  local is_auth = #frame >= 12 and read_int(frame, 9) == AUTH
  note(place, is_auth and "auth" or "request")
  if manners ~= link.manners then link.manners, link.requests = manners, 0 end
  link.requests = link.requests + 1
  if link.requests == manners.drop_at then return cut(link) end
  if is_auth and link.server and happens(place, "refuse_auth") then
    return refuse_auth(link)
  end
  if #frame >= 12 then note_request(link, frame) end
  if not link.server or manners.drop == "requests" then
    link.broken = manners.drop
    return
  end
  tell(link.server, frame, manners.delay_all)
end

-- What the server says.  A connect reply: its timeout stands at byte 9, its
-- session at 13, and its password behind that.

local function pass_greeting(link, frame)
  local place, manners = link.place, link.place.manners
  link.answered = true
  if happens(place, "lose_connect") then return cut(link) end
  if manners.says then
    frame = frame:sub(1, 8) .. int(manners.says * 1000) .. frame:sub(13)
  end
  note(place, "handshake")
  local h = { kind = "connect", protocol = 0, timeout = read_int(frame, 9),
    id = frame:sub(13, 20), passwd = frame:sub(21, 40),
    flag = frame:sub(41, 41) }
  if lie_about(link, h) then return end
  tell(link.client, frame, manners.hold_connect and math.huge
    or manners.delay_connect or manners.delay_all)
end

local NAMES = { [15] = "create", [8] = "list", [4] = "get", [14] = "multi",
  [AUTH] = "auth" }

-- Is it lost, or the last one, for there is a trap for the answers to its kind?
local function spring(link, frame, kind)
  local place, traps = link.place, link.place.traps
  if kind and kind == traps.lose then
    traps.lose, place.manners.refuse = nil, true
    cut_all(0, function(other) return other.place == place end)
    return true
  elseif kind and kind == traps.last then
    traps.last = nil
    tell(link.client, frame)
    leave_client(link)
    return true
  end
end

local function hear_auth(link)
  local place = link.place
  if happens(place, "cut_auth") then -- (with the connect reply read)
    leave_client(link)
    return true
  end
  link.mute = happens(place, "mute_auth") or link.mute
end

-- The answer as it is to be told; nil: not at all.
local function change(link, frame, asked)
  local xid = read_int(frame, 5)
  if xid == AUTH_XID and hear_auth(link) then return nil end
  if link.mute then return nil end
  if xid == EVENT_XID or not asked then return frame end
  local is_told = lie_about(link, {
    kind = NAMES[asked.kind] or "other",
    xid = frame:sub(5, 8), zxid = frame:sub(9, 16), err = read_int(frame, 17),
    body = frame:sub(21), path = asked.path })
  return not is_told and frame or nil
end

local function hear_server(link, frame)
  if not link.answered then return pass_greeting(link, frame) end
  local manners, key = link.place.manners, number(frame, 5)
  local asked = link.asked[key]
  link.asked[key] = nil
  if manners.mute or manners.drop == "replies" then
    link.broken = manners.drop
    return
  end
  if spring(link, frame, asked and asked.kind) then return end
  frame = change(link, frame, asked)
  if frame then
    tell(link.client, frame, manners.delay_all)
  end
end

-- The sockets.

-- It reads no frames.  Another protocol answers a few bytes.
local function is_deaf(this)
  local link, manners = this.link, this.link.place.manners
  if manners.kind == "stranger" and this.said ~= "" then
    tell(link.client, (manners.says:gsub("%%(%x%x)", function(hex)
      return string.char(tonumber(hex, 16))
    end)))
    if not manners.stays then tell(link.client, nil) end
    this.said = ""
  end
  return manners.kind == "silent" or manners.kind == "stranger"
end

local function is_too_large(link, said)
  local largest = link.place.manners.largest
  return largest and link.greeted and #said >= 4 and number(said, 1) > largest
end

-- Bytes of any protocol; those of a server so many a second.
local function pass_on(this, data)
  local link, rate, delay = this.link, this.link.place.manners.rate, 0
  if this.is_server and rate then
    link.due = math.max(now(), link.due or 0) + #data / rate
    delay = link.due - now()
  end
  tell(this.is_server and link.client or link.server, data, delay)
end

local function read_frames(this)
  local link = this.link
  local silent = not this.is_server and is_deaf(this)
  while not link.over and not silent do
    if not this.is_server and is_too_large(link, this.said) then
      return cut(link)
    end
    local frame, rest = frames.split(this.said)
    if not frame then break end
    this.said = rest;
    (this.is_server and hear_server or hear_client)(link, frame)
  end
end

local function read(s)
  local this = ends[s]
  if not this then return end
  local link = this.link
  local data, problem, part = s:receive(65536)
  if link.has_frames then
    this.said = this.said .. (data or part or "")
    read_frames(this)
  else
    pass_on(this, data or part)
  end
  if problem == "closed" and ends[s] then
    close_end(s)
    tell(this.is_server and link.client or link.server, nil)
  end
end

-- Of `text` what may go before the connection breaks, and whether it does.
local function up_to_the_cut(this, text)
  local traps = this.link.place.traps
  if not traps.left or this.is_server then return text, false end
  local left = traps.left
  traps.left = left > #text and left - #text or nil
  return text:sub(1, left), traps.left == nil
end

local function write(s)
  local this = ends[s]
  local head = this and this.out[1]
  if not head then return end
  if not head.text then return cut(this.link) end
  local text, is_last = up_to_the_cut(this, head.text)
  local drip = this.link.place.manners.drip
  local sent, problem, partly = s:send(text, 1, drip and 1 or -1)
  local done = sent or partly or 0
  if is_last or problem == "closed" then
    cut(this.link)
  elseif done == #head.text then
    table.remove(this.out, 1)
  else
    head.text = head.text:sub(done + 1)
    if drip then head.due = now() + drip end
  end
end

-- The spec's words.

local function each_place(i, fn)
  for n, place in ipairs(places) do
    if i == 0 or i == n then fn(place) end
  end
end

local function map_of(words)
  local map = {}
  for key, value in words:gmatch "(%S-)=(%S+)" do
    map[key] = tonumber(value) or value
  end
  return map
end

local commands = {}

-- (Where bytes are missing nothing sensible can follow.)
function commands.behave(i, words)
  each_place(i, function(place)
    place.manners = map_of(words)
    place.manners.kind = place.manners.kind or "pass"
  end)
  cut_all(i, function(link) return link.broken end)
end

function commands.arm(i, words)
  each_place(i, function(place) place.traps = map_of(words) end)
end

-- What was held is told now.
function commands.release(i)
  for _, this in pairs(ends) do
    if i == 0 or this.link.place == places[i] then
      for _, head in ipairs(this.out) do
        if head.due == math.huge then head.due = 0 end
      end
    end
  end
end

function commands.cut(i) cut_all(i) end

-- The servers hear that the connections are closed, the clients do not.
function commands.half_open()
  for s, this in pairs(ends) do
    if this.is_server then close_end(s) end
  end
end

-- Nobody is there any more, and somebody elsewhere, at the same port.
function commands.move(_, address)
  local place = places[1]
  local _, port = place.listener:getsockname()
  local new = socket.bind(address, port)
  say(new and "moved" or "stays")
  if not new then return end
  by_listener[place.listener] = nil
  place.listener:close()
  place.listener, by_listener[new] = new, place
  cut_all(0)
end

function commands.tell(i)
  each_place(i, function(place)
    for _, line in ipairs(place.events) do say(line) end
  end)
end

local function obey()
  local line = hear()
  if not line then os.exit(0) end
  local name, i, words = line:match "(%S+) (%d+) ?(.*)"
  commands[name](tonumber(i), words)
  say "done"
end

-- What select() is to look at, and for how long.
local function interests()
  local reading, writing, due = { parent_socket }, {}, math.huge
  for listener, place in pairs(by_listener) do
    if place.manners.kind ~= "frozen" then reading[#reading + 1] = listener end
  end
  for s, this in pairs(ends) do
    local frozen = this.link.place.manners.kind == "frozen"
    local head = not frozen and this.out[1]
    if not frozen then reading[#reading + 1] = s end
    if head and head.due <= now() then
      writing[#writing + 1] = s
    elseif head then
      due = math.min(due, head.due)
    end
  end
  return reading, writing, due < math.huge and math.max(0, due - now()) or nil
end

-- Several addresses share a port; one alone may have any.
local function listen(addresses, count)
  local list, port = {}, 0
  for address in addresses:gmatch "[^,]+" do list[#list + 1] = address end
  for i = 1, count do
    local listener, problem = socket.bind(list[i] or "127.0.0.1", port, 256)
    if not listener then return nil, problem end
    listener:settimeout(0)
    places[i] = { listener = listener, manners = { kind = "pass" },
      traps = {}, events = {} }
    by_listener[listener] = places[i]
    if list[i] then port = select(2, listener:getsockname()) end
  end
  return true
end

return function(hosts, addresses, count)
  for host in hosts:gmatch "[^,]+" do servers[#servers + 1] = host end
  for _ = 1, 20 do -- somebody may have the port at another address
    if listen(addresses, tonumber(count)) then break end
    for _, place in ipairs(places) do place.listener:close() end
    places, by_listener = {}, {}
  end
  local names = {}
  for i, place in ipairs(places) do
    local ip, own_port = place.listener:getsockname()
    names[i] = ip .. ":" .. own_port
  end
  say(table.concat(names, ","))
  while true do
    local readable, writable = socket.select(interests())
    for _, s in ipairs(writable) do write(s) end
    for _, s in ipairs(readable) do
      if s == parent_socket then
        obey()
      elseif by_listener[s] then
        accept(by_listener[s])
      else
        read(s)
      end
    end
  end
end
