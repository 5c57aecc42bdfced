--- Running: an election's `run` under way; it is the closing of that method.
--
-- It campaigns, calls the user's function while it leads, and campaigns again.
-- After a function that has failed it pauses first, and is no candidate then.
local Attempt = require "zklock.attempt"
local callbacks = require "zklock.callbacks"
local core = require "zklock.core"
local pauses = require "zklock.pause"
local plain = require "zklock.plain"
local protect = require "zklock.protect"
local reasons = require "zklock.reasons"
local waits = require "zklock.wait"

local Running = protect.class()

Running.terms = false -- the election's
Running.runs = false -- of the election, this one among them
Running.given = false -- options
Running.stopping = false -- by stop()
-- What is under way.
Running.attempt = false
Running.wait = false
Running.pause = false

function Running:finish()
  if self.attempt and not self.fine then self.attempt:finish() end
  if not (self.runs and self.terms) then return end
  self.runs[self], self.terms.engine.runs[self] = nil, nil
end

function Running:stop()
  self.stopping = true
  if self.wait then waits.cancel(self.wait) end
  if self.pause then pauses.finish(self.pause) end
end

-- Calls fn: true; or false, what it has raised, and is it an interrupt?  What
-- nobody would hear is raised again.
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

-- One campaign and what comes of it.  True; false, if fn has failed; or nil,
-- message, code.
local function lead(self, fn, campaign)
  if self.terms.engine.state.is.closed then
    return reasons.closed(self.terms.path)
  end
  self.attempt = Attempt.new()
  local guard, message, code = campaign(self.attempt)
  self.wait = false
  if not guard then return nil, message, code end
  local ok, problem, interrupted = true, nil, false
  if not self.stopping then ok, problem, interrupted = call(self, guard, fn) end
  guard:release()
  if interrupted then error(problem, 0) end
  if not ok then tell(self, problem) end
  return ok
end

-- Processes that fail at the same time are not to come back at the same time.
-- (Not by math.random, which is the same in each of them on some Luas: the
-- clock's microseconds are not.)
local function jitter()
  return core.now() * 1e6 % 1
end

local function rest(self, failures)
  local given = self.given
  local seconds = math.min(given.backoff * 2 ^ (failures - 1),
    given.max_backoff)
  self.pause = pauses.new(self.terms.engine, seconds * (1 + jitter()) / 2)
  if not self.stopping then pauses.take(self.pause) end
  self.pause = false
end

--- Until it is stopped, which is true; or a campaign is refused: nil, message,
-- code.
function Running:go(fn, campaign)
  local failures = 0
  while not self.stopping do
    local ok, message, code = lead(self, fn, campaign)
    if ok == nil and not self.stopping then return nil, message, code end
    failures = ok and 0 or failures + 1
    if not ok and not self.stopping then rest(self, failures) end
  end
  return true
end

return Running
