--- Election: the user's object.  The leader is the holder of the mutex at the
-- election's path, with the same nodes and the same guarantees.
local Attempt = require "zklock.attempt"
local check = require "zklock.check"
local errors = require "zklock.errors"
local guards = require "zklock.guard"
local locks = require "zklock.lock"
local observers = require "zklock.observer"
local options = require "zklock.options"
local protect = require "zklock.protect"
local Running = require "zklock.running"
local surveys = require "zklock.survey"

local Election = {}
Election.__index = Election

local weak = { __mode = "k" }

-- Functions for the library, not for users.
local elections = {}

function elections.new(engine, path, given)
  return setmetatable({
    path = path,
    _session = engine.session,
    _terms = locks.terms(engine, path, "election", "mutex", given),
    -- Weak tables, so that Lua can collect the guard or run of a killed task.
    _guards = setmetatable({}, weak), -- guards of campaigns of this object
    _runs = setmetatable({}, weak), -- the run() call in progress, as a key
  }, Election)
end

-- Stores the guard of a campaign, so that resign() can find it. Returns its
-- arguments without `self`.
local function note(self, guard, ...)
  if guard then self._guards[guard] = true end
  return guard, ...
end

--- Waits until the calling task leads; returns a guard, or `nil, message,
-- code`. `how`: the same options as for acquire.
Election.campaign = protect.method(Attempt, function(attempt, self, how)
  attempt:read(self._terms, how, options.campaign)
  return note(self, attempt:acquire())
end)

--- Begins a campaign, and returns a ticket at once; step() calls
-- `callback(guard, message, code)` with the outcome.
function Election:campaign_async(how, callback)
  how, callback = check.function_last(how, callback,
    "campaign_async([options,] fn)")
  local attempt = Attempt.new():read(self._terms, how, options.campaign)
  return locks.begin(attempt, function(...) callback(note(self, ...)) end)
end

--- Ends every campaign that was begun through this object, with "cancelled".
function Election:cancel()
  locks.cancel(self._terms)
end

--- Campaigns, calls fn(guard) while the task leads, then releases the
-- leadership and campaigns again. Returns true after stop(); or nil, message,
-- code when a campaign fails.
Election.run = protect.method(Running, function(running, self, how, fn)
  how, fn = check.function_last(how, fn, "run([options,] fn)")
  local given = options.run:read(how)
  local of_campaign = how and { data = how.data, max_hold = how.max_hold }
  local engine = self._terms.engine
  engine:check_open()
  if next(self._runs) then
    errors.misuse("run is under way for %s already: it calls one function at "
      .. "a time", self.path)
  end
  engine.adapters:for_waiting() -- raises an error if no loop can wait
  running.terms, running.runs, running.given = self._terms, self._runs, given
  self._runs[running], engine.runs[running] = true, true
  running.stopping = engine.adapters:is_leaving()
  return running:go(fn, function(attempt)
    attempt:read(self._terms, of_campaign, options.campaign)
    return note(self, attempt:acquire())
  end)
end)

--- Makes run() return. If run() campaigns or pauses, it returns at once. If fn
-- runs, run() returns when fn has returned, because stop() does not interrupt
-- fn.
function Election:stop()
  self._terms.engine:check_process()
  local running = next(self._runs)
  if running then running:stop() end
end

--- Returns whether stop() was called and run() has not returned yet.
function Election:is_stopping()
  local running = next(self._runs)
  return running ~= nil and running.stopping
end

-- Returns the guard of the current leadership. Without one, returns a guard
-- that is lost but not released yet, or nil.
local function find(self)
  local lost
  for guard in pairs(self._guards) do
    local state = guard:state()
    if guards.is_over(guard) or state == "released" then
      self._guards[guard] = nil
    elseif state == "lost" then
      lost = guard
    else
      return guard
    end
  end
  return lost
end

--- Releases the leadership that a task holds through this object. Returns true;
-- false if no task leads; `nil, message, "lost"` if the leadership was lost
-- before.
function Election:resign(how)
  self._terms.engine:check_process()
  options.read_release(how)
  local guard = find(self)
  if not guard then return false end
  return guard:release(how)
end

--- Asks a server for the leader: returns `{ data=, token=, session=, since= }`,
-- or nil if there is none.
function Election:leader()
  local terms = self._terms
  terms.engine:check_open()
  return surveys.leader(terms.engine, self.path, locks.modes(terms))
end

--- Begins to observe the leader, and returns a ticket at once. step() calls
-- `fn(leader, message, code)` with the current leader, and again at each
-- change.
function Election:observe(fn)
  local terms = self._terms
  terms.engine:check_open()
  check.callback(fn, "argument 1 of observe")
  return observers.begin(terms.engine, self.path, locks.modes(terms), fn)
end

check.methods(Election, [[
  election:campaign(timeout or options)
  election:campaign_async(timeout or options, fn)
  election:cancel()
  election:run(options, fn)
  election:stop()
  election:is_stopping()
  election:resign(options)
  election:leader()
  election:observe(fn)
]])

function Election:__tostring()
  return errors.describe("zklock %s %s", self._terms.owners:signature(),
    self.path)
end

return elections
