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

-- Functions for the library, not for users.
local elections = {}

function elections.new(engine, path, given)
  return setmetatable({
    path = path,
    _session = engine.session,
    _terms = locks.terms(engine, path, "election", "mutex", given),
  }, Election)
end

--- Waits until the calling task leads; returns a guard, or `nil, message,
-- code`. `how`: the same options as for acquire.
Election.campaign = protect.method(Attempt, function(attempt, self, how)
  return attempt:read(self._terms, how, options.campaign):acquire()
end)

--- Begins a campaign, and returns a ticket at once; step() calls
-- `callback(guard, message, code)` with the outcome.
function Election:campaign_async(how, callback)
  how, callback = check.function_last(how, callback,
    "campaign_async([options,] fn)")
  local attempt = Attempt.new():read(self._terms, how, options.campaign)
  return locks.begin(attempt, callback)
end

--- Ends every campaign that was begun through this object, with "cancelled".
function Election:cancel()
  locks.cancel(self._terms)
end

-- Returns the run() call of this object that is in progress, or nil.
local function find_run(self)
  for running in pairs(self._terms.engine.runs) do
    if running.terms == self._terms then return running end
  end
end

--- Campaigns, calls fn(guard) while the task leads, then releases the
-- leadership and campaigns again. Returns true after stop(); or nil, message,
-- code when a campaign fails.
Election.run = protect.method(Running, function(running, self, how, fn)
  how, fn = check.function_last(how, fn, "run([options,] fn)")
  local given = options.run:read(how)
  local engine = self._terms.engine:check_open()
  if find_run(self) then
    errors.misuse("run is under way for %s already: it calls one function at "
      .. "a time", self.path)
  end
  engine.adapters:for_waiting() -- raises an error if no loop can wait
  running.terms, running.given = self._terms, given
  running.of_campaign = how and { data = how.data, max_hold = how.max_hold }
  engine.runs[running] = true
  running.stopping = engine.adapters:is_leaving()
  return running:go(fn)
end)

--- Makes run() return. If run() campaigns or pauses, it returns at once. If fn
-- runs, run() returns when fn has returned, because stop() does not interrupt
-- fn.
function Election:stop()
  self._terms.engine:check_process()
  local running = find_run(self)
  if running then running:stop() end
end

--- Returns whether stop() was called and run() has not returned yet.
function Election:is_stopping()
  local running = find_run(self)
  return running ~= nil and running.stopping
end

--- Releases the leadership that a task holds through this object. Returns true;
-- false if no task leads; `nil, message, "lost"` if the leadership was lost
-- before.
function Election:resign(how)
  self._terms.engine:check_process()
  options.read_release(how)
  local guard = guards.find(self._terms)
  if not guard then return false end
  return guard:release(how)
end

--- Asks a server for the leader: returns `{ data=, token=, session=, since= }`,
-- or nil if there is none.
function Election:leader()
  local terms = self._terms
  return surveys.leader(terms.engine:check_open(), self.path,
    locks.modes(terms))
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
  return errors.describe("zklock %s %s", self._terms.owners.signature,
    self.path)
end

return elections
