--- Clients that give up: impatient.lua PORT SECONDS.  Each goes away after up
-- to 50 ms, whether it was answered or not.
local socket = require "socket"

local port, seconds = tonumber(arg[1]), tonumber(arg[2])
local clients, open = {}, {} -- the sockets; and by socket, when it gives up
local answered, gave_up, wrong = 0, 0, 0

local function begin()
  local client = socket.connect("127.0.0.1", port)
  if not client then return end
  local name = math.random(2) == 1 and "hot" or "cold-" .. math.random(1000)
  client:send("GET /lock?name=" .. name .. " HTTP/1.0\r\n\r\n")
  client:settimeout(0)
  open[client] = socket.gettime() + math.random() * 0.05
  clients[#clients + 1] = client
end

local function finish(client)
  client:close()
  open[client] = nil
  for i, other in ipairs(clients) do
    if other == client then return table.remove(clients, i) end
  end
end

local deadline = socket.gettime() + seconds
while socket.gettime() < deadline do
  while #clients < 60 do begin() end
  for _, client in ipairs((socket.select(clients, nil, 0.005))) do
    local line = client:receive "*l"
    if line and line:find " 200 " then
      answered = answered + 1
    elseif line then
      wrong = wrong + 1
    end
    finish(client)
  end
  local now = socket.gettime()
  for client, moment in pairs(open) do
    if now > moment then
      gave_up = gave_up + 1
      finish(client)
    end
  end
end
for client in pairs(open) do client:close() end
print(("%d that were answered, %d that gave up, wrong %d"):format(answered,
  gave_up, wrong))
