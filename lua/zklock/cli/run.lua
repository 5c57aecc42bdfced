--- `zklock run`: runs a command under a lock.
--
-- There are three processes. This process has the session and the lock. It
-- first forks its guardian. When a server has granted the lock, the guardian
-- starts the third process, the command.
local await = require "zklock.cli.await"
local connect = require "zklock.cli.connect"
local exit = require "zklock.cli.exit"
local guardian = require "zklock.guardian"
local GuardianClient = require "zklock.cli.guardian_client"
local leaving = require "zklock.cli.leaving"
local once = require "zklock.cli.once"
local signals = require "zklock.cli.signals"
local talk = require "zklock.cli.talk"
local uv = require "luv"
local visit = require "zklock.cli.visit"
local waiting = require "zklock.cli.waiting"
local zklock = require "zklock"

local GRACE = 5

-- The times between two checks after the guardian's death. At each check, this
-- process sends SIGKILL to the command's remaining processes. LOOK_SELDOM
-- applies once a process of another user has refused the signal.
local LOOK_AGAIN, LOOK_SELDOM = 20, 1000 -- milliseconds between two checks

-- TELLING: the time between two extensions of the guardian's lease. MARGIN: how
-- long before the end of this lease the guardian begins to end the command.
-- Both are fractions of the session timeout. TELLING is less than the period of
-- heartbeats, a twelfth of the timeout. MARGIN leaves more than half of the
-- shortest lease.
local TELLING, MARGIN = 1 / 40, 1 / 6

local Run = {}
Run.__index = Run

-- Returns the data of the lock's node, for other clients: host, process and
-- command.
local function describe(request)
  return request.data or ("%s:%d %s"):format(uv.os_gethostname(),
    uv.os_getpid(), request.words[1]:match "[^/]*$")
end

-- Sets `self.outcome`, the outcome of the command, and wakes Run:execute.
function Run:conclude(outcome)
  self.outcome = self.outcome or outcome
  if self.wake then self.wake() end
end

-- Ends a step, and prints with -v how long it took. `what`: text such as
-- "granted in"; nil prints nothing.
function Run:mark(what)
  local now = zklock.now()
  if what and self.request.verbose then
    talk.say("%s %.1f ms", what, (now - self.marked) * 1000)
  end
  self.marked = now
end

-- Messages from the guardian.

local on = {}

function on.started(self, pid)
  self.pid = tonumber(pid)
  self:mark "started in"
end

function on.failed(self, detail)
  local code, problem = detail:match "^(%d+) (.*)$"
  self:conclude { code = tonumber(code), problem = problem }
end

function on.stopped(self) self:stop() end

local endings = {
  lease = "no server has responded for too long: the command is ended "
    .. "before another process can acquire the lock",
  ["max-hold"] = "the command has run for as long as --max-hold allows: it is "
    .. "ended",
}

function on.ending(self, why)
  self.ended_by = endings[why] and why
  if endings[why] then talk.say(endings[why]) end
end

function on.killing(self)
  talk.say("the command did not end in time: it is killed")
end

function on.refused(self, number)
  local is_lost = self.loss or self.ended_by == "lease"
  self.is_refused = true
  talk.say(is_lost and "a process of the command runs as another user and "
      .. "cannot be sent %s: it goes on, without the lock"
    or "a process of the command runs as another user and cannot be sent %s: "
      .. "it goes on, and the lock is kept until it ends",
    signals.name_of(tonumber(number)))
end

function on.exited(self, code)
  self:conclude { code = tonumber(code) }
end

function on.signaled(self, number)
  number = tonumber(number)
  self:conclude { code = exit.of_signal(number), signal = number }
end

-- Called when the guardian was killed. The command's first process dies with
-- the guardian, unless that process runs as another user. Kills the other
-- processes of the command, and keeps the lock as long as one of them is left.
function on.gone(self)
  if self.outcome then return end
  if not self.granted then
    talk.say "the guardian was killed: nothing is run"
    waiting.erase()
    return leaving.leave(exit.codes.internal)
  end
  local timer, was_refused = uv.new_timer(), false
  local function look()
    local is_left, is_refused, is_whole, group =
      guardian.kill_rest(self.pid or 0)
    self.pid = group
    if not is_left then
      timer:close()
      return self:conclude { code = exit.codes.internal,
        problem = self.is_refused and "its guardian was killed"
          or is_whole and "its guardian was killed, and so was the command"
          or "its guardian was killed, and so was the command, except "
            .. "processes that have left its group" }
    end
    -- Reports the guardian's death only if SIGKILL was refused in two checks in
    -- a row. At the first check, the guardian's own process may still be
    -- ending.
    if is_refused and was_refused and not self.is_refused then
      talk.say "the guardian was killed"
      on.refused(self, signals.number_of "KILL")
    end
    timer:start(self.is_refused and LOOK_SELDOM or LOOK_AGAIN, 0, look)
    was_refused = is_refused
  end
  look()
end

-- Signals.

-- Stops this process, as Ctrl-Z does; returns when it is continued.
function Run:stop()
  guardian.stop()
  self.guardian:say "continue"
end

-- Handles a signal to this process. Before the command runs, the signal ends
-- zklock with the signal's exit code, or stops zklock. Later, zklock passes the
-- signal on to the command.
function Run:on_signal(number)
  if number == signals.number_of "CONT" then
    self.guardian:say "continue"
  elseif self.granted then
    self.guardian:say("signal %d", number)
  elseif number == signals.number_of "TSTP" then
    self:stop()
  elseif number ~= signals.number_of "WINCH" then
    waiting.erase()
    leaving.leave(exit.of_signal(number), number)
  end
end

-- The lock.

