--- Reasons: makes the results `nil, message, code` of calls that have failed.
local errors = require "zklock.errors"
local quote = require "zklock.quote"

local refusal = errors.refusal

local reasons = {}

-- Returns " (last error: …)" with the C core's last error. Returns "" if there
-- was none, or after a close, when zklock must not call the core any more.
local function last_error(engine)
  local text = engine.state.is.closed and "" or engine.core:error()
  return text ~= "" and (" (last error: %s)"):format(text) or ""
end

-- For the code `auth`, returns text for the message: the schemes of the user's
-- credentials, or why TLS fails. Returns "" for other codes.
local function given_schemes(engine, code, reason)
  if code ~= "auth" then return "" end
  if reason and reason:find("TLS fails", 1, true) then
    return last_error(engine)
  end
  local schemes = engine.schemes
  return schemes ~= "" and (" (option 'auth': %s)"):format(schemes)
    or " (there is no option 'auth')"
end

-- Returns what is known about the queue, such as ' (2 ahead; held by
-- "web1:4711")'; "" if nothing is known. `ahead`: the number of contenders
-- ahead; negative if it is at least 1.
local function describe_queue(ahead, wait)
  local parts = {}
  if ahead > 0 then parts[1] = ("%d ahead"):format(ahead) end
  if ahead < 0 then parts[1] = "at least 1 ahead" end
  if wait.blocker then
    parts[#parts + 1] = (wait.blocker_holds and "held by " or "just ahead is ")
      .. quote(wait.blocker, wait.blocker_cut)
  end
  return parts[1] and (" (%s)"):format(table.concat(parts, "; ")) or ""
end

-- Returns " (2 members are missing)" for a double barrier; "" if no member is
-- missing.
local function describe_missing(missing)
  return missing > 0 and (" (%d member%s missing)"):format(missing,
    missing == 1 and " is" or "s are") or ""
end

-- Returns ": " and `reason`, a server's temporary error that has prevented
-- success; "" if there was none.
local function so_far(reason) return reason and ": " .. reason or "" end

-- Maps each code to a function that returns the error of a wait that ended
-- without the lock.
local of_wait = {}

function of_wait.timeout(path, wait)
  local ahead, timeout = wait.ahead or 0, wait.asked or wait.timeout
  local about = wait.gathers and describe_missing(ahead)
    or describe_queue(ahead, wait)
  if timeout == 0 and not wait.reason then -- the servers were asked only once
    return refusal("timeout", wait.gathers
      and "not all members of %s have come%s" or "%s is taken%s", path, about)
  end
  return refusal("timeout", "timed out after %s waiting for %s%s%s",
    errors.seconds(timeout or 0), path, about, so_far(wait.reason))
end

function of_wait.busy(path, wait)
  if wait.refusal ~= "busy" then return of_wait.timeout(path, wait) end
  return refusal("busy", "%s is taken%s", path, describe_queue(0, wait))
end

function of_wait.cancelled(path)
  return refusal("cancelled", "the wait for %s was cancelled", path)
end

function of_wait.closed(path)
  return refusal("closed", "the session was closed while waiting for %s", path)
end

function of_wait.lost(path)
  return refusal("lost", "the hold of %s was lost", path)
end

function of_wait.disconnected(path, wait)
  local timeout = wait.asked or wait.timeout
  local within = timeout and timeout > 0
    and " within " .. errors.seconds(timeout) or ""
  return refusal("disconnected", "no server of %s answered%s, waiting for %s%s",
    wait.engine.hosts, within, path, last_error(wait.engine))
end

function of_wait.auth(path, wait)
  return refusal(wait.code, "ZooKeeper refused a node under %s: %s%s", path,
    wait.reason or "the credentials are not accepted",
    given_schemes(wait.engine, wait.code, wait.reason))
end

function of_wait.denied(path, wait) return of_wait.auth(path, wait) end

function of_wait.invalid(path, wait)
  return refusal("invalid", "ZooKeeper cannot make a lock at %s: %s", path,
    wait.reason or "it gave no reason")
end

-- Maps the mode of a contender to the kind of lock to which it belongs.
local kinds = {
  mutex = "a mutex", read = "a readers-writer lock",
  write = "a readers-writer lock", permit = "a semaphore",
  unfair = "an unfair mutex", latch = "an election in the layout of latches",
  member = "a double barrier", ["kazoo-lock"] = "a lock in kazoo's layout",
  ["kazoo-read"] = "a readers-writer lock in kazoo's layout",
}

function of_wait.conflict(path, wait)
  local owner = "session " .. wait.blocker_session
  if wait.blocker then
    owner = ("%s, %s"):format(quote(wait.blocker, wait.blocker_cut), owner)
  end
  return refusal("conflict", "%s is in use as %s (by %s): locks of different "
    .. "kinds do not exclude each other", path, kinds[wait.reason], owner)
end

--- Returns the error of an attempt (attempt.lua) that has ended without the
-- lock.
function reasons.of_wait(attempt)
  return of_wait[attempt.code](attempt.terms.path, attempt)
end

reasons.cancelled, reasons.closed = of_wait.cancelled, of_wait.closed

--- Returns the error of a wait for a node. `what`: the condition and the path,
-- for the message, such as "the barrier /b to be lifted".
function reasons.of_node_wait(wait, what)
  local code, reason = wait.code, wait.reason
  if code == "timeout" then
    return refusal("timeout", "timed out after %s waiting for %s%s",
      errors.seconds(wait.timeout or 0), what, so_far(reason))
  elseif code == "cancelled" or code == "closed" or code == "disconnected" then
    return of_wait[code](what, wait)
  end
  return refusal(code, "ZooKeeper refused a request of the wait for %s: %s%s",
    what, reason or code, given_schemes(wait.engine, code, reason))
end

--- Returns the error of a query. `what`: the question, such as "who holds";
-- `path` follows it in the message. If a server refused the query, the message
-- has the full path, with the chroot.
function reasons.of_question(wait, what, path)
  if wait.code == "disconnected" then
    return refusal("disconnected", "no server could be asked %s %s%s", what,
      path, last_error(wait.engine))
  elseif wait.code == "closed" then
    return refusal("closed", "the session was closed while it asked %s %s",
      what, path)
  end
  return refusal(wait.code, "ZooKeeper refused to say %s %s%s: %s%s", what,
    wait.engine.chroot, path, wait.reason or wait.code,
    given_schemes(wait.engine, wait.code, wait.reason))
end

--- Returns the error of a write to `path`. `what` names the write, such as "the
-- write to". If no server has answered, the servers may have applied the write.
function reasons.of_order(wait, what, path)
  if wait.code == "closed" then
    return refusal("closed", "the session was closed before a server "
      .. "confirmed %s %s", what, path)
  elseif wait.code == "disconnected" then
    return refusal("disconnected", "no server has confirmed %s %s; it "
      .. "may have happened%s", what, path, last_error(wait.engine))
  end
  return refusal(wait.code, "ZooKeeper refused %s %s%s: %s", what,
    wait.engine.chroot, path, wait.reason or wait.code)
end

--- Returns the error of a failed first connection. Must be called before the
-- session is closed, because the C core then no longer has the last error.
function reasons.of_opening(engine, code, timeout)
  local last, hosts = last_error(engine), engine.hosts
  local wants = engine.state.wants
  if code == "auth" and wants then
    return refusal("auth", "ZooKeeper at %s refuses this session: %s%s", hosts,
      wants, given_schemes(engine, code, wants))
  elseif code == "auth" then
    return refusal("auth", "ZooKeeper at %s does not accept the credentials",
      hosts)
  elseif code == "disconnected" then
    return refusal("disconnected", "no host of %s has an address%s", hosts,
      last)
  elseif code == "closed" then
    return refusal("closed", "the session was closed while it connected to %s",
      hosts)
  end
  return refusal("disconnected", "no server of %s answered within %s%s",
    hosts, errors.seconds(timeout), last)
end

return reasons
