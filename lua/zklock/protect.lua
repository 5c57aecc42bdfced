--- Protection: cleans up after a call that raises an error or whose task is
-- killed.
--
-- The call first makes a *cleanup handler*, named `closing` in the code. This
-- object undoes what the call has begun. However the call ends,
-- `closing:finish()` is called once. If `closing.fine` is true, the call has
-- succeeded, and there is nothing to undo. An error of a debug hook (Ctrl-C) is
-- treated like any other error. If a hook raises an error while finish() runs,
-- some holds may remain. The garbage collector, lock:release() or close then
-- releases them.
local loops = require "zklock.loop"

local protect = {}

--- Makes a class of cleanup handlers, to which the caller adds a method
-- finish().
function protect.class()
  local class = { __close = function(closing) closing:finish() end }
  class.__index = class
  function class.new() return setmetatable({}, class) end
  return class
end

local function note(closing, ok, ...)
  closing.fine = ok
  return ok, ...
end

local function finish(closing, ...)
  closing:finish()
  return ...
end

local function answer(ok, ...)
  if not ok then error((...), 0) end
  return ...
end

-- Calls fn, then closing:finish(), even if fn raises an error. Returns fn's
-- results, or raises its error.
local function call(closing, fn, ...)
  return answer(finish(closing, note(closing, pcall(fn, ...))))
end

local function fine(closing, ...)
  closing.fine = true
  return ...
end

if not jit and _VERSION > "Lua 5.3" then
  -- In these versions a program can close a coroutine while fn waits in it. So
  -- `closing` is in a to-be-closed variable; when Lua closes it, finish() is
  -- called. In the main chunk, an error always reaches a pcall, and Lua closes
  -- the variables on the way. So fn is called without a pcall, and the error
  -- keeps its traceback. In a coroutine, an uncaught error closes no variable,
  -- so fn is called in a pcall.
  call = load([[
    local running, fine, note, answer = ...
    local function through(closing, fn, ...)
      local _ <close> = closing
      return fine(closing, fn(...))
    end
    local function caught(closing, fn, ...)
      local _ <close> = closing
      return note(closing, pcall(fn, ...))
    end
    return function(closing, fn, ...)
      local _, is_main = running()
      if is_main then return through(closing, fn, ...) end
      return answer(caught(closing, fn, ...))
    end
  ]], "=zklock.protect")(coroutine.running, fine, note, answer)
end

local yields_across_pcall = jit ~= nil or _VERSION ~= "Lua 5.1"

--- Calls `fn(...)`, then `closing:finish()`, even if fn raises an error or the
-- running task is killed. `blocks`: true if fn never yields.
function protect.call(blocks, closing, fn, ...)
  if blocks or yields_across_pcall then return call(closing, fn, ...) end
  closing.bare = true -- Lua 5.1: only calls that block are protected
  return finish(closing, fine(closing, fn(...)))
end

local function loop_of(self)
  return (self._engine or self._terms.engine).adapters.loop
end

--- Returns a method that calls `fn(closing, self, ...)`, where `closing` is a
-- new cleanup handler of `class`. The whole call is protected.
-- `find_loop(self, ...)`: returns the option `loop` of the call's session;
-- needed only if `self` has no engine.
function protect.method(class, fn, find_loop)
  local new = class.new
  find_loop = find_loop or loop_of
  return function(...)
    local closing = new()
    if yields_across_pcall then return call(closing, fn, closing, ...) end
    return protect.call(loops.may_block(find_loop(...)), closing, fn, closing,
      ...)
  end
end

return protect
