-- A full collection after every few instructions, in every coroutine: what
-- only luck keeps from the collector does not live long.
--
--     lua5.4 spec/memory/stepped.lua PROGRAM [ARGUMENT...]
-- luacheck: globals coroutine
local STEP = 25 -- instructions

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

local program = table.remove(arg, 1)
begin()
dofile(program)
