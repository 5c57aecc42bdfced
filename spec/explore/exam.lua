--- When all is quiet, a free lock is granted at once, a waiter has it as soon
-- as it is free, and a holder hears of a revocation at once.
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
      check(story, "the turn of " .. names(resource, slot), held.freed, SOON)
    end
    guard:release()
    held.is_over = true
  end)
  story.scheduler:pause(0.3)
end

-- (A sixth of the session timeout is what a holder that does not watch needs.)
local function can_be_asked(resource, slot)
  return slot.timeout >= 4 and slot.loop ~= "poll" and not resource.parts
    and slot.session:state() == "connected"
end

local function check_heard(story, what, guard, heard, answered)
  if guard:is_held() and (not heard or heard > answered + HEARD) then
    story.violate("all is quiet, and %s hears of a revocation %s s late", what,
      heard and heard - answered or "3 or more")
  end
end

-- The holder hears of a revocation soon.
local function revoke(story, resource, from, to, guard)
  if not can_be_asked(resource, from) then return end
  local heard
  guard:on_revoke(function() heard = heard or now() end)
  local count = to.session:revoke(resource.path)
  local answered = now()
  if count and count > 0 and guard:is_held() then
    story.scheduler:await(function() return heard end, 3)
    check_heard(story, names(resource, from), guard, heard, answered)
  end
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
  check(story, "the grant of " .. what, begun, SOON)
  local held = { is_over = to == from or to.loop == "poll" }
  if not held.is_over then wait_for_turn(story, resource, to, held) end
  revoke(story, resource, from, to, guard)
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
    check(story, "a lift of " .. resource.path, lifted, SOON)
    lifted = "heard"
  end)
  story.scheduler:pause(0.3)
  lifted = now()
  barrier:lift()
  story.scheduler:await(function() return lifted == "heard" end, 30)
end

-- ---- Connections ------------------------------------------------------------

local LONG = 70 -- seconds, after which troubles of the past count no more

local function is_connected(slot) return slot.session:state() == "connected" end

local function await_connected(story, slot, limit, what)
  if not story.scheduler:await(function() return is_connected(slot) end, limit)
  then
    story.violate("all is quiet, and %s is not connected %.1f s after %s",
      slot.name, limit, what)
  end
end

local function for_links(slot, fault)
  for _, link in ipairs(slot.links) do virtual["link_" .. fault](link) end
end

-- A connection that breaks is replaced at once at the same address, though it
-- may be refused once; after a second at another one if the first is mute.
local function reconnect(story, slot, fault)
  if slot.timeout < 4 then return end
  for_links(slot, fault)
  story.scheduler:pause(slot.timeout + 20)
  for_links(slot, "heal")
  await_connected(story, slot, 60, "a long fault")
  story.scheduler:pause(LONG)
  if slot.links[2] then
    virtual.link_freeze(slot.links[1])
    for_links(slot, "cut")
    story.scheduler:await(function() return not is_connected(slot) end, 0.5)
  else
    for_links(slot, "refuse")
    story.scheduler:await(function() return not is_connected(slot) end, 0.5)
    for_links(slot, "heal")
  end
  await_connected(story, slot, slot.links[2] and 1.7 or 0.3, "a short fault")
  for_links(slot, "heal")
end

local function connect(story)
  for _, slot in ipairs(story.slots) do
    if slot.loop ~= "poll" then
      reconnect(story, slot, story.chance:pick { "freeze", "refuse" })
    end
  end
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
  if story.chance:one_in(6) then connect(story) end
end

return exam
