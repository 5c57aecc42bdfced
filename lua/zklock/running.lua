--- Running: a call of election:run in progress. The object is also the cleanup
-- handler (protect.lua) of the call.
--
-- A run campaigns, calls the user's function while it leads, releases the
-- leadership, and campaigns again. If the function raises an error, the run
-- pauses before it campaigns again.
local Attempt = require "zklock.attempt"
local callbacks = require "zklock.callbacks"
local core = require "zklock.core"
local options = require "zklock.options"
local plain = require "zklock.plain"
local protect = require "zklock.protect"
local reasons = require "zklock.reasons"
local waits = require "zklock.wait"

local Running = protect.class()

Running.terms = false -- the terms of the election
Running.given = false -- the user's options
Running.of_campaign = nil -- those for each campaign
Running.stopping = false -- true after stop()
-- The current operation:
Running.attempt = false
Running.pause = false

function Running:finish()
  if self.attempt and not self.fine then self.attempt:finish() end
  if self.terms then self.terms.engine.runs[self] = nil end
end

function Running:stop()
  self.stopping = true
  if self.attempt then self.attempt:cancel() end
  if self.pause then waits.finish(self.pause) end
end

-- Calls fn. Returns true. If fn raises an error, returns false, the error, and
-- whether it is an interrupt. But if there is neither the option `on_error` nor
-- a log, raises the error, because nothing else would show it.
local function call(self, guard, fn)
  if self.given.on_error or self.terms.engine.callbacks.log then
    return callbacks.try({ fn = fn }, guard)
  elseif self.bare then
    local ok, problem = pcall(fn, guard)
    if not ok then
      self:finish()
      error(problem, 0)
    end
  else
    fn(guard)
  end
  return true
end

local function tell(self, problem)
  local on_error = self.given.on_error
  if on_error then return on_error(problem) end
  self.terms.engine.callbacks:report("error", ("an error in the leader of %s: "
    .. "%s"):format(self.terms.path, plain.problem(problem)))
end

-- Campaigns once and, if it leads, calls fn and releases the lock. Returns
-- true; false if fn has raised an error; or nil, message, code if the campaign
-- failed.
local function lead(self, fn)
  if self.terms.engine.state.is.closed then
    return reasons.closed(self.terms.path)
  end
  self.attempt = Attempt.new()
  self.attempt:read(self.terms, self.of_campaign, options.campaign)
  local guard, message, code = self.attempt:acquire()
  if not guard then return nil, message, code end
  local ok, problem, interrupted = true, nil, false
  if not self.stopping and guard:is_held() then
    ok, problem, interrupted = call(self, guard, fn)
  end
  guard:release()
  if interrupted then error(problem, 0) end
  if not ok then tell(self, problem) end
  return ok
end

-- Returns a random number from 0 to 1. It varies the length of pauses, so that
-- processes that fail together do not campaign together again. Does not use
-- math.random, because in some versions of Lua it returns the same numbers in
-- each process. The microseconds of the clock differ.
local function jitter()
  return core.now() * 1e6 % 1
end

local function rest(self, failures)
  local given = self.given
  local seconds = math.min(given.backoff * 2 ^ (failures - 1),
    math.max(given.backoff, given.max_backoff))
  self.pause = waits.pause(self.terms.engine, seconds * (1 + jitter()) / 2)
  if not self.stopping then waits.take(self.pause) end
  self.pause = false
end

--- Campaigns and leads again and again. Returns true after stop(); or nil,
-- message, code when a campaign fails.
function Running:go(fn)
  local failures = 0
  while not self.stopping do
    local ok, message, code = lead(self, fn)
    if ok == nil and not self.stopping then return nil, message, code end
    failures = ok and 0 or failures + 1
    if not ok and not self.stopping then rest(self, failures) end
  end
  return true
end

return Running