local function make_lock(session, request)
  local path = request.path
  local options = { share_path = request.share_path }
  if request.permits then
    return session:semaphore(path, request.permits, options)
  end
  if request.exclusive then return session:rwlock(path, options).write end
  if request.shared then return session:rwlock(path, options).read end
  return session:mutex(path, options)
end

function Run:acquire()
  local request, guard, message, code = self.request
  local lock = make_lock(self.session, request)
  local data = { data = self.holder }
  if request.try then
    guard, message, code = lock:try_acquire(data)
  else
    -- The option --timeout includes the time that zklock needed to connect.
    -- Subtracts this time, rounded down to tenths of a second.
    local gone = math.floor((zklock.now() - self.begun) * 10) / 10
    data.timeout = request.timeout and math.max(0, request.timeout - gone)
    local stop = waiting.begin(self.session, request.path, self.begun)
    guard, message, code = lock:acquire(data)
    stop()
  end
  if not guard then exit.refuse(message, code) end
  self:mark "granted in"
  return guard
end

-- Extends the guardian's lease again and again while the lock is held. If the
-- lock is lost, makes the guardian end the command. If another client revokes
-- the lock, sends SIGTERM to the command.
function Run:tell_lease(guard)
  local timeout = self.session:timeout()
  local margin = math.min(self.grace, timeout * MARGIN)
  -- Reads the clock before it calls guard:lease(). If the system stops this
  -- process between the two calls, the guardian's lease becomes shorter than
  -- the hold's, never longer.
  local function tell()
    local moment = zklock.now()
    if guard:is_held() then
      self.guardian:lease(moment + guard:lease(), margin)
    end
  end
  tell()
  self.timer = uv.new_timer()
  local period = math.max(10, math.floor(timeout * TELLING * 1000))
  self.timer:start(period, period, tell)
  guard:on_lost(function(_, reason)
    self.loss = reason
    if self.outcome then return end
    self.guardian:say "end"
    talk.say(self.is_refused and "%s was lost (%s), and the command goes on"
      or "%s was lost (%s): the command is ended", guard.path, reason)
  end)
  guard:on_revoke(function()
    talk.say("another client asks for %s: the command is sent SIGTERM",
      guard.path)
    self.guardian:say("signal %d", signals.number_of "TERM")
  end)
end

-- Returns whether the command is due; without --once-per, it is always due. If
-- it is not due, sets the outcome to success.
function Run:is_due(guard)
  local period = self.request.once_per
  if not period then return true end
  local is_due, age = once.is_due(self.session, guard, period)
  if is_due then return true end
  if self.request.verbose and age >= 0 then
    talk.say("not due: the last successful run ended %.0f s before we asked "
      .. "for the lock", age)
  end
  self:conclude { code = exit.codes.ok }
  return false
end

function Run:note_success(guard)
  if self.request.once_per and self.outcome.code == 0 and not self.ended_by
      and guard:is_held() then
    once.note(self.session, guard, self.holder)
  end
end

-- Runs the command under the lock, and waits until it has ended.
function Run:execute(guard)
  -- If a signal has ended the wait meanwhile, leaving.finish closes the
  -- session. Then the command must not start.
  if leaving.code then coroutine.yield() end
  self.granted = true
  self:tell_lease(guard)
  self.guardian:say("run %.0f %.0f %s", self.grace * 1e9,
    (self.request.max_hold or -1) * 1e9, guard:token())
  await.call(function(done) self.wake = done end)
  self:mark "ended after"
  self.timer:close()
end

-- Releases the lock and closes the session. Returns the exit code, or fails
-- with a message if the command failed to run or the lock was lost.
function Run:close(guard)
  local outcome = self.outcome
  local kept, message = guard:release()
  self.session:close()
  self:mark "released in"
  if outcome.problem then
    exit.fail(outcome.code, "%s: %s", self.request.words[1], outcome.problem)
  end
  if not kept then exit.fail("lost", "%s", talk.bare(message)) end
  if self.ended_by then return exit.codes.lost end
  if outcome.signal then leaving.leave(outcome.code, outcome.signal) end
  return outcome.code
end

-- Connects, acquires the lock, runs the command and releases the lock. Returns
-- the exit code.
function Run:proceed()
  -- A timeout of 0 limits only the wait for the lock, not the wait for a
  -- connection.
  local limit = self.request.timeout
  self.session = connect(self.request, limit ~= 0 and limit or nil)
  self:mark()
  local guard = self:acquire()
  if not self:is_due(guard) then return self:close(guard) end
  self:execute(guard)
  self:note_success(guard)
  return self:close(guard)
end

return function(request)
  visit.check_path(request.path)
  local now = zklock.now()
  local self = setmetatable({
    request = request,
    grace = request.grace or GRACE,
    holder = describe(request),
    begun = now,
    marked = now,
  }, Run)
  uv.os_setenv("ZKLOCK_PATH", request.path)
  uv.os_setenv("ZKLOCK_HOLDER", self.holder)
  local problem
  self.guardian, problem = GuardianClient.start(request.words,
    function(word, detail) on[word](self, detail) end)
  if not self.guardian then
    exit.fail("internal", "cannot start a process: %s", problem)
  end
  talk.begin()
  signals.watch("TERM INT HUP QUIT USR1 USR2 WINCH TSTP CONT",
    function(number) self:on_signal(number) end)
  local ok, code = xpcall(self.proceed, exit.explain, self)
  -- If the command still runs, this process must not release the lock here. It
  -- only ends. The guardian notices this and ends the command before the
  -- session can expire.
  if self.granted and not self.outcome then leaving.sessions = {} end
  if not ok then error(code, 0) end
  return code
end
