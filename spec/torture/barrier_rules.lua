--- What the witness knows of barriers: nobody passes one that is set.
--
-- A barrier is *provably set* from the moment when a set was confirmed, as long
-- as no lift of it, by whomever, has been under way since that set began: one
-- that began before may come after it, and of one whose outcome is unknown
-- nobody knows when it comes, up to the next calm.
local Barriers = {}
Barriers.__index = Barriers

--- `calm_after(at)`: when all was over that had been begun by then.
local function new(calm_after)
  return setmetatable({
    calm_after = calm_after,
    sets = {},  -- path → a list of { begun =, done = }: these are confirmed
    lifts = {}, -- path → the same, of all; done: nil, if that is unknown
    waits = {}, -- path → a list of waits that have ended
  }, Barriers)
end

local function add(lists, path, one)
  lists[path] = lists[path] or {}
  table.insert(lists[path], one)
end

--- A lift is known from its beginning.
function Barriers:lift(path, begun, last)
  local lift = { begun = begun, last = last }
  add(self.lifts, path, lift)
  return lift
end

--- A set was confirmed.
function Barriers:set(path, begun, done)
  add(self.sets, path, { begun = begun, done = done })
end

--- A wait has ended; it has `passed`, or not.
function Barriers:wait(path, wait)
  add(self.waits, path, wait)
end

-- Was it provably set from `from` to `to`?  Since which set?
local function provably_set(sets, lifts, from, to)
  for i = #sets, 1, -1 do
    local set, holds = sets[i], sets[i].done <= from
    for _, lift in ipairs(holds and lifts or {}) do
      holds = holds and (lift.begun >= to or lift.over <= set.begun)
    end
    if holds then return set end
  end
  return nil
end

local function judge_path(self, witness, path)
  local sets, lifts = self.sets[path] or {}, self.lifts[path] or {}
  for _, lift in ipairs(lifts) do
    lift.over = lift.done or self.calm_after(lift.last or lift.begun)
  end
  table.sort(sets, function(a, b) return a.done < b.done end)
  for _, wait in ipairs(self.waits[path] or {}) do
    local set = provably_set(sets, lifts, wait.begun, wait.ended)
    if set and wait.passed then
      witness:violation("barrier", "%s: %s passed between %.6f and %.6f; it "
        .. "was set at %.6f, and not lifted", path, wait.owner, wait.begun,
        wait.ended, set.done)
    elseif set then
      witness:count "waits that a set barrier held back"
    elseif wait.passed and provably_set(sets, lifts, wait.begun, wait.begun)
    then
      witness:count "waits that a lift let go on"
    end
  end
end

function Barriers:judge(witness)
  for path in pairs(self.waits) do judge_path(self, witness, path) end
end

return { new = new }
