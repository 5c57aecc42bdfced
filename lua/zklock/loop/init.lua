--- Loops: how a call that waits suspends its caller. The option `loop` is an
-- *adapter* A, which connects an event loop to all sessions, or a *maker* of
-- adapters.
--
-- A maker has these functions:
--
--   new(session)        returns an adapter for this session.  The adapter uses
--                       session:fd() and session:step().  Makers of this
--                       directory get the session's engine as second argument
--   here()              optional, in this directory: returns the maker for the
--                       running code; nil if this loop does not run the code
--
-- An adapter A has these fields. `w` is a wait. A can store its own fields in
-- `w`, and reads w.done, which is true when the wait is over.
--
--   A.wait(w, timeout)  suspends the caller until A.wake(w), or the timeout;
--                       can return early
--   A.wake(w)           ends A.wait(w); must not yield, block or raise an error
--   A.arm()             optional: makes the loop watch the fd from now on,
--                       because a task waits or a callback is expected
--   A.disarm()          optional: lets the loop stop watching the fd
--   A.owner()           optional: returns the owner of the running task's holds
--   A.scope()           optional: returns the scope of the running request, if
--                       there is one (ngx/scope.lua): the sets `waits` and
--                       `guards`; scope:has_ended(); and `client`: whether a
--                       client can end the request
--   A.is_leaving()      optional: returns whether the process is about to end
--   A.cleanup()         optional: ends the scope of a request if A cannot
--                       detect the request's end
--   A.reads_fd          optional: the loop reads the wake-up's bytes itself
--   A.blocks            optional: A.wait blocks the thread and never yields
--   A.close()           optional: called before the fd is closed, maybe again
--
-- The adapters of this directory define, in the same order: a function that
-- reports errors which no other code would show, the reader (a task that calls
-- step()), wait, wake, arm, disarm, close.
local check = require "zklock.check"
local here = require "zklock.loop.here"
local misuse = require "zklock.errors".misuse

local loops = {}

local names = { poll = true }
local known, askers = here.names, {}
for i, name in ipairs(known) do
  names[name], askers[i] = true, here[name]
end

-- Represents the main chunk, which is not a coroutine in Lua 5.1 and LuaJIT.
local MAIN = "main"

--- Returns the running task: the coroutine, or MAIN in the main chunk.
function loops.task()
  local running, is_main = coroutine.running()
  if running == nil or is_main then return MAIN end
  return running
end

-- In PUC Lua 5.1 a coroutine cannot yield across these functions, so it cannot
-- wait inside them.
local fences = { [pcall] = true, [xpcall] = true }

local function is_fenced()
  if jit or _VERSION ~= "Lua 5.1" or not debug or loops.in_main() then
    return false
  end
  local level, info = 2, debug.getinfo(2, "f")
  while info and not fences[info.func] do
    level = level + 1
    info = debug.getinfo(level, "f")
  end
  return info ~= nil
end

--- Raises an error if the running task cannot be suspended.
function loops.check_fence()
  if not is_fenced() then return end
  misuse("on Lua 5.1 nothing can wait inside with_lock, a callback or pcall "
    .. "in a coroutine (there is no yield across pcall): use acquire and "
    .. "release, or loop = \"poll\"")
end

--- Returns whether the calling code runs in the main chunk, not in a coroutine.
function loops.in_main()
  return loops.task() == MAIN
end

-- The modules of adapters, by name; loaded when they are first used.
local modules = setmetatable({}, { __index = function(self, name)
  self[name] = require("zklock.loop." .. name)
  return self[name]
end })

-- Returns a maker of adapters, `{ new = }`, for the loop of this name. This is
-- the loop's module, or the result of the module's `here()`.
local function adapter_of(name)
  local adapter = modules[name]
  if adapter.here then return adapter.here() end
  return adapter
end

local function is_loop(loop)
  if type(loop) ~= "table" then return loop == "auto" or names[loop] end
  return type(loop.new) == "function"
    or type(loop.wait) == "function" and type(loop.wake) == "function"
