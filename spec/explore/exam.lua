--- When all is quiet, a free lock is granted at once, a waiter has it as soon as it
-- is free, and what is asked of a holder is heard at once.
local virtual = require "zklock.virtual"

local exam = {}

local SOON = 0.8 -- seconds
local HEARD = 0.35

local function now() return virtual.now() end

local function check(story, what, begun, limit)
  local seconds = now() - begun
  if seconds > limit then
    story.violate("all is quiet, and %s takes %.3f s", what, seconds)
  end
end

local function take(lock, timeout)
  return (lock.acquire or lock.campaign)(lock, timeout)
end

local function lock_of(resource, slot)
  return resource.make(slot.session, resource.path, function(part)
    return part.make(slot.session, part.path)
  end)[1]
end

local function names(resource, slot) return slot.name .. " and " .. resource.path end

-- One has it, another waits; each in turn.
local function hand_over(story, resource, from, to)
  local begun, what = now(), names(resource, from)
  local guard, message = take(lock_of(resource, from), 20)
  if not guard then story.violate("all is quiet, and %s: %s", what, message) end
  check(story, "the grant of " .. what, begun, SOON)
  local freed, done = nil, false
  local is_waiting = to ~= from and to.loop ~= "poll"
  if is_waiting then
    story.scheduler:spawn("an exam", function()
      local other, problem = take(lock_of(resource, to), 30)
      if not other then
        story.violate("all is quiet, and %s: %s", names(resource, to), problem)
      end
      if freed then
        check(story, "the turn of " .. names(resource, to), freed, SOON)
      end
      other:release()
      done = true
    end)
    story.scheduler:sleep(0.3)
  end
  if from.timeout >= 4 and from.loop ~= "poll" and not resource.parts
    and from.session:state() == "connected" then
    local heard
    guard:on_revoke(function() heard = heard or now() end)
    local asked = now()
    local count = to.session:revoke(resource.path)
    local answered = now()
    if count and count > 0 and guard:is_held() then
      story.scheduler:await(function() return heard end, 3)
      if guard:is_held() and (not heard or heard > answered + HEARD) then
        story.violate("all is quiet, and %s hears of a revocation %s s late", what,
          heard and heard - asked or "3 or more")
      end
    end
  end
  freed = now()
  guard:release()
  if is_waiting then story.scheduler:await(function() return done end, 30) end
end

-- The pause after a failure does not depend on failures before a success.
local function lead(story, resource, slot)
  if slot.loop == "poll" then return end
  local election, plan, last = lock_of(resource, slot),
    { false, false, false, true, false, true }, nil
  election:run(function()
    local ok = table.remove(plan, 1)
    if last and last.was_ok then last = nil end
    if last and #plan == 0 then
      check(story, "the pause of " .. names(resource, slot), last.at, 0.3 + SOON)
    end
    last = { at = now(), was_ok = ok }
    if #plan == 0 then election:stop() end
    if not ok then error("as a leader may", 0) end
  end, { backoff = 0.3, max_backoff = 30, on_error = function() end })
end

local function lift(story, resource, from, to)
  if to.loop == "poll" or to == from then return end
  local lifted
  local barrier = lock_of(resource, from)
  if not barrier:set() then return end
  story.scheduler:spawn("an exam", function()
    local ok, message = lock_of(resource, to):wait(30)
    if not ok then story.violate("all is quiet, and a barrier: %s", message) end
    check(story, "a lift of " .. resource.path, lifted, SOON)
    lifted = "heard"
  end)
  story.scheduler:sleep(0.3)
  lifted = now()
  barrier:lift()
  story.scheduler:await(function() return lifted == "heard" end, 30)
end

--- Runs in a task.
function exam.run(story)
  local slots = story.slots
  for _, resource in ipairs(story.resources) do
    for i, slot in ipairs(slots) do
      local other = slots[i % #slots + 1]
      if resource.is_barrier then
        lift(story, resource, slot, other)
      elseif not resource.is_gate and not resource.is_once then
        hand_over(story, resource, slot, other)
      end
      if resource.is_election then lead(story, resource, slot) end
    end
  end
end

return exam
