--- The process behind support.hostile, which says what the manners mean.
-- luacheck: globals say hear parent_socket
local frames = require "support.frame"
local now = require "zklock.core".now
local socket = require "socket"

local AUTH, AUTH_XID, AUTH_FAILED = 100, -4, -115
local EXISTS = 3
local MARSHALLING_ERROR, NO_AUTH = -5, -102
local int, buffer = frames.int, frames.buffer

local servers
local places = {}    -- { listener =, manners =, events = }, each
local by_listener = {}
-- socket → its end of a link: { link =, is_server =, said =, out = }.  A link:
-- { place =, client =, server =, greeted =, due = }.
local ends = {}
local sessions = 0

local function note(place, what)
  table.insert(place.events, ("%.6f %s"):format(now(), what))
end

local function finish(link)
  for _, s in ipairs { link.client, link.server } do
    if ends[s] then
      ends[s] = nil
      s:close()
    end
  end
  link.over = true
end

local function cut(link)
  if link.over then return end
  note(link.place, "cut")
  finish(link)
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
  if ends[s] then
    table.insert(ends[s].out, { text = text, due = now() + (delay or 0) })
  end
end

-- After what it has been told.
local function leave_client(link)
  tell(link.client, nil)
  if link.server and ends[link.server] then
    ends[link.server] = nil
    link.server:close()
  end
end

local function open_end(link, s, is_server)
  s:settimeout(0)
  s:setoption("tcp-nodelay", true)
  ends[s] = { link = link, is_server = is_server, said = "", out = {} }
  return s
end

local function connect_to_server()
  for host in servers:gmatch "[^,]+" do
    local ip, port = host:match "([%w%.]+):(%d+)"
    local server = socket.connect(ip, tonumber(port))
    if server then return server end
  end
end

local function accept(place)
  local client = place.listener:accept()
  if not client then return end
  note(place, "connection")
  local kind = place.manners.kind
  local link = { place = place, client = client }
  open_end(link, client, false)
  if kind == "close" then return cut(link) end
  if kind ~= "pass" then return end
  link.server = connect_to_server()
  if not link.server then return cut(link) end
  open_end(link, link.server, true)
end

-- What the client says.  A connect request: its timeout stands at byte 17, its
-- session at 21.

local function is_new(frame) return frame:sub(21, 28) == ("\0"):rep(8) end

local function answer(link, timeout, id)
  note(link.place, "handshake")
  tell(link.client, buffer(int(0) .. timeout .. id .. buffer(("\1"):rep(16))
    .. "\0"))
end

local function expire(link)
  answer(link, int(0), ("\0"):rep(8))
  leave_client(link)
end

local function grant(link, frame)
  local manners = link.place.manners
  local id, timeout = frame:sub(21, 28), frame:sub(17, 20)
  if is_new(frame) then
    sessions = sessions + 1
    id = int(0x6c6965) .. int(sessions)
  end
  if manners.grants then timeout = int(manners.grants * 1000) end
  answer(link, timeout, id)
  if manners.drop_after then link.due = now() + manners.drop_after end
end

local function greet(link, frame)
  local place, manners = link.place, link.place.manners
  link.greeted = true
  note(place, is_new(frame) and "session" or "return")
  local forgotten = not is_new(frame) and happens(place, "forgets")
  if forgotten then return expire(link) end
  if manners.kind == "expire" then
    expire(link)
  elseif manners.kind == "handshake" then
    grant(link, frame)
  elseif manners.kind == "nonsense" then
    tell(link.client, ("nonsense "):rep(20))
    tell(link.client, nil)
  elseif link.server then
    if manners.asks then
      frame = frame:sub(1, 16) .. int(manners.asks * 1000) .. frame:sub(21)
    end
    tell(link.server, frame)
  end
end

local function refuse_auth(link, delay)
  tell(link.client, buffer(int(AUTH_XID) .. int(0) .. int(0)
    .. int(AUTH_FAILED)), delay)
  leave_client(link)
end

local function is_look_at_root(frame)
  return #frame >= 17 and frames.read_int(frame, 9) == EXISTS
    and frame:sub(13, 17) == buffer "/"
end

local function note_look_at_root(link, frame)
  if not link.place.manners.hides_root or not is_look_at_root(frame) then
    return
  end
  link.hidden = link.hidden or {}
  link.hidden[frame:sub(5, 8)] = true
end

local function hear_client(link, frame)
  if not link.greeted then return greet(link, frame) end
  local place, manners = link.place, link.place.manners
  local is_auth = #frame >= 12 and frames.read_int(frame, 9) == AUTH
  note(place, is_auth and "auth" or "request")
  if manners ~= link.manners then
    link.manners, link.requests = manners, 0
  end
  link.requests = link.requests + 1
  if link.requests == manners.drop_at then return cut(link) end
  if is_auth and link.server and happens(place, "refuse_auth") then
    return refuse_auth(link)
  end
  if is_auth and manners.refuse_second then
    link.refused, link.asked = link.asked, true
    if link.refused and link.accepted then return refuse_auth(link, 0.1) end
  end
  note_look_at_root(link, frame)
  if link.server and not link.refused then tell(link.server, frame) end
