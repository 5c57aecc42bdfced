--- Loops: how a call that must wait suspends its caller.
--
-- The option `loop` is an adapter A itself, one for all sessions, or a maker:
--   new(session)        A, for one session: session:fd(), session:step().
--                       Those of this directory get the session's engine, too
--   here()              optional, of this directory's: the maker for what runs
--                       here; nil: nothing does
-- What A has.  `w` is a wait; in it A may keep what it likes under names of its
-- own, and read w.done, which says that there is nothing to wait for.
--   A.wait(w, timeout)  suspends the caller until A.wake(w), or the time; may
--                       return early
--   A.wake(w)           never yields, blocks or raises
--   A.arm(), A.disarm() optional: from now on somebody waits or expects a
--                       callback, and the fd is to be watched; nobody any more
--   A.owner()           optional: what the running task is called
--   A.scope()           optional: what ends with the caller's request, if there
--                       is one (ngx/scope.lua): `waits` and `guards`, sets that
--                       scope:add(set, thing) and scope:remove(set, thing)
--                       change, scope:has_ended(), and `client`: can a client
--                       end the request?
--   A.is_leaving()      optional: is the process to end when what is under way
--                       is done?
--   A.cleanup()         optional: the running request ends, which A cannot tell
--   A.reads_fd          optional: the host reads the wake-up's bytes itself
--   A.blocks            optional: A.wait blocks the thread, it never yields
--   A.close()           optional: always before the fd is closed; maybe again
--
-- The adapters of this directory have the same parts in the same order: how
-- the loop hears of an error that nobody else would, the reader, wait, wake,
-- arm, disarm, close.
local here = require "zklock.loop.here"
local misuse = require "zklock.errors".misuse

local loops = {}

local names = { poll = true }
local known, askers = here.names, {}
for i, name in ipairs(known) do
  names[name], askers[i] = true, here[name]
end

-- The main chunk is no coroutine on 5.1 and LuaJIT: one name stands for it.
local MAIN = "main"

--- The running task: the coroutine, the main chunk included.
function loops.task()
  local running, is_main = coroutine.running()
  if running == nil or is_main then return MAIN end
  return running
end

-- PUC 5.1 has no yield across pcall: what runs inside one cannot wait in a
-- coroutine.
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

--- Raises where the running task could not be suspended.
function loops.check_fence(adapter)
  if adapter.blocks or not is_fenced() then return end
  misuse("on Lua 5.1 nothing can wait inside with_lock, a callback or pcall "
    .. "in a coroutine (there is no yield across pcall): use acquire and "
    .. "release, or loop = \"poll\"")
end

--- Does the calling code run in the main chunk?
function loops.in_main()
  return loops.task() == MAIN
end

-- Modules of adapters, by name, as they are asked for.
local modules = setmetatable({}, { __index = function(self, name)
  self[name] = require("zklock.loop." .. name)
  return self[name]
end })

-- A maker `{ new = }`, one for all or what `here()` says.
local function adapter_of(name)
  local adapter = modules[name]
  if adapter.here then return adapter.here() end
  return adapter
end

--- Checks the option `loop`.
function loops.check(loop)
  if loop == nil then return "auto" end
  if type(loop) == "table" then
    if type(loop.new) ~= "function"
        and not (type(loop.wait) == "function"
          and type(loop.wake) == "function") then
      misuse("option 'loop' must be a name or an adapter: a table "
        .. "with new, or with wait and wake")
    end
    return loop
  end
  if loop ~= "auto" and not names[loop] then
    misuse("option 'loop' must be \"auto\", \"poll\", \"%s\" or an adapter "
      .. "table, got %s", table.concat(here.names, "\", \""), tostring(loop))
  end
  if loop ~= "auto" then
    local ok, problem = pcall(require, "zklock.loop." .. loop)
    if not ok then
      misuse("option 'loop' = %q cannot be had: %s", loop,
        tostring(problem):match "[^\n]*")
    end
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

-- The loop that runs here, of those in question, and how: see here.lua.
local function running(loop)
  if loop ~= "auto" then return loop, here[loop] and here[loop]() end
  for i = 1, #askers do
    local place = askers[i]()
    if place then return known[i], place end
  end
end

-- What is to suspend the caller: an adapter's maker, or nil and a complaint.
local function choose(loop)
  if type(loop) == "table" then return loop end
  local name, place = running(loop)
  -- Who names the loop may know that its yields are passed on.
  if place == "callback" or place == "nested" and loop == "auto" then
    local where = name == "ngx" and "nginx's phase " .. ngx.get_phase() or name
    return nil, IN_CALLBACK:format(where, kinds_of_task[name])
  elseif place then
    return adapter_of(name)
  elseif loop == "poll" or loops.in_main() and loop ~= "luv" then
    return adapter_of "poll"
  elseif loop == "auto" then
    return nil, UNKNOWN
  end
  return adapter_of(loop), loop .. " does not run here"
end

--- The adapter's maker for a call that must wait now.
function loops.find(loop)
  local maker, complaint = choose(loop)
  if not maker then misuse("%s", complaint) end
  return maker
end

--- The maker for the loop that runs here, for calls that do not wait.
function loops.peek(loop)
  local name, place
  if type(loop) == "string" then name, place = running(loop) end
  return place and adapter_of(name) or choose(loop) or adapter_of "poll"
end

-- Is the running task one that cannot be suspended now, for a function of C is
-- in between?  (On PUC 5.1 that is not known.)
local isyieldable = coroutine.isyieldable

local function is_stuck()
  return isyieldable and not isyieldable() and not loops.in_main()
end

--- May a callback run in a call that does not wait?  In some phases of nginx
-- nothing must; and where it could not wait it is left to a task that can.
function loops.allows_callbacks(loop)
  if is_stuck() and not loops.may_block(loop) then return false end
  if type(loop) ~= "string" then return true end
  local name, place = running(loop)
  return name ~= "ngx" or place ~= "callback"
end

--- May a call block this thread for a moment?
function loops.may_block(loop)
  return type(loop) ~= "table" and choose(loop) == adapter_of "poll"
end

return loops
