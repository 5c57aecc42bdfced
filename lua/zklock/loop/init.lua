--- Loops: how a call that must wait suspends its caller.
--
-- An adapter is `{ new = function(core) return A end }`; `core` is the
-- session, with `core:fd()` and `core:step()`.
--   A.wait(w, timeout)  suspends the caller until A.wake(w), or the time; may
--                       return early
--   A.wake(w)           never yields, blocks or raises
--   A.arm(), A.disarm() optional: the first waiter came, the last one left
--   A.owner()           optional: what the running task is called
--   A.reads_fd          optional: the host reads the wake-up's bytes itself
--   A.blocks            optional: A.wait blocks the thread, it never yields
--   A.close()           optional: always before the fd is closed
local misuse = require "zklock.errors".misuse

local loops = {}

local names = { poll = true }

-- The main chunk is no coroutine on 5.1 and LuaJIT: one name stands for it.
local MAIN = "main"

--- The running task: the coroutine, the main chunk included.
function loops.task()
  local running, is_main = coroutine.running()
  if running == nil or is_main then return MAIN end
  return running
end

-- PUC 5.1 has no yield across pcall: what runs inside one cannot wait in a
-- coroutine.  Counted per task.
local fences = setmetatable({}, { __mode = "k" })
local yields_across_pcall = jit ~= nil or _VERSION ~= "Lua 5.1"

local function nothing() end

--- The running task enters a pcall; the result is to be called when it leaves.
function loops.fence()
  if yields_across_pcall then return nothing end
  local task = loops.task()
  fences[task] = (fences[task] or 0) + 1
  return function() fences[task] = fences[task] - 1 end
end

--- Raises where the running task could not be suspended.
function loops.check_fence(adapter)
  if adapter.blocks or (fences[loops.task()] or 0) == 0 then return end
  misuse("on Lua 5.1 nothing can wait inside with_lock in a coroutine (there "
    .. "is no yield across pcall): use acquire and release, or loop = \"poll\"")
end

local function in_coroutine()
  return loops.task() ~= MAIN
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
    misuse("option 'loop' must be \"auto\", \"poll\" or an adapter "
      .. "table, got %s", tostring(loop))
  end
  return loop
end

--- The adapter's maker for a call that must wait now.
function loops.find(loop)
  if type(loop) == "table" then return loop end
  if loop == "auto" and in_coroutine() then
    misuse("this coroutine belongs to a scheduler that is not "
      .. "known here, and waiting would block all of it: connect with "
      .. "loop = \"poll\" to block, or with an adapter table of its own")
  end
  return require "zklock.loop.poll"
end

--- The same without an opinion: for calls that do not wait.
function loops.peek(loop)
  if type(loop) == "table" then return loop end
  return require "zklock.loop.poll"
end

--- May a call block this thread for a moment?
function loops.may_block(loop)
  return type(loop) ~= "table" and not (loop == "auto" and in_coroutine())
end

return loops
