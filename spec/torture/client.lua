--- A process that contends: `require "torture.client"(settings)` in a child.
-- It takes locks of all kinds, in all ways, asks is_held() all the time, and
-- writes down what it was told.  It trusts nobody: the witness reads it.
-- luacheck: globals say hear parent_socket
local core = require "zklock.core"
local journals = require "torture.journal"
local locks = require "torture.locks"
local new_scheduler = require "support.scheduler".new
local socket = require "socket"
local support = require "support"
local zklock = require "zklock"

local now, random = core.now, math.random
local settings, journal, session, scheduler
local number, busy, resting, leaving = 0, 0, false, false

-- Time passes, and callbacks run.
local function pause(seconds)
  if scheduler then
    scheduler:pause(seconds)
    if session then session:step() end
    return
  end
  local until_when = now() + seconds
  repeat -- steps and sleeps until the next step
    if session then session:step() end
    socket.sleep(math.max(0, math.min(0.005, until_when - now())))
  until now() >= until_when
end

local function chance(percent) return random() * 100 < percent end

-- Waits until servers may accept a session that they have refused.
local function breathe()
  local running, is_main = coroutine.running()
  if running and not is_main then return pause(0.1) end
  socket.sleep(0.1)
end

local function connect()
  -- (Longer than the director waits for servers: it has gone, then.)
  local deadline = now() + 150
  local opened
  repeat
    if now() > deadline then os.exit(1) end
    if opened == false then breathe() end -- who is refused hears it at once
    opened = zklock.connect(settings.hosts, {
      session_timeout = settings.session_timeout,
      min_session_timeout = settings.min_session_timeout,
      connect_timeout = 1,
      auth = settings.credential
        and { scheme = "digest", credential = settings.credential },
      tls = settings.tls,
      loop = scheduler and scheduler.adapter or "poll",
      on_event = function(event) journal:note("event", event) end,
    })
    opened = opened or false
  until opened or leaving
  session = opened or nil
end

-- Holding.

local function sample(hold)
  local before = now()
  local held = hold.guard:is_held()
  journal:note(held and "true" or "false", hold.number,
    ("%.9f"):format(before))
  return held
end

local function note_hold(hold, wanted)
  journal:note("granted", hold.number, session and session:id() or "-")
  for node in hold.guard.node:gmatch "[^,]+" do
    local path = #wanted.paths == 1 and wanted.paths[1]
      or node:match "^(.*)/[^/]+$"
    local part = hold.guard.tokens and hold.guard:tokens()[path]
      or { token = hold.guard:token(), turn = hold.guard:turn() }
    journal:note("hold", hold.number, path, wanted.mode, part.token, part.turn,
      node)
  end
  hold.guard:on_lost(function() journal:note("lost", hold.number) end)
  if hold.guard.on_revoke and chance(20) then
    hold.guard:on_revoke(function() hold.asked_for = true end)
  end
end

local function release(hold)
  local ok, _, code = hold.guard:release(chance(10) and { wait = true } or nil)
  journal:note("released", hold.number, ok and "true" or code)
end

-- Inside: short as a rule, so that many come to hold; now and then longer than
-- any lease.
local function stay(hold)
  local held = sample(hold)
  for _ = 1, random(0, 4) do
    if not held or hold.asked_for then break end
    pause(random() ^ 3 * (chance(1) and 3 or 0.03))
    if chance(3) then hold.guard:verify() end
    held = sample(hold)
  end
  -- Who has lost is told, either way.
  if not held and chance(50) then pause(0.3) end
  return held
end

-- Acquiring.

local function draw_timeout()
  local dice = random(100)
  if dice <= 10 then return 0 end
  if dice <= 35 then return random() * 0.3 end
  if dice <= 50 then return nil end
  return 1 + random() * 6
end

-- As most callers do.
local function acquire(lock, options)
  if options.timeout ~= 0 then return lock:acquire(options) end
  return lock:try_acquire { max_hold = options.max_hold }
end

-- By a ticket that may be cancelled.
local function by_ticket(wanted, options)
  local done, result, message, code
  local lock = wanted.lock
  local ticket = lock:acquire_async(options, function(...)
    done, result, message, code = true, ...
  end)
  pause(random() * 0.2)
  if chance(50) then ticket:cancel() end
  if chance(10) and session == wanted.session then lock:cancel() end
  while not done do pause(0.01) end
  return result, message, code
end

-- Almost all that data may be: more than a server with a small buffer reads.
local LARGE = ("large "):rep(170)

local function begin(wanted, owner, timeout)
  number = number + 1
  journal:note("wait", number, owner, timeout or "-",
    table.concat(wanted.paths, ","), wanted.kind,
    settings.credential and "auth" or "")
  return number
end

