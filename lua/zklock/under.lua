--- Under: what `with_lock` does once it has the lock, of whatever kind.
local core = require "zklock.core"
local errors = require "zklock.errors"

local function released(guard, ...)
  guard:release()
  return ...
end

-- Runs fn(guard) and releases; the closing of the caller's method releases if
-- this does not get through.
local function run(closing, guard, fn)
  if closing.bare then
    return released(guard, core.protect(closing, fn, guard))
  end
  return released(guard, fn(guard))
end

local function report(guard, ...)
  if guard:state() == "lost" then
    local _, message, code = errors.refusal("lost",
      "the hold of %s was lost while it was used%s", guard.path,
      errors.because(guard:reason()))
    return nil, message, code, ...
  end
  return true, ...
end

--- `true, ...results of fn(guard)`; or `nil, message, "lost", ...results`.
return function(closing, guard, fn)
  return report(guard, run(closing, guard, fn))
end
