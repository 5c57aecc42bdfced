--- Loops in virtual time: allows only "poll", and copas with a LuaSocket that
-- uses this clock (socket.lua).  Other loops have their own clocks.
require "zklock.testing.core" -- before all modules that use the core

local clock = require "zklock.testing.clock"
local errors = require "zklock.errors"
local here = require "zklock.loop.here"

local loops = {
  copas = false, -- the copas module that uses virtual time
}

-- Maps each loop to the owner of the loop's clock, for messages.
local owners = { luv = "libuv", cqueues = "cqueues", ngx = "nginx",
  skynet = "skynet" }

local function refuse(name)
  if name == "copas" then
    errors.misuse("this copas was loaded with the system's clock: "
      .. "zklock.testing moves that of testing.copas(), called before the "
      .. "first require \"copas\"")
  end
  errors.misuse("%s has a clock of its own, which zklock.testing cannot move: "
    .. "in tests connect with loop = \"poll\", outside of that loop",
    owners[name])
end

local function is_ours(name)
  return name == "copas" and loops.copas
    and package.loaded.copas == loops.copas
end

-- Makes each of these functions raise an error if its loop runs with another
-- clock. This must happen before zklock.loop is loaded, because that module
-- copies the functions when it is loaded.
for _, name in ipairs(here.names) do
  local look = here[name]
  here[name] = function()
    local place = look()
    if place and not is_ours(name) then refuse(name) end
    return place
  end
end

local check = require "zklock.loop".check
require "zklock.loop".check = function(loop)
  if (owners[loop] or loop == "copas") and not is_ours(loop) then
    refuse(loop)
  end
  return check(loop)
end

require "zklock.loop.poll".new = function(_, engine)
  local A = { blocks = true }
  function A.wait(wait, timeout) clock.wait(engine, wait, timeout) end
  function A.wake() end
  return A
end

--- Raises an error if the caller runs inside copas.loop. There the loop moves
-- the clock, so the test must not move it.
function loops.check_outside(method)
  if loops.copas and here.copas() then
    errors.misuse("%s cannot be called inside copas.loop, where time passes by "
      .. "itself: use copas.pause", method)
  end
end

return loops
