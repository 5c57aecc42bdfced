--- When all is quiet, a free lock is granted at once, and a waiter has it as
-- soon as it is free.
local virtual = require "zklock.virtual"

local exam = {}

local SOON = 0.8 -- seconds

local function now() return virtual.now() end

local function check(story, what, begun)
  local seconds = now() - begun
  if seconds > SOON then
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

local function names(resource, slot)
  return slot.name .. " and " .. resource.path
end

-- Whoever waits has it soon after `held.freed`.
local function wait_for_turn(story, resource, slot, held)
  story.scheduler:spawn(function()
    local guard, message = take(lock_of(resource, slot), 30)
    if not guard then
      story.violate("all is quiet, and %s: %s", names(resource, slot), message)
    end
    if held.freed then
      check(story, "the turn of " .. names(resource, slot), held.freed)
    end
    guard:release()
    held.is_over = true
  end)
  story.scheduler:pause(0.3)
end

-- A part may be lost while the others are waited for.
local function lasts(resource)
  for _, part in ipairs(resource.parts or {}) do
    if part.options.max_hold then return false end
  end
  return true
end

-- One has it, another waits; each in turn.
local function hand_over(story, resource, from, to)
  if not lasts(resource) then return end
  local begun, what = now(), names(resource, from)
  local guard, message = take(lock_of(resource, from), 20)
  if not guard then
    story.violate("all is quiet, and %s: %s", what, message)
  end
  check(story, "the grant of " .. what, begun)
  local held = { is_over = to == from or to.loop == "poll" }
  if not held.is_over then wait_for_turn(story, resource, to, held) end
  held.freed = now()
  guard:release()
  story.scheduler:await(function() return held.is_over end, 30)
end

local function lift(story, resource, from, to)
  if to.loop == "poll" or to == from then return end
  local lifted
  local barrier = lock_of(resource, from)
  if not barrier:set() then return end
  story.scheduler:spawn(function()
    local ok, message = lock_of(resource, to):wait(30)
    if not ok then story.violate("all is quiet, and a barrier: %s", message) end
    check(story, "a lift of " .. resource.path, lifted)
    lifted = "heard"
  end)
  story.scheduler:pause(0.3)
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
    end
  end
end

return exam
