--- Protection: how what has been begun is ended, should the task be killed or
-- an error be raised meanwhile.
--
-- A hook (a debugger's, the one that an interpreter sets upon Ctrl-C) may
-- raise between any two instructions here.  So whatever must be undone hangs
-- on a `closing` before it is done: C calls `closing:finish()` however the
-- call ends, and once more if that was interrupted.  `closing.fine` says that
-- there is nothing to be undone.  Each finish() may be called again.
local core = require "zklock.core"
local loops = require "zklock.loop"

local protect = {}

--- Makes a class of closings; each has finish().
function protect.class()
  local class = { __close = core.close }
  class.__index = class
  return class
end

-- Where C cannot be yielded across there is Lua's own pcall.
local function finish_up(closing, ok, ...)
  closing.fine = ok
  closing:finish()
  if not ok then error((...), 0) end
  return ...
end

local yields_across_c = jit == nil and _VERSION ~= "Lua 5.1"

--- Calls `fn(...)`, and then `closing:finish()`, also if it raises or the
-- running task is killed in it.  `blocks`: it never yields.
function protect.call(blocks, closing, fn, ...)
  if blocks or yields_across_c then
    return core.protect(closing, fn, ...)
  elseif jit then
    return finish_up(closing, pcall(fn, ...))
  end
  -- No yield across pcall, either: only what blocks can be protected.
  closing.bare = true
  return finish_up(closing, true, fn(...))
end

--- A method `fn(closing, self, ...)`, protected as a whole, with a new closing
-- of `class` for each call.  `loop_of(self, ...)` is the loop in question.
function protect.method(class, loop_of, fn)
  if core.method then return core.method(fn, class) end
  return function(...)
    local closing = setmetatable({}, class)
    local blocks = loops.may_block(loop_of(...))
    return protect.call(blocks, closing, fn, closing, ...)
  end
end

return protect
