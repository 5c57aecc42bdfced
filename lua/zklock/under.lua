--- Under: calls the user's function under a lock, for `with_lock` and similar
-- methods of all kinds of locks.
local errors = require "zklock.errors"
local protect = require "zklock.protect"

local under = {}

--- Calls fn(guard). If fn does not return, `closing`, the cleanup handler of
-- the caller's method (protect.lua), releases the lock.
function under.call(closing, guard, fn)
  if closing.bare then return protect.call(true, closing, fn, guard) end
  return fn(guard)
end

--- Returns the result of with_lock after the guard was released. This is
-- `true, ...results`, or `nil, message, "lost", ...results` if the hold was
-- lost.
function under.report(guard, ...)
  if guard:state() == "lost" then
    local _, message, code = errors.refusal("lost",
      "the hold of %s was lost while it was used%s", guard.path,
      errors.because(guard:reason()))
    return nil, message, code, ...
  end
  return true, ...
end

local function released(guard, ...)
  guard:release()
  return ...
end

--- Releases a guard whose hold was lost before the user's function could be
-- called. Returns nil, message, "lost". Such a loss is possible, because the
-- loop can resume a task long after the grant.
function under.refuse(guard)
  guard:release()
  return errors.lost(guard.path, guard:reason())
end

--- Calls fn(guard), releases the lock, and returns the result of with_lock.
function under.run(closing, guard, fn)
  if not guard:is_held() then return under.refuse(guard) end
  return under.report(guard, released(guard, under.call(closing, guard, fn)))
end

return under