end

-- What the server says.  A connect reply: its timeout stands at byte 9.

local function pass_greeting(link, frame)
  local place, manners = link.place, link.place.manners
  link.answered = true
  if happens(place, "lose_connect") then return cut(link) end
  if happens(place, "mute_connect") then return end
  if manners.says then
    frame = frame:sub(1, 8) .. int(manners.says * 1000) .. frame:sub(13)
  end
  note(place, "handshake")
  tell(link.client, frame, manners.hold_connect and math.huge
    or manners.delay_connect or manners.delay)
end

-- (Its number and its zxid are kept.)
local function with_error(frame, code)
  return buffer(frame:sub(5, 16) .. int(code))
end

local function hear_server(link, frame)
  if not link.answered then return pass_greeting(link, frame) end
  local place = link.place
  if place.manners.mute then return end
  if frames.read_int(frame, 5) == AUTH_XID then
    if happens(place, "cut_auth") then -- (with the connect reply read)
      note(place, "cut")
      return leave_client(link)
    end
    link.mute = happens(place, "mute_auth") or link.mute
    link.accepted = true -- the first
    if link.refused then
      tell(link.client, frame)
      return refuse_auth(link, 0.1)
    end
  elseif frames.read_int(frame, 5) >= 0 and happens(place, "fails") then
    frame = with_error(frame, MARSHALLING_ERROR)
  elseif link.hidden and link.hidden[frame:sub(5, 8)] then
    frame = with_error(frame, NO_AUTH)
  end
  if not link.mute then tell(link.client, frame, place.manners.delay) end
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
  return largest and link.greeted and #said >= 4
    and frames.read_unsigned(said, 1) > largest
end

local function read(s)
  local this = ends[s]
  if not this then return end
  local link = this.link
  local data, problem, part = s:receive(65536)
  this.said = this.said .. (data or part or "")
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
  if problem == "closed" and ends[s] then
    ends[s] = nil
    s:close()
    if this.is_server then tell(link.client, nil) else finish(link) end
  end
end

local function write(s)
  local this = ends[s]
  local head = this and this.out[1]
  if not head then return end
  if not head.text then return finish(this.link) end
  local sent, problem, partly = s:send(head.text)
  if sent then
    table.remove(this.out, 1)
  elseif problem == "closed" then
    finish(this.link)
  else
    head.text = head.text:sub((partly or 0) + 1)
  end
end

-- The spec's words.

local function each_place(i, fn)
  for n, place in ipairs(places) do
    if i == 0 or i == n then fn(place) end
  end
end

local commands = {}

function commands.behave(i, words)
  local manners = {}
  for key, value in words:gmatch "(%S-)=(%S+)" do
    manners[key] = tonumber(value) or value
  end
  manners.kind = manners.kind or "pass"
  each_place(i, function(place)
    place.manners = {}
    for key, value in pairs(manners) do place.manners[key] = value end
  end)
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

function commands.cut(i)
  for _, this in pairs(ends) do
    if i == 0 or this.link.place == places[i] then this.link.doomed = true end
  end
  for _, this in pairs(ends) do
    if this.link.doomed then
      cut(this.link)
      return commands.cut(i) -- (`ends` has changed)
    end
  end
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
    if this.link.due then due = math.min(due, this.link.due) end
  end
  return reading, writing,
    due < math.huge and math.max(0, due - now()) or nil
end

local function drop_what_is_due()
  local late = {}
  for _, this in pairs(ends) do
    local link = this.link
    if link.due and link.due <= now() and #this.out == 0 then
      late[#late + 1] = link
    end
  end
  for _, link in ipairs(late) do cut(link) end
end

-- Several addresses share a port; one alone may have any.
local function listen(addresses, count, port)
  local list = {}
  for address in addresses:gmatch "[^,]+" do list[#list + 1] = address end
  for i = 1, count do
    local listener, problem = socket.bind(list[i] or "127.0.0.1", port, 256)
    if not listener then return nil, problem end
    listener:settimeout(0)
    places[i] = { listener = listener, manners = { kind = "pass" },
      events = {} }
    by_listener[listener] = places[i]
    if list[i] then port = select(2, listener:getsockname()) end
  end
  return true
end

return function(hosts, addresses, count, port)
  servers = hosts
  for _ = 1, 20 do -- somebody may have the port at another address
    if listen(addresses, tonumber(count), tonumber(port)) then break end
    for _, place in ipairs(places) do place.listener:close() end
    places, by_listener = {}, {}
  end
  local names = {}
  for i, place in ipairs(places) do
    local ip, number = place.listener:getsockname()
    names[i] = ip .. ":" .. number
  end
  say(table.concat(names, ","))
  while true do
    local readable, writable = socket.select(interests())
    drop_what_is_due()
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
