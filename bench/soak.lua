-- `lua soak.lua HOSTS SECONDS`: what bench/soak runs.
local socket = require "socket"
local core = require "zklock.core"
local zklock = require "zklock"

local hosts, long = arg[1], tonumber(arg[2])
local INTERVAL = long < 200 and long / 20 or 10

local own = ("/proc/%d/"):format(core.pid())
local sessions, lost = {}, 0
local done = { one = 0, convoy = 0, turns = 0 }

local function connect()
  local session = assert(zklock.connect(hosts, { session_timeout = 30 }))
  sessions[#sessions + 1] = session
  return session
end

-- One task takes the lock again and again. A server that is killed may cost a
-- hold: that is counted, and it goes on.
local function loop(lock, name)
  local owner = {}
  local function again()
    lock:acquire_async({ owner = owner, timeout = 60 }, function(guard)
      if guard and guard:release() then
        done[name] = done[name] + 1
      else
        lost = lost + 1
      end
      again()
    end)
  end
  again()
end

local function begin()
  loop(connect():mutex "/locks/one", "one")
  for _ = 1, 10 do loop(connect():mutex "/locks/convoy", "convoy") end
  local session = connect()
  for _ = 1, 16 do
    loop(session:mutex("/locks/turns", { local_turns = 64 }), "turns")
  end
end

local function run_until(deadline)
  local sources, of = {}, {}
  for i, session in ipairs(sessions) do
    sources[i] = { getfd = function() return session:fd() end }
    of[sources[i]] = session
  end
  while socket.gettime() < deadline do
    local left = math.max(deadline - socket.gettime(), 0)
    for _, source in ipairs((socket.select(sources, nil, left))) do
      of[source]:step()
    end
  end
end

local function kib(name)
  for line in io.lines(own .. "status") do
    local n = line:match("^" .. name .. ":%s+(%d+)")
    if n then return tonumber(n) end
  end
end

local function entries(directory)
  local pipe, n = assert(io.popen("ls " .. own .. directory)), 0
  for _ in pipe:lines() do n = n + 1 end
  pipe:close()
  return n
end

-- What the server counts; nil while there is none.
local function nodes()
  local host, port = hosts:match "^(.*):(%d+)"
  local client = socket.tcp()
  client:settimeout(2)
  if not client:connect(host, tonumber(port)) then return nil end
  client:send "mntr"
  local text = client:receive "*a" or ""
  client:close()
  return tonumber(text:match "zk_znode_count%s+(%d+)")
end

-- How much a line may rise from the first third of the samples to the last, and
-- be flat: so much of itself, or so much. (Of a thousand samples a slope would
-- tell more; of sixty, one that is disturbed tilts it.)
local columns = {
  { "one/s" }, { "convoy/s" }, { "turns/s" },
  { "rss KiB", 0.05, 1024 }, { "lua KiB", 0.05, 64 }, { "fds", 0, 1 },
  { "threads", 0, 0 }, { "nodes", 0.2, 10 },
}

local samples = {}

local function sample(before, seconds)
  collectgarbage()
  collectgarbage()
  local row = {
    (done.one - before.one) / seconds, (done.convoy - before.convoy) / seconds,
    (done.turns - before.turns) / seconds,
    kib "VmRSS", collectgarbage "count", entries "fd",
    entries "task", nodes() or false,
  }
  samples[#samples + 1] = row
  local cells = { ("%6.0f"):format(#samples * INTERVAL) }
  for _, value in ipairs(row) do
    cells[#cells + 1] = value and ("%9.0f"):format(value)
      or ("%9s"):format "-"
  end
  print(table.concat(cells, " "))
  io.stdout:flush()
end

local function median(column, from, to)
  local values = {}
  for i = from, to do
    values[#values + 1] = samples[i][column] or nil
  end
  table.sort(values)
  return values[math.floor((#values + 1) / 2)]
end

-- The first tenth is the start: caches fill, and the allocator finds its size.
local function judge()
  local n, rising = #samples, 0
  local first, third = math.floor(n / 10) + 1, math.max(math.floor(n / 3), 1)
  print ""
  for i, column in ipairs(columns) do
    local name, part, room = column[1], column[2], column[3]
    local early = median(i, first, first + third - 1)
    local late = median(i, n - third + 1, n)
    if part and early and late then
      local flat = late - early <= math.max(part * early, room)
      if not flat then rising = rising + 1 end
      print(("%-8s %9.0f then, %9.0f now: %s"):format(name, early, late,
        flat and "flat" or "RISES"))
    end
  end
  print(("%d acquisitions ended in a loss or a timeout"):format(lost))
  return rising == 0
end

begin()
local header = { "     s" }
for _, column in ipairs(columns) do
  header[#header + 1] = ("%9s"):format(column[1])
end
print(table.concat(header, " "))
local begun = socket.gettime()
while socket.gettime() < begun + long do
  local before = { one = done.one, convoy = done.convoy, turns = done.turns }
  local from = socket.gettime()
  run_until(begun + (#samples + 1) * INTERVAL)
  sample(before, socket.gettime() - from)
end
local flat = judge()
for _, session in ipairs(sessions) do session:close() end
os.exit(flat, true)
