--- Under: what `with_lock` and its like do once they have the lock, of whatever
-- kind.
local errors = require "zklock.errors"
local protect = require "zklock.protect"

local under = {}

--- Calls fn(guard).  The closing of the caller's method releases if this does
-- not get through.
function under.call(closing, guard, fn)
  if closing.bare then return protect.call(true, closing, fn, guard) end
  return fn(guard)
end

--- What is said of it when the guard has been released: `true, ...results`; or
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

--- Calls fn(guard), releases, and reports.
function under.run(closing, guard, fn)
  return under.report(guard, released(guard, under.call(closing, guard, fn)))
end

return under
