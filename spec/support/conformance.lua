--- Does the model answer as ZooKeeper does?  Random sequences of requests by
-- several sessions, generated from a seed, are run against both.
--
-- A world is where a sequence is run: `world.open(options)` connects (as
-- support.transport and support.model do).  What each session receives, in
-- order, is its transcript; two worlds agree if all transcripts are the same.
local sequences = require "support.sequences"

local conformance = { sequence = sequences.make,
  describe = sequences.describe }

local SESSIONS = sequences.SESSIONS

-- ---- Running --------------------------------------------------------------

local Run = {}
Run.__index = Run

local WATCHES = { "data_watches", "exist_watches", "child_watches" }

-- The same request with real paths.
function Run:resolve(request)
  local copy = {}
  for name, value in pairs(request) do copy[name] = value end
  local place = request.path
  if type(place) == "number" then
    copy.path = self.made[place] or self.base .. "/gone"
  elseif type(place) == "table" then
    copy.path = "/zookeeper/quota" .. self.base .. place.quota .. request.leaf
  elseif place then
    copy.path = self.base .. place
  end
  copy.leaf, copy.age = nil, nil
  if request.age then
    copy.seen = ("%019.0f"):format(tonumber(self.newest) - request.age)
    for _, kind in ipairs(WATCHES) do
      copy[kind] = {}
      for i, name in ipairs(request[kind]) do
        copy[kind][i] = self.base .. name
      end
    end
  end
  if request.parts then
    copy.parts = {}
    for i, part in ipairs(request.parts) do
      copy.parts[i] = self:resolve(part)
    end
  end
  return copy
end

