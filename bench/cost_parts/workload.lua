-- One workload: `lua workload.lua NAME HOSTS` prints how often the operation
-- was done, and how many packets the server received meanwhile. bench/cost
-- runs it under each tool, and knows by the marks what is to be counted.
local socket = require "socket"
local zklock = require "zklock"

-- Hosts with a chroot of this run's own. Certificates: the directory of
-- those of TLS, if any.
local name, hosts, certificates = arg[1], arg[2], arg[3]
local PATIENCE = 60 -- under valgrind everything is slow

-- So that no heartbeat and no ping falls into a measurement.
local LONG = 1200
-- Where they are what is measured.
local SHORT, SECONDS = 4, 12

local opened = {}

-- Names of files.
local tls = certificates and { ca = certificates .. "/ca.pem",
  cert = certificates .. "/client.crt", key = certificates .. "/client.key" }

local function connect(timeout)
  local session = assert(zklock.connect(hosts, {
    session_timeout = timeout or LONG, connect_timeout = PATIENCE, tls = tls,
  }))
  opened[#opened + 1] = session
  return session
end

local paths = 0
local function new_path()
  paths = paths + 1
  return "/locks/" .. paths
end

-- What a tool says.
local function answer_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

-- Of our sessions, what the server has received of packets, and what the
-- kernel has counted: bytes in both directions, and segments that we have sent.
local function carried()
  local host, port = hosts:match "^(.*):(%d+)/"
  local text
  if tls then
    text = answer_of(("(printf cons; sleep 1) | openssl s_client -quiet "
      .. "-connect %s:%s -CAfile '%s' -cert '%s' -key '%s' 2>/dev/null"):format(
      host, port, tls.ca, tls.cert, tls.key))
  else
    local client = assert(socket.connect(host, tonumber(port)))
    client:send "cons"
    text = client:receive "*a"
    client:close()
  end
  local packets, sockets = 0, {}
  for _, session in ipairs(opened) do
    local from, received = text:match(":(%d+)%[[^\n]*recved=(%d+)[^\n]*sid="
      .. session:id() .. ",")
    packets = packets + (tonumber(received)
      or error "the server does not know our session")
    sockets[#sockets + 1] = "sport = :" .. from
  end
  text = answer_of(("ss -tinH 'dport = :%s and ( %s )'"):format(port,
    table.concat(sockets, " or ")))
  local function sum(what)
    local all = 0
    for n in text:gmatch("%f[%a_]" .. what .. ":(%d+)") do all = all + n end
    return all
  end
  return packets, sum "bytes_acked" + sum "bytes_received",
    sum "data_segs_out"
end

-- One call by which strace knows a moment, and one by which callgrind and the
-- counter of the heap do.
local function mark(moment)
  io.open("/zklock cost " .. moment)
  os.setlocale()
end

-- Runs `fn`, in which the operation is done `count` times, or as often as it
-- says. Returns how often, the packets, bytes, segments, and bytes that Lua has
-- allocated.
local function figures(count, fn)
  collectgarbage()
  collectgarbage "stop"
  socket.sleep(0.5)
  local packets, bytes, segments = carried()
  local memory = collectgarbage "count"
  mark "begins"
  count = fn() or count
  mark "ends"
  memory = (collectgarbage "count" - memory) * 1024
  local packets_now, bytes_now, segments_now = carried()
  return ("%d %d %d %d %d"):format(count, packets_now - packets,
    bytes_now - bytes, segments_now - segments, memory)
end

local function measure(...) print(figures(...)) end

-- Steps the sessions whenever they have news, until the condition is true.
local function run_until(sessions, condition)
  local sources, of = {}, {}
  for _, session in ipairs(sessions) do
    local source = { getfd = function() return session:fd() end }
    sources[#sources + 1], of[source] = source, session
  end
  while not condition() do
    local ready = socket.select(sources, nil, PATIENCE)
    assert(ready[1], "nothing happens")
    for _, source in ipairs(ready) do of[source]:step() end
  end
end

-- An own task, so that nothing is a re-entry; the guard is in `guard`.
local function wait_for(lock)
  local waiter = {}
  lock:acquire_async({ owner = waiter }, function(guard, message)
    waiter.guard = assert(guard, message)
  end)
  return waiter
end

local function acquire(lock) return assert(lock:acquire(PATIENCE)) end

-- Held until the end, and not collected before.
local kept = {}
local function hold(lock)
  kept[#kept + 1] = acquire(lock)
  return kept[#kept]
end

-- Acquires and releases a lock that nobody else wants.
local function alone(kind)
  return function()
    local lock = kind(connect(), new_path())
    for _ = 1, 3 do acquire(lock):release { wait = true } end
    measure(100, function()
      for _ = 1, 100 do acquire(lock):release { wait = true } end
    end)
  end
end

local workloads = {
  mutex = alone(function(session, path) return session:mutex(path) end),
  unfair = alone(function(session, path)
    return session:mutex(path, { fair = false })
  end),
  read = alone(function(session, path) return session:rwlock(path).read end),
  write = alone(function(session, path) return session:rwlock(path).write end),
  semaphore = alone(function(session, path)
    return session:semaphore(path, 1)
  end),
}

workloads.tls = workloads.mutex

function workloads.reentry()
  local lock = connect():mutex(new_path())
  hold(lock)
  acquire(lock):release()
  measure(1000, function()
    for _ = 1, 1000 do acquire(lock):release() end
  end)
end

function workloads.is_held()
  local guard = hold(connect():mutex(new_path()))
  measure(1000, function()
    for _ = 1, 1000 do assert(guard:is_held()) end
  end)
end

-- Until nothing is under way, which no event tells.
local function settle() socket.sleep(1.5) end

-- Until one operation is over, where nothing waits for its end: otherwise it is
-- chance whether it leaves together with the next one, and how often the I/O
-- thread is woken for them. It is a system call, which is counted with it.
local function pause() socket.sleep(0.05) end

function workloads.try()
  local path = new_path()
  hold(connect():mutex(path))
  local lock = connect():mutex(path)
  lock:try_acquire()
  measure(100, function()
    for _ = 1, 100 do
      assert(not lock:try_acquire())
      pause()
    end
  end)
end

-- Locks that a session holds, and another session's on the same paths.
local function held_locks(count)
  local holder, session, guards, locks = connect(), connect(), {}, {}
  for i = 1, count do
    local path = new_path()
    guards[i], locks[i] = hold(holder:mutex(path)), session:mutex(path)
  end
  return guards, locks, holder, session
end

-- Joins the queue of a lock that another session holds.
function workloads.queue()
  local _, locks, _, session = held_locks(50)
  measure(50, function()
    for i = 1, 50 do
      wait_for(locks[i])
      pause()
    end
  end)
  assert(session:stats().waiting == 50)
end

-- A lock goes from one session to another that waits for it.
function workloads.handover()
  local guards, locks, holder, session = held_locks(50)
  local waiters = {}
  for i = 1, 50 do waiters[i] = wait_for(locks[i]) end
  settle()
  measure(50, function()
    for i = 1, 50 do
      guards[i]:release()
      run_until({ holder, session }, function() return waiters[i].guard end)
      pause()
    end
  end)
end

-- A lock goes from one task of a session to another, and `listener`, if there
-- is one, hears of it.
local function turn(listener)
  local session, waiters = connect(), {}
  if listener then session:on_trace(listener) end
  local lock = session:mutex(new_path(), { local_turns = 100 })
  for i = 0, 100 do waiters[i] = wait_for(lock) end
  run_until({ session }, function() return waiters[0].guard end)
  settle()
  measure(100, function()
    for i = 1, 100 do
      waiters[i - 1].guard:release()
      run_until({ session }, function() return waiters[i].guard end)
    end
    pause()
  end)
end

workloads.turn = turn

function workloads.traced() turn(function() end) end

-- Requests that a session has added because an answer was late.
local function nudges()
  local n = 0
  for _, session in ipairs(opened) do
    n = n + session:stats().internal.nudges
  end
  return n
end

-- What a second costs, if the machine is not too busy to answer in time: then
-- the seconds are counted again.
local function pass_time()
  socket.sleep(1)
  local before, text
  for _ = 1, 5 do
    before = nudges()
    text = figures(SECONDS, function() socket.sleep(SECONDS) end)
    if nudges() == before then break end
  end
  print(text)
end

function workloads.idle()
  connect(SHORT)
  pass_time()
end

function workloads.holding()
  hold(connect(SHORT):mutex(new_path()))
  pass_time()
end

function workloads.waiting()
  local path = new_path()
  local holder = connect()
  hold(holder:mutex(path))
  wait_for(connect(SHORT):mutex(path))
  pass_time()
end

-- Tasks of some sessions, each of which takes the lock, lets it go and comes
-- back to the end of the queue: one operation is a handoff.
local function circle(count, tasks, session_of)
  local sessions, turns, done = {}, 0, 0
  local function begin(i)
    local session = session_of(i)
    sessions[i] = session
    local lock, owner = session:mutex "/locks/circle", {}
    local function again()
      lock:acquire_async({ owner = owner }, function(guard, message)
        assert(guard, message)
        turns = turns + 1
        guard:release()
        if turns < count then again() else done = done + 1 end
      end)
    end
    return again
  end
  local starts = {}
  for i = 1, tasks do starts[i] = begin(i) end
  local distinct, seen = {}, {}
  for _, session in ipairs(sessions) do
    if not seen[session] then distinct[#distinct + 1] = session end
    seen[session] = true
  end
  acquire(distinct[1]:mutex "/locks/circle"):release { wait = true }
  measure(count, function()
    for _, start in ipairs(starts) do start() end
    run_until(distinct, function() return done == tasks end)
    settle()
    return turns
  end)
end

-- Ten sessions on one path.
function workloads.convoy()
  circle(400, 10, function() return connect() end)
end

-- Sixty-four tasks of one session on one path, each with a node.
function workloads.strict()
  local session = connect()
  circle(640, 64, function() return session end)
end

-- Memory of a lock that is held for long, and of its guard.
function workloads.memory()
  local session, guards = connect(20), {}
  local count = 10000
  for i = 1, count do guards[i] = false end
  hold(session:mutex "/locks/first")
  collectgarbage()
  collectgarbage()
  local before = collectgarbage "count"
  mark "begins"
  for i = 1, count do
    guards[i] = acquire(session:mutex(("/locks/account-%06d"):format(i)))
  end
  -- Until each is watched, which is what it costs from then on.
  while session:stats().watches <= count do socket.sleep(0.1) end
  collectgarbage()
  collectgarbage()
  mark "ends"
  print(#guards, (collectgarbage "count" - before) * 1024)
end

-- Memory of a session.
function workloads.session()
  local COUNT = 50
  connect()
  collectgarbage()
  mark "begins"
  for _ = 1, COUNT do connect() end
  socket.sleep(0.5)
  collectgarbage()
  mark "ends"
  print(COUNT, 0)
end

workloads.tls_session = workloads.session

local function median(list)
  table.sort(list)
  return list[math.ceil(#list / 2)]
end

-- Acquires and releases 200 times. Returns the processor time of the process,
-- and the median duration.
local function time(lock)
  local took, clock = {}, os.clock()
  for i = 1, 200 do
    local begun = socket.gettime()
    acquire(lock):release { wait = true }
    took[i] = socket.gettime() - begun
  end
  return os.clock() - clock, median(took)
end

-- What TLS costs of time: rounds of both kinds at the same server in turn.
function workloads.tls_time()
  local ROUNDS = 15
  local with = connect():mutex(new_path())
  hosts, tls = arg[4] .. hosts:match "/.*", nil
  local without = connect():mutex(new_path())
  for _ = 1, 5 do -- the server is slow until its code is compiled
    time(with)
    time(without)
  end
  local cpu, duration = {}, {}
  for i = 1, ROUNDS do
    local cpu_with, duration_with = time(with)
    local cpu_without, duration_without = time(without)
    cpu[i] = cpu_with / cpu_without
    duration[i] = duration_with / duration_without
  end
  local function shown(ratios)
    local middle = median(ratios)
    return ("%.2f (%.2f to %.2f)"):format(middle, ratios[1], ratios[ROUNDS])
  end
  print(("tls        times mutex: processor time %s, median duration %s")
    :format(shown(cpu), shown(duration)))
end

workloads[name]()
for _, session in ipairs(opened) do session:close() end
