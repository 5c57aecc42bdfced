--- The whole library under chosen schedules.
--
--     lua spec/explore/run.lua FIRST LAST [STEP]    these seeds, each in a child
--     lua spec/explore/run.lua SEED                 one seed, with its trace
--
-- What a seed finds, that seed finds again.  EXPLORE_TRACE=FILE has every
-- hand-over of a single seed's trace.
local virtual = require "zklock.virtual"
local story = require "explore.story"

local SECONDS = 60 -- of real time, for one story

local function tell(seed)
  local done = story.run(seed)
  if os.getenv "EXPLORE_COUNTS" then
    io.stdout:write(("%d %.3f s %d holds %d proven %d asked %s\n"):format(seed,
      virtual.now() - done.begun, done.witness.count, done.witness.proven,
      done.witness.asked, virtual.digest()))
  end
end

local first, last = tonumber(arg[1]), tonumber(arg[2])
if not last then
  virtual.trace(os.getenv "EXPLORE_TRACE")
  tell(first)
  print(("seed %d: no violation, %s"):format(first, virtual.digest()))
  os.exit(0, false)
end

local count, failed = 0, 0
for seed = first, last, tonumber(arg[3] or 1) do
  local ok, how = virtual.attempt(SECONDS, function() tell(seed) end)
  count = count + 1
  if not ok then
    failed = failed + 1
    io.stderr:write(("seed %d: %s; make explore SEED=%d replays it\n\n"):format(
      seed, how, seed))
  end
end
print(("%d schedules, %d with a violation"):format(count, failed))
os.exit(failed == 0 and 0 or 1)
