--- The whole library under chosen schedules; spec/explore/run calls this.
--
--     run.lua SEED                    one seed
--     run.lua FIRST LAST STEP TOTALS  these seeds, each in a child of this
--                                     process; the totals are written to a file
--
--     EXPLORE_SECONDS=300  no more seeds after so much time
--     EXPLORE_TRACE=FILE   every hand-over of one seed
-- What LuaJIT has compiled keeps objects alive, by their addresses; and its
-- collector begins again with each call of collectgarbage.
if rawget(_G, "jit") then
  jit.off()
  local gc = collectgarbage
  function collectgarbage(...) -- luacheck: ignore 121
    gc(...)
    gc "stop"
  end
end

package.loaded.socket = require "virtual.socket"
local virtual = require "zklock.virtual"
local story = require "explore.story"

local LONGEST = 120 -- seconds of processor time, for one story

local function replay(seed)
  local file = os.getenv "EXPLORE_TRACE"
  virtual.trace(file ~= "" and file or nil)
  story.run(seed)
  print(("seed %d: no violation; digest %s"):format(seed, virtual.digest()))
end

local function try(seed)
  local ok, how = virtual.attempt(LONGEST, function() story.run(seed) end)
  if ok then return 0 end
  io.stderr:write(("seed %d has failed (%s): make explore SEED=%d replays it"
    .. "\n\n"):format(seed, how, seed))
  return 1
end

local first, last, step = tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3])
if not last then
  replay(first)
  os.exit(0, false)
end
-- The totals are in the file after each seed, for a run that is ended early.
local function write_totals(count, failed)
  local file = assert(io.open(arg[4], "w"))
  file:write(count, " ", failed, "\n")
  file:close()
end

local deadline = os.time() + (tonumber(os.getenv "EXPLORE_SECONDS") or 1e9)
local count, failed = 0, 0
write_totals(count, failed)
for seed = first, last, step do
  if os.time() >= deadline then break end
  count, failed = count + 1, failed + try(seed)
  write_totals(count, failed)
end
