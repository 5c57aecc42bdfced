--- `zklock revoke`: asks the holders of a lock to release it.
local await = require "zklock.cli.await"
local exit = require "zklock.cli.exit"
local output = require "zklock.cli.output"
local talk = require "zklock.cli.talk"
local visit = require "zklock.cli.visit"

-- PAUSE: the shortest pause between two reads of the queue, in seconds. After a
-- slow read of a long queue, the pause is SHARE times as long as this read
-- took.
local PAUSE = 0.2
local SHARE = 10

local function count_holders(session, path)
  local holders = 0
  for _, row in ipairs(visit.answer(session:contenders(path))) do
    if row.holds then holders = holders + 1 end
  end
  return holders
end

local function holders_of(n, path)
  return ("%d holder%s of %s"):format(n, n == 1 and "" or "s", path)
end

local function await_free(session, path, seconds)
  local deadline = await.now() + seconds
  while true do
    local begun = await.now()
    local holders = count_holders(session, path)
    local now = await.now()
    if holders == 0 then return output.line(path .. " is free") end
    if now >= deadline then
      exit.fail("not_granted", "%s did not become free in %g s: %s",
        path, seconds, holders_of(holders, path))
    end
    local pause = math.max(PAUSE, SHARE * (now - begun))
    await.seconds(math.min(pause, deadline - now))
  end
end

return function(request)
  return visit.servers(request, function(session)
    local path = request.path
    local asked = visit.answer(session:revoke(path))
    if asked == 0 then
      local is_there = visit.answer(session:stat(path))
      return talk.say("no process holds %s%s", path,
        is_there and "" or ": the node does not exist")
    end
    output.line("asked " .. holders_of(asked, path) .. " to release it")
    if request.wait then await_free(session, path, request.wait) end
  end)
end
