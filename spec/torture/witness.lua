--- The witness: reads what all processes wrote down, and says what in it is
-- against the promises.  It knows nothing of the library, only this:
--
-- Who hears "true" from is_held() twice for one hold held it all the time in
-- between.  Such a stretch, from the end of the first question to the begin of
-- the last, is *proven*.  By the one clock that all processes of a machine
-- share, no two proven stretches that exclude each other may overlap.
--
-- A node that an operator deletes, or that goes with a session which somebody
-- else closes, ends the proof when the deed began: the lock is free from then
-- on, and the holder hears of it a little later.

local PATIENCE = 10 -- seconds by which a wait may outlive its deadline

local Witness = {}
Witness.__index = Witness

local function new()
  return setmetatable({
    holds = {},      -- all that were granted
    violations = {}, -- { kind =, text = }
    counts = {},
    removed = {},    -- node → a list of { begun =, done =, token = }
    seized = {},     -- session → the same, without a token
    stops = {},      -- client → { { from, to }, … }
    killed = {},     -- client → when
    worst_delay = 0,
  }, Witness)
end

function Witness:violation(kind, ...)
  local text = (...):format(select(2, ...))
  table.insert(self.violations, { kind = kind, text = text })
end

function Witness:count(what, n)
  self.counts[what] = (self.counts[what] or 0) + (n or 1)
end

-- Those who do harm.

local harm = {}

local function deed(list, entry, which)
  list[entry[1]] = list[entry[1]] or {}
  table.insert(list[entry[1]], {
    begun = tonumber(entry[2]),
    done = entry[4] ~= "unknown" and entry.at or math.huge,
    token = which,
  })
end

function harm:removed(entry) deed(self.removed, entry, entry[3]) end

function harm:seized(entry) deed(self.seized, entry) end

function harm:stopped(entry)
  local client = entry[1]
  self.stops[client] = self.stops[client] or {}
  table.insert(self.stops[client], { tonumber(entry[2]), entry.at })
end

function harm:killed(entry) self.killed[entry[1]] = entry.at end

function harm:fault(entry)
  self:count("fault: " .. table.concat(entry, " "))
end

function harm:violation(entry)
  self:violation(entry[1], "%s", table.concat(entry, " ", 2))
end

--- The journals of the director and of operators; before those of clients.
function Witness:read_harm(entries)
  for _, entry in ipairs(entries) do
    if harm[entry.word] then harm[entry.word](self, entry) end
  end
end

-- The clients.

local facts = {}

function facts:wait(client, entry)
  client.waits[entry[1]] = {
    owner = client.name .. "." .. entry[2],
    begun = entry.at,
    timeout = tonumber(entry[3]) or math.huge,
    paths = entry[4],
    kind = entry[5] or "?",
    codes = "," .. (entry[6] or "") .. ",", -- refusals that may come of it
  }
  self:count "acquisitions"
end

local refusals = { timeout = true, busy = true, cancelled = true, lost = true,
  disconnected = true, closed = true }

-- Of the time between two moments that in which the process did not stand.
local function awake(self, client, from, to)
  local seconds = to - from
  for _, stop in ipairs(self.stops[client.name] or {}) do
    seconds = seconds
      - math.max(0, math.min(to, stop[2]) - math.max(from, stop[1]))
  end
  return seconds
end

local function end_wait(self, client, entry)
  local wait = client.waits[entry[1]]
  if not wait then
    self:violation("journal", "%s: %s of nothing", client.name, entry.word)
    return nil
  end
  client.waits[entry[1]] = nil
  -- (Who does not wait is patient with a silent server for its session's
  -- timeout.)
  local late = awake(self, client, wait.begun, entry.at)
    - math.max(wait.timeout, wait.timeout == 0 and client.session_timeout or 0)
  self.worst_delay = math.max(self.worst_delay, late)
  if late > PATIENCE then
    self:violation("late", "%s: the wait %s for %s outlived its deadline "
      .. "by %.1f s", client.name, entry[1], wait.paths, late)
  end
  return wait
end