function Run:note(session, item)
  local transcript = self.transcripts[session]
  item.step = self.step
  transcript[#transcript + 1] = item
  if item.zxid and item.kind == "reply" and item.zxid > self.newest then
    self.newest = item.zxid
  end
end

-- Everything until the reply to this request.
function Run:await(session, xid)
  while true do
    local item = self.sessions[session]:receive()
    self:note(session, item)
    if item.kind == "ended" or item.xid == xid then return item end
  end
end

function Run:flush(session)
  local connection = self.sessions[session]
  local transcript = self.transcripts[session]
  self:await(session, connection:send { op = "ping" })
  transcript[#transcript] = nil
end

function Run:open(session, options)
  local connection = self.world.open(options or { timeout = 30000 })
  self.sessions[session] = connection
  local id = connection.session.id
  if not self.owners[id] then
    self.count = self.count + 1
    self.owners[id] = "session " .. self.count
  end
  local known = { kind = "connected", timeout = connection.session.timeout }
  if known.timeout > 0 then known.owner = id end
  self:note(session, known)
end

local acts = {}

-- Puts the events from `begin` to the last but `behind` in an order.
local function sort_events(transcript, begin, behind)
  local late, last = {}, #transcript - behind
  for i = begin, last do late[#late + 1] = transcript[i] end
  table.sort(late, function(a, b)
    return a.path .. a.type < b.path .. b.type
  end)
  for i, item in ipairs(late) do transcript[begin + i - 1] = item end
end

-- What a session's end deletes, it deletes in no order that means something.
function acts.close(self, session)
  local begins = {}
  for other = 1, SESSIONS do
    self:flush(other)
    begins[other] = #self.transcripts[other] + 1
  end
  local connection = self.sessions[session]
  self:await(session, connection:send { op = "close" })
  sort_events(self.transcripts[session], begins[session], 1)
  self:note(session, connection:receive())
  connection:hang_up()
  self.ended = connection.session
  for other = 1, SESSIONS do
    if other ~= session then
      self:flush(other)
      sort_events(self.transcripts[other], begins[other], 0)
    end
  end
  self:open(session)
end

local function identity(session)
  return { timeout = 30000, session = session.id, password = session.password }
end

-- The server closes the older connection.
function acts.reconnect(self, session)
  local old = self.sessions[session]
  self:flush(session)
  self:open(session, identity(old.session))
  self:note(session, old:receive())
  old:hang_up()
end

-- Its client goes, and comes back.
function acts.abandon(self, session)
  local old = self.sessions[session]
  self:flush(session)
  old:hang_up()
  self:open(session, identity(old.session))
end

-- A session that has ended is gone for good.
function acts.revive(self, session)
  local timeout = 0
  self:flush(session)
  if self.ended then
    local refused = self.world.open(identity(self.ended))
    timeout = refused.session.timeout
    refused:hang_up()
  end
  self:note(session, { kind = "refused", timeout = timeout })
end

-- The answer to auth may overtake those of earlier requests.  A server judges a
-- request that follows set_acl by the ACL before it, until that is applied.
local alone = { auth = true, set_acl = true }

function Run:go(steps)
  for session = 1, SESSIONS do
    self.transcripts[session] = {}
    self:open(session)
  end
  local above = self.base:match "^/[^/]+"
  local quota = "/zookeeper/quota"
  for i, place in ipairs { above, self.base, quota .. above,
    quota .. self.base, quota .. self.base .. "/a" } do
    self:await(1, self.sessions[1]:send { op = "create", path = place })
    if i == 1 then self.first = self.newest end
  end
  local i = 1
  while steps[i] do
    local step, sent = steps[i], {}
    self.step = i
    if step.act then
      acts[step.act](self, step.session)
      i = i + 1
    end
    -- Those of one session travel together.
    while steps[i] and steps[i].request and #sent < steps.together
      and (#sent == 0 or steps[i].session == sent[1].session
        and not alone[steps[i].request.op] and not alone[sent[1].op]) do
      local request = self:resolve(steps[i].request)
      sent[#sent + 1] = { session = steps[i].session, step = i, op = request.op,
        xid = self.sessions[steps[i].session]:send(request) }
      i = i + 1
    end
    for _, one in ipairs(sent) do
      self.step = one.step
      local item = self:await(one.session, one.xid)
      self.made[one.step] = item.path
    end
  end
  for session = 1, SESSIONS do self:flush(session) end
  -- (What comes from now on is compared with nothing.)
  local transcripts = self.transcripts
  self.transcripts = { {}, {}, {} }
  for session = 1, SESSIONS do
    local connection = self.sessions[session]
    self:await(session, connection:send { op = "close" })
    connection:hang_up()
  end
  self.transcripts = transcripts
end

--- What each session has received.  `base`: the path of the sequence's nodes,
-- in a directory of its own.
function conformance.run(world, base, steps)
  local self = setmetatable({ world = world, base = base, step = 0,
    sessions = {}, transcripts = {}, owners = {}, count = 0, made = {},
    newest = "" }, Run)
  self:go(steps)
  return self
end

-- ---- Comparing ------------------------------------------------------------

-- Zxids are counted from the sequence's first.
local function rank(self, zxid)
  if zxid < self.first then return "old" end
  return ("%.0f"):format(tonumber(zxid) - tonumber(self.first))
end

-- Each transaction has one time.
local function check_time(self, zxid, time)
  if zxid < self.first then return end
  self.times = self.times or {}
  self.times[zxid] = self.times[zxid] or time
  assert(self.times[zxid] == time, "one transaction has two times")
end

-- Of a list whose order says nothing.
local function bag(list)
  local count = {}
  for _, one in ipairs(list or {}) do
    local text = sequences.words(one)
    count[text] = (count[text] or 0) + 1
  end
  return list and count
end

local function stat_of(self, stat)
  check_time(self, stat.czxid, stat.ctime)
  check_time(self, stat.mzxid, stat.mtime)
  local copy = { owner = self.owners[stat.owner] or stat.owner }
  for _, name in ipairs { "czxid", "mzxid", "pzxid" } do
    copy[name] = rank(self, stat[name])
  end
  for _, name in ipairs { "version", "cversion", "aversion", "size",
    "children" } do
    copy[name] = stat[name]
  end
  return copy
end

-- What of a reply its operation does not have on the wire.
local without_stat = { create = true, close = true, delete = true,
  check = true }

-- What an operation that has been done answers.
local function add_content(self, item, copy)
  local path = item.path or ""
  local from, to = path:find(self.base, 1, true)
  if from then path = path:sub(1, from - 1) .. "BASE" .. path:sub(to + 1) end
  copy.path = path
  copy.stat = item.stat and not without_stat[item.op]
    and stat_of(self, item.stat) or nil
  copy.names, copy.acl = bag(item.names), bag(item.acl)
  copy.data = item.op == "get" and item.data or nil
  return copy
end

-- A part of a multi that has not been done has no operation.
local function part_of(self, part)
  if part.rc ~= 0 or not part.path and not part.stat then
    return { rc = part.rc }
  end
  local is_new = part.op == "create_container" or part.op == "create_ttl"
  return add_content(self, part, { op = is_new and "create2" or part.op })
end

-- An item without what differs each time.
local function normal(self, item)
  local copy = { kind = item.kind, op = item.op, rc = item.rc,
    type = item.type, timeout = item.timeout,
    owner = self.owners[item.owner] or item.owner }
  if item.kind == "reply" and item.op ~= "auth" then
    copy.zxid = rank(self, item.zxid)
  end
  if (item.rc or 0) == 0 then add_content(self, item, copy) end
  for i, part in ipairs(item.parts or {}) do copy[i] = part_of(self, part) end
  return copy
end

local function line(self, item)
  return item and sequences.words(normal(self, item)) or "nothing"
end

--- The first difference: nil, or the step and a text.
function conformance.difference(real, model)
  local first
  for session = 1, SESSIONS do
    local a, b = real.transcripts[session], model.transcripts[session]
    for i = 1, math.max(#a, #b) do
      local is, was = line(model, b[i]), line(real, a[i])
      local step = (a[i] or b[i]).step
      if is ~= was then
        if not first or step < first.step then
          first = { step = step, text = ("session %d, step %d:\n  ZooKeeper  %s"
            .. "\n  the model  %s"):format(session, step, was, is) }
        end
        break
      end
    end
  end
  if first then return first.step, first.text end
end

return conformance
