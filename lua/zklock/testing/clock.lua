--- Clock: virtual time for tests.
--
-- Time passes only during advance(), during sleep(), and while a call of zklock
-- waits. All three call the functions of timers that become due, on the calling
-- thread.
local virtual = require "zklock.testing.core"

local errors = require "zklock.errors"

local clock = { now = virtual.now }

-- The sessions in the order in which they were opened, as weak references.
local sessions = {}
local timers = {} -- `{ at =, fn = }`, the next one first

-- Times that differ by at most this many seconds count as equal. The rounding
-- error of a time is smaller, even after centuries of virtual time.
local INSTANT = 1e-6

--- Returns the servers' time of day, in seconds since 1970.
function clock.time() return virtual.epoch + virtual.now() end

-- Timers.

--- Sets a timer: calls `fn()` after `seconds` of virtual time.
function clock.after(seconds, fn)
  local at = virtual.now() + seconds
  local i = #timers + 1
  while i > 1 and timers[i - 1].at > at do i = i - 1 end
  table.insert(timers, i, { at = at, fn = fn })
end

function clock.forget_timers() timers = {} end

--- Returns the smaller of two numbers: the seconds until the next timer, and
-- `otherwise`. If there is no timer, returns `otherwise`.
function clock.until_timer(otherwise)
  local timer = timers[1]
  local left = timer and math.max(0, timer.at - virtual.now())
  return left and (not otherwise or left < otherwise) and left or otherwise
end

--- Calls the functions of the timers that are due; raises their errors.
function clock.run_timers()
  while timers[1] and timers[1].at <= virtual.now() + INSTANT do
    table.remove(timers, 1).fn()
  end
end

-- Sessions.

local function is_open(session)
  local engine = session._engine
  return engine:is_ours() and not engine.state.is.closed
end

--- Adds a session: advance() then calls the session's step().
function clock.attend(session)
  sessions[#sessions + 1] = setmetatable({ session }, { __mode = "v" })
end

--- Returns the open sessions, in the order in which they were opened.
function clock.sessions()
  local open, kept = {}, {}
  for _, reference in ipairs(sessions) do
    local session = reference[1]
    if session and is_open(session) then
      open[#open + 1], kept[#kept + 1] = session, reference
    end
  end
  sessions = kept
  return open
end

local function descriptors(open)
  local list = {}
  for i, session in ipairs(open) do list[i] = session:fd() end
  return list
end

-- Letting time pass.

-- Advances virtual time by `seconds`. Runs timers that become due, and calls
-- step() on each session of `sessions_of()` whose descriptor is readable.
local function let_pass(seconds, sessions_of)
  local deadline = virtual.now() + seconds
  repeat
    clock.run_timers()
    local open = sessions_of()
    local ready = virtual.poll(descriptors(open), {},
      clock.until_timer(math.max(0, deadline - virtual.now())))
    for i, session in ipairs(open) do
      if ready[i] and is_open(session) then session:step() end
    end
  until virtual.now() >= deadline
  clock.run_timers()
end

local function no_sessions() return {} end

--- Lets `seconds` of virtual time pass, and calls no session's step().
function clock.sleep(seconds) let_pass(seconds, no_sessions) end

--- Lets `seconds` of virtual time pass, and calls all callbacks that become
-- due.
function clock.advance(seconds) let_pass(seconds, clock.sessions) end

-- Waits of zklock.

-- The virtual time, in seconds, after which a wait without a timeout raises an
-- error.
local LONGEST = 3600

--- Waits on behalf of the caller, as the event-loop adapters do. Advances
-- virtual time until the wait `wait` is done, or until `timeout` seconds have
-- passed.
function clock.wait(engine, wait, timeout)
  local begun = virtual.now()
  local deadline = timeout and begun + timeout
  while not wait.done do
    local left = deadline and deadline - virtual.now() or LONGEST
    engine.core:wait(clock.until_timer(math.max(0, left)))
    clock.run_timers()
    engine.events:step()
    if deadline and virtual.now() >= deadline then return end
    if wait.endless and virtual.now() - begun >= LONGEST then
      errors.misuse("this call has no timeout and has waited for an hour of "
        .. "virtual time: nothing in this test will end its wait")
    end
  end
end

return clock