function facts:refused(client, entry)
  local wait = end_wait(self, client, entry)
  if not wait then return end
  self:count("refused: " .. entry[2])
  if not refusals[entry[2]]
    and not wait.codes:find("," .. entry[2] .. ",", 1, true) then
    self:violation("refusal", "%s: the wait %s ended with %s", client.name,
      entry[1], entry[2])
  end
end

function facts:granted(client, entry)
  local wait = end_wait(self, client, entry)
  if not wait then return end
  self:count "grants"
  self:count("grants: " .. wait.kind)
  local hold = { number = entry[1], client = client, owner = wait.owner,
    session = entry[2], begun = wait.begun, parts = {} }
  client.holds[entry[1]] = hold
  table.insert(self.holds, hold)
end

-- A fact of a hold: `fn(self, hold, client, entry)`.
local function of_hold(word, fn)
  facts[word] = function(self, client, entry)
    local hold = client.holds[entry[1]]
    if hold then return fn(self, hold, client, entry) end
    self:violation("journal", "%s: %s without a grant", client.name, word)
  end
end

of_hold("hold", function(_, hold, _, entry)
  table.insert(hold.parts, { path = entry[2], mode = entry[3]:sub(1, 1),
    permits = tonumber(entry[3]:sub(2)), token = entry[4],
    turn = tonumber(entry[5]), node = entry[6], hold = hold })
end)

of_hold("true", function(self, hold, client, entry)
  self:count "is_held true"
  if hold.said_false then
    self:violation("revival", "%s: is_held() of %s is true at %.6f, after it "
      .. "was false", client.name, entry[1], entry.at)
  elseif hold.lost or hold.outcome then
    self:violation("revival", "%s: is_held() of %s is true at %.6f, after its "
      .. "end", client.name, entry[1], entry.at)
  end
  hold.from = hold.from or entry.at
  hold.to = tonumber(entry[2])
end)

of_hold("false", function(self, hold)
  self:count "is_held false"
  hold.said_false = true
end)

of_hold("lost", function(self, hold, client, entry)
  self:count "losses told by on_lost"
  if hold.lost then
    self:violation("loss", "%s: on_lost of %s was called twice", client.name,
      entry[1])
  elseif hold.outcome == "true" then
    self:violation("loss", "%s: on_lost of %s after its release", client.name,
      entry[1])
  end
  hold.lost = true
end)

of_hold("released", function(self, hold, client, entry)
  hold.outcome = entry[2]
  if entry[2] == "lost" then
    self:count "losses told by release"
    hold.told = true
  elseif (hold.said_false or hold.lost) and not client.closed_since(hold) then
    hold.told = true -- wrongly
    self:violation("loss", "%s: %s was released as if it had not been lost",
      client.name, entry[1])
  end
end)

of_hold("abandoned", function(self, hold)
  self:count "guards left to the collector"
  hold.outcome = "abandoned"
end)

function facts:closed(client, entry)
  client.closed_at = entry.at
  self:count "sessions closed"
end

function facts:event(_, entry) self:count("event: " .. entry[1]) end

facts["end"] = function(_, client) client.ended = true end

local function check_client(self, client)
  if self.killed[client.name] then return end
  if not client.ended then
    self:violation("death", "%s did not come to its end", client.name)
  end
  for number, wait in pairs(client.waits) do
    self:violation("wait", "%s: the wait %s for %s, begun at %.6f, has not "
      .. "ended", client.name, number, wait.paths, wait.begun)
  end
  for number, hold in pairs(client.holds) do
    if hold.said_false and not (hold.lost or hold.told)
      and not client.closed_since(hold) then
      self:violation("loss", "%s: nobody was told that %s was lost",
        client.name, number)
    end
  end
end

function Witness:read_client(name, entries, session_timeout)
  local client = { name = name, waits = {}, holds = {},
    session_timeout = session_timeout or 0 }
  function client.closed_since(hold)
    return client.closed_at and client.closed_at >= hold.begun
  end
  for _, entry in ipairs(entries) do
    if facts[entry.word] then facts[entry.word](self, client, entry) end
  end
  check_client(self, client)