end

local check_loop = check.rule(nil, ("\"auto\", \"poll\", \"%s\" or an adapter, "
  .. "a table with new, or with wait and wake"):format(table.concat(here.names,
    "\", \"")), is_loop)

--- Checks the option `loop` of connect, and returns it.
function loops.check(loop, title)
  check_loop(loop, title)
  if type(loop) == "table" or loop == "auto" then return loop end
  local ok, problem = pcall(require, "zklock.loop." .. loop)
  if not ok then
    misuse("%s = %q could not be loaded: %s", title, loop,
      tostring(problem):match "[^\n]*")
  end
  return loop
end

local IN_CALLBACK = "this code runs in %s, but not as a task that could be "
  .. "suspended, and waiting would block the whole loop: wait in a %s of its "
  .. "own, or connect with loop = \"poll\" to block"

local UNKNOWN = "this coroutine belongs to a scheduler that is not known "
  .. "here, and waiting would block all of it: connect with "
  .. "loop = \"poll\" to block, or with an adapter table of its own"

local kinds_of_task = { ngx = "timer (ngx.timer.at)", luv = "coroutine",
  cqueues = "task (cq:wrap)", copas = "thread (copas.addthread)" }

-- Returns the name of the loop that runs the calling code, and the kind of task
-- (see here.lua). If `loop` is not "auto", the name is `loop` itself, without
-- detection.
local function running(loop)
  if loop ~= "auto" then return loop, here[loop] and here[loop]() end
  for i = 1, #askers do
    local place = askers[i]()
    if place then return known[i], place end
  end
end

-- Returns the maker of the adapter that can suspend the caller. If there is
-- none, returns nil and a message.
local function choose(loop)
  if type(loop) == "table" then return loop end
  if loop == "poll" then return modules.poll end
  local name, place = running(loop)
  -- If the user names the loop, a "nested" caller is allowed. The user may know
  -- that the yields reach the loop.
  if place == "callback" or place == "nested" and loop == "auto" then
    local where = name == "ngx" and "nginx's phase " .. ngx.get_phase() or name
    return nil, IN_CALLBACK:format(where, kinds_of_task[name])
  elseif place then
    return adapter_of(name)
  elseif loops.in_main() and loop ~= "luv" then
    return modules.poll
  elseif loop == "auto" then
    return nil, UNKNOWN
  end
  return adapter_of(loop), loop .. " does not run here"
end

--- Returns the maker of the adapter that suspends the caller; raises an error
-- if none can.
function loops.find(loop)
  local maker, complaint = choose(loop)
  if not maker then misuse("%s", complaint) end
  return maker
end

--- Returns the maker of the running loop's adapter, for calls that do not wait.
-- Without a loop, returns the maker of "poll".
function loops.peek(loop)
  local name, place
  if type(loop) == "string" then name, place = running(loop) end
  return place and adapter_of(name) or choose(loop) or modules.poll
end

-- is_stuck returns whether the running coroutine cannot be suspended, because a
-- C function is on its stack. PUC Lua 5.1 has no isyieldable, so the result
-- there is nil.
local isyieldable = coroutine.isyieldable

local function is_stuck()
  return isyieldable and not isyieldable() and not loops.in_main()
end

--- Returns whether a call that does not wait can run callbacks directly. It
-- cannot in some phases of nginx, or if the callback would be unable to wait.
-- Then step() runs the callback later, in a task.
function loops.allows_callbacks(loop)
  if is_stuck() and not loops.may_block(loop) then return false end
  if type(loop) ~= "string" then return true end
  local name, place = running(loop)
  return name ~= "ngx" or place ~= "callback"
end

--- Returns whether a call is allowed to block this thread. It is allowed only
-- if waits of the caller block the thread anyway, as with "poll".
function loops.may_block(loop)
  return type(loop) ~= "table" and choose(loop) == modules.poll
end

return loops
