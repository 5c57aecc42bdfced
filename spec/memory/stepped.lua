-- A full collection after every few instructions, in every coroutine: what
-- only luck keeps from the collector does not live long.
--
--     LUA_INIT=@spec/memory/stepped.lua lua5.4 PROGRAM [ARGUMENT...]
--
-- The processes that the program starts inherit it.
-- luacheck: globals coroutine
local STEP = 25 -- instructions

-- A hook does not see what a compiler of machine code has compiled.
if jit then jit.off() end

local create, wrap = coroutine.create, coroutine.wrap

local function begin()
  debug.sethook(function() collectgarbage() end, "", STEP)
end

-- A hook belongs to one coroutine.
local function stepped(fn)
  return function(...)
    begin()
    return fn(...)
  end
end

function coroutine.create(fn) return create(stepped(fn)) end
function coroutine.wrap(fn) return wrap(stepped(fn)) end

begin()