end

-- All together.

local function describe(part)
  local hold = part.hold
  return ("%s's %s (%s %s, token %s/%d, %.6f to %.6f)"):format(hold.owner,
    hold.number, part.mode, part.node, part.token, part.turn, part.from,
    part.to)
end

-- Is it this part's node that was taken away?  Names of nodes are unique, but
-- for those of unfair locks: what was looked at may have been replaced by the
-- time that it was deleted.  True: it is; nil: perhaps; false: no.
local function is_victim(done, part)
  if not done.token or done.token == part.token then return true end
  if part.token > done.token and part.hold.begun <= done.done then
    return nil
  end
  return false
end

-- What was done to the node ends the proof; and then it must be heard of.
local function shorten(self, part, deeds)
  local limit = 2 * part.hold.client.session_timeout
  for _, done in ipairs(deeds or {}) do
    local victim = is_victim(done, part)
    if victim ~= false and part.to and part.to > done.begun then
      self:count "holds that were taken away"
      if victim and limit > 0 and part.to > done.done + limit then
        self:violation("news", "%s is believed %.1f s after its node went",
          describe(part), part.to - done.done)
      end
      part.to = done.begun
    end
  end
end

-- The proven stretch of each part.
local function prove(self)
  local by_path = {}
  for _, hold in ipairs(self.holds) do
    for _, part in ipairs(hold.parts) do
      part.from, part.to = hold.from, hold.to
      shorten(self, part, self.removed[part.node])
      shorten(self, part, self.seized[hold.session])
      if part.from and part.to >= part.from then
        by_path[part.path] = by_path[part.path] or {}
        table.insert(by_path[part.path], part)
      end
    end
  end
  return by_path
end

local function exclude(a, b)
  return a.hold.owner ~= b.hold.owner and (a.mode == "W" or b.mode == "W")
end

-- Those of `inside` that have not left before `part` comes.
local function still_inside(inside, part)
  local left = {}
  for _, other in ipairs(inside) do
    if other.to > part.from then left[#left + 1] = other end
  end
  return left
end

local function check_beside(self, inside, part)
  local permits = 1
  for _, other in ipairs(inside) do
    if exclude(other, part) then
      self:violation("overlap", "%s: %s beside %s", part.path, describe(other),
        describe(part))
    elseif other.mode == "P" then
      permits = permits + 1
    end
  end
  if part.mode == "P" and permits > part.permits then
    self:violation("overlap", "%s: %d inside with %s", part.path, permits,
      describe(part))
  end
end

local function order_of(part)
  return part.token .. (":%09d"):format(part.turn)
end

-- What excludes each other has tokens in the order of time.
local function check_tokens(self, parts)
  local newest, last = {}, {}
  for _, part in ipairs(parts) do
    local mode = part.permits == 1 and "W" or part.mode
    for other_mode, order in pairs(newest) do
      local other = last[other_mode]
      if (mode == "W" or other_mode == "W") and order_of(part) <= order
        and other.hold.owner ~= part.hold.owner then
        self:violation("token", "%s: %s after %s", part.path, describe(part),
          describe(other))
      end
    end
    if order_of(part) > (newest[mode] or "") then
      newest[mode], last[mode] = order_of(part), part
    end
  end
end

local function check_distinct(self, parts)
  local seen = {}
  for _, part in ipairs(parts) do
    local order = order_of(part)
    if seen[order] and part.mode == "P" then
      self:violation("token", "%s: %s and %s", part.path, describe(part),
        describe(seen[order]))
    end
    seen[order] = part
  end
end

--- When everything is read: the list of violations.
function Witness:judge()
  local proven = prove(self)
  for _, parts in pairs(proven) do
    table.sort(parts, function(a, b) return a.from < b.from end)
    local inside = {}
    for _, part in ipairs(parts) do
      inside = still_inside(inside, part)
      check_beside(self, inside, part)
      inside[#inside + 1] = part
    end
    check_tokens(self, parts)
    check_distinct(self, parts)
    self:count("proven stretches", #parts)
  end
  return self.violations
end

return { new = new }
