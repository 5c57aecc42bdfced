--- Under: how `with_lock` and similar calls, of any kind of lock, run the
-- user's function.
local errors = require "zklock.errors"
local protect = require "zklock.protect"

local under = {}

--- Calls fn(guard). If fn does not return, the closing of the caller's method
-- releases the lock.
function under.call(closing, guard, fn)
  if closing.bare then return protect.call(true, closing, fn, guard) end
  return fn(guard)
end

--- Returns the result after the guard was released: `true, ...results`; or
-- `nil, message, "lost", ...results`.
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

--- Calls fn(guard), releases the lock, and returns the result.
function under.run(closing, guard, fn)
  return under.report(guard, released(guard, under.call(closing, guard, fn)))
end

return under