local function ask(wanted, owner)
  local timeout = draw_timeout()
  local data = timeout ~= 0 and chance(settings.credential and 15 or 2)
    and LARGE or nil
  local this = begin(wanted, owner, timeout)
  local options = { timeout = timeout, data = data,
    max_hold = chance(4) and 0.05 + random() * 0.2 or nil }
  local apart = chance(15)
  local guard, _, code
  if apart then
    guard, _, code = by_ticket(wanted, options)
  else
    guard, _, code = acquire(wanted.lock, options)
  end
  if not guard then
    journal:note("refused", this, code)
    return nil
  end
  -- (What a callback was given, no task owns.)
  local hold = { guard = guard, number = this, apart = apart }
  note_hold(hold, wanted)
  return hold
end

-- The writer reads on, and lets the writing go.
local function downgrade(hold, wanted, owner)
  if hold.apart or session ~= wanted.session then return false end
  local reading = { paths = wanted.paths, mode = "R", lock = wanted.other,
    kind = "downgrade" }
  local this = begin(reading, owner, 5)
  local guard, _, code = reading.lock:acquire(30)
  if not guard then
    journal:note("refused", this, code)
    return false
  end
  local read = { guard = guard, number = this }
  note_hold(read, reading)
  sample(read)
  release(hold)
  stay(read)
  release(read)
  return true
end

local function with_lock(wanted, owner)
  local this = begin(wanted, owner, 3)
  local hold
  local ok, _, code = wanted.lock:with_lock({ timeout = 3 }, function(guard)
    hold = { guard = guard, number = this }
    note_hold(hold, wanted)
    stay(hold)
  end)
  if hold then
    journal:note("released", this, ok and "true" or code)
  else
    journal:note("refused", this, code)
  end
end

local function ask_around(wanted)
  if chance(4) then
    session:contenders(wanted.paths[1])
  elseif chance(3) then
    session:revoke(wanted.paths[1])
  end
end

-- True: the task is to vanish, with what it holds.  (While it waits, another
-- one may close the session; a closed one must not be used.)
local function turn(owner)
  local wanted = locks.draw(session, settings.root)
  wanted.session = session
  ask_around(wanted)
  if session ~= wanted.session then return end
  if chance(10) then return with_lock(wanted, owner) end
  local hold = ask(wanted, owner)
  if not hold then return end
  if stay(hold) and wanted.other and wanted.mode == "W" and chance(40)
    and downgrade(hold, wanted, owner) then
    return
  end
  if scheduler and chance(1) then
    journal:note("abandoned", hold.number)
    return true
  end
  release(hold)
end

local function change_session()
  local old = session
  session = nil
  journal:note "closed"
  old:close()
  connect()
end

-- Tasks.

local function task(owner)
  while not leaving do
    if resting or not session then
      pause(0.01)
    else
      busy = busy + 1
      local vanish = turn(owner)
      busy = busy - 1
      if vanish then
        scheduler:spawn(task, owner .. "'")
        return
      end
      -- (Somebody else's wait may need what is garbage now.)
      if chance(5) then collectgarbage() end
      if chance(0.5) and session then change_session() end
      pause(random() ^ 4 * settings.leisure)
    end
  end
end

local function is_at_rest()
  support.collect() -- who is busy may wait for what is garbage now
  if busy > 0 or not session then return false end
  local stats = session:stats()
  return stats.waiting + stats.holding + stats.pending_releases == 0
end

-- The director's words.
local function obey()
  parent_socket:settimeout(0)
  local line, problem = hear()
  if problem == "closed" then os.exit(1) end
  if line == "rest" then
    resting, settings.asked = true, true
  elseif line == "go" then
    resting = false
  elseif line == "leave" then
    leaving = true
  end
  if settings.asked and is_at_rest() then
    settings.asked = false
    say("rests", session:id())
  end
end

local function director()
  while not leaving do
    obey()
    pause(0.02)
  end
end

local function run_tasks()
  if settings.tasks == 1 then
    while not leaving do
      obey()
      if resting then
        pause(0.02)
      else
        busy = 1
        turn "1"
        busy = 0
        if chance(0.5) then change_session() end
      end
    end
    return
  end
  scheduler:spawn(director)
  for i = 1, settings.tasks do scheduler:spawn(task, tostring(i)) end
  assert(scheduler:run(math.huge))
end

return function(given)
  settings = given
  journal = journals.create(settings.journal)
  math.randomseed(settings.seed)
  local fds = support.count_fds()
  -- One task blocks its process; several share it in a loop.
  if settings.tasks > 1 then scheduler = new_scheduler() end
  connect()
  run_tasks()
  session:close()
  journal:note "closed"
  journal:note "end"
  local deadline = now() + 3
  local function left()
    return support.count_fds() - fds, support.count_threads() - 1
  end
  repeat
    local more_fds, threads = left()
    if more_fds > 0 or threads > 0 then socket.sleep(0.01) end
  until more_fds <= 0 and threads <= 0 or now() > deadline
  say("left", left())
end
