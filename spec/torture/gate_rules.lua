--- What the witness knows of double barriers.
--
-- Members begin together.  Whoever is let in was let in by a member, which had
-- seen n nodes there at once; it is there from before that until after whoever
-- it lets in has come.  (Not all of the n may be: who gives up may have been
-- counted a moment before.)  When a node was there nobody knows, but not before
-- its member began, nor after it was known to be gone.
--
-- They end together.  Who has left, and waited for the others, has waited for
-- whoever was inside when that began: nobody of these is still inside.
local Gates = {}
Gates.__index = Gates

--- `calm_after(at)`: when all was over that had been begun by then.
local function new(calm_after)
  return setmetatable({
    calm_after = calm_after,
    members = {}, -- path → all, granted or not; and ghosts
    leaves = {}, -- path → a list of waits that have ended with true
  }, Gates)
end

local function add(lists, path, one)
  lists[path] = lists[path] or {}
  table.insert(lists[path], one)
end

-- What a client does.

--- A member begins to enter.  `client.members`: those of its session that may
-- have a node, by number.  (The client hears first of a connection, and then of
-- what comes of it: so who hears of none has no node.)
function Gates:begin(client, number, wait)
  local member = { owner = wait.owner, path = wait.paths, begun = wait.begun,
    n = tonumber(wait.kind:match "%d+$"), mute = not client.connected }
  client.members[number] = member
  add(self.members, wait.paths, member)
end

function Gates.granted(_, client, number, at)
  client.members[number].granted = at
end

function Gates.connected(_, client)
  for _, member in pairs(client.members) do member.mute = false end
end

--- It has been refused, or is not inside any more; its node may be there.
function Gates.ended(_, client, number, at)
  local member = client.members[number]
  if not member then return end
  member.ended = at
  if member.mute then
    member.gone = at
    client.members[number] = nil
  end
end

--- What had ended before is gone.
function Gates.settled(_, client, before, at)
  for number, member in pairs(client.members) do
    if member.ended and member.ended <= before then
      member.gone = at
      client.members[number] = nil
    end
  end
end

--- Its session is over, as far as it knows: there may be nodes of that one, and
-- whoever goes on has another beside it.
function Gates:expired(client, at)
  for number, member in pairs(client.members) do
    member.last = at
    if member.ended then
      client.members[number] = nil
    else
      add(self.members, member.path, { begun = member.begun, last = at })
    end
  end
end

--- Nothing more is heard of them; but of those that had ended perhaps that they
-- are gone.
function Gates.over(_, client, at)
  client.closed_members = {}
  for number, member in pairs(client.members) do
    member.last = at
    if member.ended then client.closed_members[number] = member end
  end
  client.members = {}
end

function Gates.gone(_, client, at)
  for _, member in pairs(client.closed_members) do member.gone = at end
end

function Gates:leave(wait)
  add(self.leaves, wait.paths, wait)
end

-- The first rule.

-- How many there may have been just after each had begun, and until when the
-- last of these is there.
local function gatherings(members)
  local list, there = {}, {}
  for _, member in ipairs(members) do
    local left, last = { member }, member.gone
    for _, other in ipairs(there) do
      if other.gone >= member.begun then
        left[#left + 1] = other
        last = math.max(last, other.gone)
      end
    end
    there = left
    list[#list + 1] = { at = member.begun, count = #there, last = last }
  end
  return list
end

-- The most that whoever let this one in can have seen.
local function most_seen(list, member)
  local most = 0
  for _, gathering in ipairs(list) do
    if gathering.at > member.granted then break end
    if gathering.last >= member.begun then
      most = math.max(most, gathering.count)
    end
  end
  return most
end

local function last_heard(member)
  return math.max(member.begun, member.ended or 0, member.last or 0)
end

local function judge_entering(self, witness, path, members)
  for _, member in ipairs(members) do
    member.gone = member.gone or self.calm_after(last_heard(member))
  end
  table.sort(members, function(a, b) return a.begun < b.begun end)
  local list = gatherings(members)
  for _, member in ipairs(members) do
    local most = member.granted and most_seen(list, member)
    if most and most < member.n then
      witness:violation("gathering", "%s: %s entered, between %.6f and %.6f, "
        .. "with %d members", path, member.owner, member.begun, member.granted,
        most)
    elseif most == member.n then
      witness:count "members let in by no more than there had to be"
    end
  end
end

-- The second rule.

local function judge_leave(witness, path, leave, parts)
  local waited = false
  for _, part in ipairs(parts) do
    if part.from <= leave.begun and part.to >= leave.ended then
      witness:violation("departure", "%s: %s left between %.6f and %.6f, and "
        .. "%s was inside from %.6f to %.6f", path, leave.owner, leave.begun,
        leave.ended, part.hold.owner, part.from, part.to)
    end
    waited = waited or part.from <= leave.begun and part.to >= leave.begun
  end
  if waited then witness:count "leaves that waited for a proven member" end
end

--- `proven`: path → the stretches of its holds that are proven.
function Gates:judge(witness, proven)
  for path, members in pairs(self.members) do
    judge_entering(self, witness, path, members)
  end
  for path, leaves in pairs(self.leaves) do
    for _, leave in ipairs(leaves) do
      judge_leave(witness, path, leave, proven[path] or {})
    end
  end
end

return { new = new }
