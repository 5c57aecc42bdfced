--- Does the model answer as ZooKeeper does?  Random sequences of requests by
-- several sessions, generated from a seed, are run against both.
--
-- A world is where a sequence is run: `world.open(options)` connects (as
-- support.transport and virtual.transport do).  What each session receives, in
-- order, is its transcript; two worlds agree if all transcripts are the same.
local conformance = {}

-- ---- Chance ------------------------------------------------------------------

local Chance = {}
Chance.__index = Chance

function Chance:below(n)
  self.state = self.state * 48271 % 2147483647
  return self.state % n
end
function Chance:one_in(n) return self:below(n) == 0 end
function Chance:pick(list) return list[self:below(#list) + 1] end

local function chance(seed)
  local self = setmetatable({ state = seed % 2147483646 + 1 }, Chance)
  for _ = 1, 5 do self:below(2) end
  return self
end

-- ---- Sequences ---------------------------------------------------------------

local SESSIONS = 3
local ALICE = "alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="
local BOB = "bob:jBusOVB4bKxz9Ba1E3fTeUpjT0c="

local function list(...) return { ... } end
local function entry(perms, scheme, id)
  return { perms = perms, scheme = scheme, id = id }
end

local acls = {
  list(entry(31, "world", "anyone")),
  list(entry(31, "world", "anyone")),
  list(entry(1, "world", "anyone")),
  list(entry(15, "world", "anyone")),
  list(entry(31, "auth", "")),
  list(entry(1, "world", "anyone"), entry(31, "auth", "")),
  list(entry(31, "digest", ALICE)),
  list(entry(6, "world", "anyone"), entry(31, "digest", BOB)),
  list(entry(16, "world", "anyone"), entry(15, "digest", BOB)),
  list(entry(31, "ip", "127.0.0.1")),
  list(entry(31, "ip", "127.0.0.0/8"), entry(31, "ip", "127.0.0.0/8")),
  list(entry(31, "ip", "10.1.2.3"), entry(9, "world", "anyone")),
  list(entry(0, "world", "anyone")),
}
local invalid_acls = {
  {},
  list(entry(31, "world", "nobody")),
  list(entry(31, "digest", "alice")),
  list(entry(31, "digest", "a:b:c")),
  list(entry(31, "ip", "300.1.1.1")),
  list(entry(31, "ip", "127.0.0.1/33")),
  list(entry(31, "kerberos", "x")),
  list(entry(31, "world", "anyone"), entry(31, "", "")),
}
local credentials = { "alice:secret", "bob:hunter", "nobody", ":", "a:b:c" }

local names = { "", "/a", "/b", "/a/x", "/a/x", "/a/y", "/a/x/k", "/b/z", "/b/z",
  "/c", "/c/d", "/c/d/e" }
local odd_names = { "/", "/a/", "//", "/a//x", "/.", "/a/..", "/a/.x", "/a/\1",
  "/\195\164", "/a/\239\191\191", "/\240\159\148\146", "/a/\127",
  "/zookeeper", "/c\194\133" }

local sizes = { 0, 0, 1, 3, 10, 100 }

local function data(c)
  if c:one_in(12) then return false end
  return ("x"):rep(c:pick(sizes))
end

-- A path, or the number of a step that made one.
local function path(c, made)
  if #made > 0 and c:one_in(4) then return made[#made - c:below(math.min(#made, 8))] end
  if c:one_in(40) then return c:pick(odd_names) end
  return c:pick(names)
end

local function acl(c)
  if c:one_in(25) then return c:pick(invalid_acls) end
  if c:one_in(3) then return c:pick(acls) end
end

local function version(c)
  if c:one_in(3) then return c:below(4) end
  return -1
end

local makers = {}

function makers.create(c, made)
  local op = c:pick { "create", "create", "create2", "create_container",
    "create_ttl" }
  local flags = c:pick { 0, 0, 0, 1, 1, 2, 3 }
  if op == "create_container" then flags = 4 end
  if op == "create_ttl" then flags = c:pick { 5, 6 } end
  if c:one_in(80) then flags = c:pick { 4, 5, 7, 9, -1 } end
  -- (A container that is made by another request is none, but for a while.)
  if op ~= "create_container" and flags == 4 then flags = 0 end
  return { op = op, path = path(c, made), data = data(c), acl = acl(c),
    flags = flags, ttl = op == "create_ttl" and c:pick { 1000000, 0 } or nil }
end
function makers.delete(c, made)
  return { op = "delete", path = path(c, made), version = version(c) }
end
function makers.set(c, made)
  return { op = "set", path = path(c, made), data = data(c),
    version = version(c) }
end
function makers.check(c, made)
  return { op = "check", path = path(c, made), version = version(c) }
end
function makers.set_acl(c, made)
  return { op = "set_acl", path = path(c, made), acl = acl(c),
    version = version(c) }
end
function makers.get_acl(c, made) return { op = "get_acl", path = path(c, made) } end
function makers.read(c, made)
  return { op = c:pick { "exists", "get", "children", "children2" },
    path = path(c, made), watch = c:one_in(2) }
end
function makers.remove_watches(c, made)
  return { op = "remove_watches", path = path(c, made), flags = 1 + c:below(3) }
end
function makers.sync(c) return { op = "sync", path = c:pick(names) } end
function makers.ping() return { op = "ping" } end
function makers.who_am_i() return { op = "who_am_i" } end
function makers.auth(c)
  if c:one_in(4) then return { op = "auth", scheme = "ip", data = "" } end
  return { op = "auth", scheme = "digest", data = c:pick(credentials) }
end
local parts = { "create", "create", "delete", "set", "check" }
function makers.multi(c, made)
  local request = { op = "multi", parts = {} }
  for i = 1, c:below(5) do request.parts[i] = makers[c:pick(parts)](c, made) end
  return request
end

-- The limits and the count of a quota, which are nodes as others.
function makers.quota(c)
  local place = c:pick { "", "/a", "/b", "/a/x" }
  local top = { quota = place }
  return c:pick {
    { op = "multi", parts = {
      { op = "create", path = top, leaf = "/zookeeper_limits",
        data = c:pick { "count=3,bytes=20", "count=2,bytes=-1=;countHardLimit=4",
          "count=-1,bytes=-1=;byteHardLimit=30;countHardLimit=9" } },
      { op = "create", path = top, leaf = "/zookeeper_stats",
        data = "count=0,bytes=0" } } },
    { op = "create", path = top, leaf = "" },
    { op = "get", path = top, leaf = "/zookeeper_stats", watch = true },
    { op = "exists", path = top, leaf = "/zookeeper_stats" },
    { op = "delete", path = top, leaf = "/zookeeper_limits" },
    { op = "delete", path = top, leaf = "/zookeeper_stats" },
  }
end

local weights = { create = 30, delete = 14, set = 10, set_acl = 3, get_acl = 4,
  read = 26, remove_watches = 4, sync = 2, ping = 2, who_am_i = 1, auth = 2,
  multi = 8, quota = 5 }
local kinds = {}
for _, kind in ipairs { "create", "delete", "set", "set_acl", "get_acl", "read",
  "remove_watches", "sync", "ping", "who_am_i", "auth", "multi", "quota" } do
  for _ = 1, weights[kind] do kinds[#kinds + 1] = kind end
end

-- What a client has on its way back to a server.
local function set_watches(c)
  local request = { op = "set_watches", age = c:below(6), data_watches = {},
    exist_watches = {}, child_watches = {} }
  for _, kind in ipairs { "data_watches", "exist_watches", "child_watches" } do
    for i = 1, c:below(4) do request[kind][i] = c:pick(names) end
  end
  return request
end

--- The steps of a sequence: { session =, request = } or { session =, act = }.
-- One in four has quotas.  (Servers compare a quota with what they have counted,
-- and requests that travel together may not have been counted yet.)
function conformance.sequence(seed, length)
  local c, made = chance(seed), {}
  local has_quotas = seed % 4 == 0
  local steps = { together = has_quotas and 1 or 8 }
  while #steps < length do
    local session = 1 + c:below(SESSIONS)
    local step = { session = session }
    local number = #steps + 1
    if c:one_in(50) then
      step.act = c:pick { "close", "close", "reconnect", "abandon", "revive" }
      steps[number] = step
      if step.act == "reconnect" then
        steps[number + 1] = { session = session, request = set_watches(c) }
      end
    else
      local kind = c:pick(kinds)
      if kind == "quota" and not has_quotas then kind = "read" end
      step.request = makers[kind](c, made)
      steps[number] = step
      local flags = step.request.flags
      if step.request.op:find "^create" and (flags == 2 or flags == 3) then
        made[#made + 1] = number
      end
    end
  end
  return steps
end

-- ---- Running -------------------------------------------------------------------

local Run = {}
Run.__index = Run

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
    for _, kind in ipairs { "data_watches", "exist_watches", "child_watches" } do
      copy[kind] = {}
      for i, name in ipairs(request[kind]) do copy[kind][i] = self.base .. name end
    end
  end
  if request.parts then
    copy.parts = {}
    for i, part in ipairs(request.parts) do copy.parts[i] = self:resolve(part) end
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
  table.sort(late, function(a, b) return a.path .. a.type < b.path .. b.type end)
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

function acts.reconnect(self, session)
  local old = self.sessions[session]
  self:open(session, identity(old.session))
  old:hang_up()
end

-- Its client goes, and comes back.
function acts.abandon(self, session)
  local old = self.sessions[session]
  self:flush(session)
  old:hang_up()
  self:open(session, identity(old.session))
end

-- A session that has ended is gone for good; and so is one whose password is wrong.
function acts.revive(self, session)
  local options = self.ended and identity(self.ended)
    or { timeout = 30000, session = self.sessions[session].session.id,
      password = ("p"):rep(16) }
  self:flush(session)
  if self.ended then
    local refused = self.world.open(options)
    self:note(session, { kind = "refused", timeout = refused.session.timeout })
    refused:hang_up()
  else
    self:note(session, { kind = "refused", timeout = 0 })
  end
end

-- The answer to auth may overtake those of earlier requests; and a server judges a
-- request that follows set_acl by the ACL before it, if that is not yet applied.
local alone = { auth = true, set_acl = true }

function Run:go(steps)
  for session = 1, SESSIONS do
    self.transcripts[session] = {}
    self:open(session)
  end
  local above = self.base:match "^/[^/]+"
  for i, place in ipairs { above, self.base, "/zookeeper/quota" .. above,
    "/zookeeper/quota" .. self.base, "/zookeeper/quota" .. self.base .. "/a" } do
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
  local self = setmetatable({ world = world, base = base, sessions = {},
    transcripts = {}, owners = {}, count = 0, made = {}, newest = "", step = 0 },
    Run)
  self:go(steps)
  return self
end

-- ---- Comparing -----------------------------------------------------------------

-- Zxids are counted from the sequence's first.
local function rank(self, zxid)
  if zxid < self.first then return "old" end
  return ("%.0f"):format(tonumber(zxid) - tonumber(self.first))
end

local function plain(self, text)
  local from, to = text:find(self.base, 1, true)
  return from and text:sub(1, from - 1) .. "BASE" .. text:sub(to + 1) or text
end

-- Each transaction has one time.
local function check_time(self, zxid, time)
  if zxid < self.first then return end
  self.times = self.times or {}
  self.times[zxid] = self.times[zxid] or time
  assert(self.times[zxid] == time, "one transaction has two times")
end

local function stat_words(self, stat)
  check_time(self, stat.czxid, stat.ctime)
  check_time(self, stat.mzxid, stat.mtime)
  return ("c%s m%s p%s v%d cv%d av%d %s %d+%d"):format(rank(self, stat.czxid),
    rank(self, stat.mzxid), rank(self, stat.pzxid), stat.version, stat.cversion,
    stat.aversion, self.owners[stat.owner] or stat.owner, stat.size,
    stat.children)
end

local function sorted(list, word_of)
  local words = {}
  for i, one in ipairs(list) do words[i] = word_of(one) end
  table.sort(words)
  return "[" .. table.concat(words, " ") .. "]"
end

local function itself(word) return word end
local function entry_words(one)
  return ("%d:%s:%s"):format(one.perms, one.scheme, one.id)
end

-- What of a reply its operation does not have on the wire.
local without_stat = { create = true, close = true, delete = true, check = true }

local words_of = {}

function words_of.reply(self, item)
  local words = { ("%s %d"):format(item.op or "part", item.rc) }
  if item.kind and item.op ~= "auth" then words[2] = "z" .. rank(self, item.zxid) end
  if item.rc == 0 then
    if item.path then words[#words + 1] = plain(self, item.path) end
    if item.stat and not without_stat[item.op] then
      words[#words + 1] = stat_words(self, item.stat)
    end
    if item.names then words[#words + 1] = sorted(item.names, itself) end
    if item.acl then words[#words + 1] = sorted(item.acl, entry_words) end
    if item.op == "get" then
      words[#words + 1] = "data=" .. tostring(item.data and #item.data < 40
        and item.data or #(item.data or ""))
    end
  end
  for _, part in ipairs(item.parts or {}) do
    local op = part.op
    if op == "create_container" or op == "create_ttl" then op = "create2" end
    if part.rc ~= 0 or not part.path and not part.stat then op = nil end
    words[#words + 1] = "(" .. words_of.reply(self, { op = op, rc = part.rc,
      path = part.path, stat = part.stat }) .. ")"
  end
  return table.concat(words, " ")
end

function words_of.event(self, item)
  return ("event %s %s"):format(item.type, plain(self, item.path))
end
function words_of.connected(self, item)
  return ("connected %d %s"):format(item.timeout,
    item.owner and self.owners[item.owner] or "")
end
function words_of.refused(_, item) return "refused " .. item.timeout end
function words_of.ended() return "ended" end

local function line(self, item)
  return item and words_of[item.kind](self, item) or "nothing"
end

local function request_words(request)
  local words = {}
  for _, name in ipairs { "op", "path", "leaf", "flags", "version", "watch",
    "scheme", "data", "ttl", "age" } do
    local value = request[name]
    if type(value) == "table" then value = "quota" .. value.quota end
    if type(value) == "string" and #value > 60 then value = #value .. " bytes" end
    if value ~= nil then words[#words + 1] = name .. "=" .. tostring(value) end
  end
  if request.acl then words[#words + 1] = sorted(request.acl, entry_words) end
  for _, part in ipairs(request.parts or {}) do
    words[#words + 1] = "\n      " .. request_words(part)
  end
  return table.concat(words, " ")
end

--- The steps until `last`, for a message.
function conformance.describe(steps, last)
  local lines = {}
  for i = 1, math.min(last, #steps) do
    local step = steps[i]
    lines[i] = ("%4d  session %d  %s"):format(i, step.session,
      step.act or request_words(step.request))
  end
  return table.concat(lines, "\n")
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
