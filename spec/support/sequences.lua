--- Random sequences of requests, generated from a seed (support.conformance).
local new_chance = require "explore.chance".new

local sequences = {}

local SESSIONS = 3
sequences.SESSIONS = SESSIONS
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
  list(entry(15, "world", "anyone"), entry(31, "digest", BOB)),
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

local names = { "", "/a", "/b", "/a/x", "/a/x", "/a/y", "/a/x/k", "/b/z",
  "/b/z", "/c", "/c/d", "/c/d/e" }
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
  if #made > 0 and c:one_in(4) then
    return made[#made - c:below(math.min(#made, 8))]
  end
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
local drawn = { data = data, acl = acl, version = version }
for op, fields in pairs { delete = { "version" }, set = { "data", "version" },
  check = { "version" }, set_acl = { "acl", "version" }, get_acl = {} } do
  makers[op] = function(c, made)
    local request = { op = op, path = path(c, made) }
    for _, name in ipairs(fields) do request[name] = drawn[name](c) end
    return request
  end
end
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

-- Several nodes at once, which may be one too many.
local function crowd(c, place)
  local request = { op = "multi", parts = {} }
  for i = 1, 2 + c:below(3) do
    request.parts[i] = { op = "create", path = place .. "/n", flags = 2,
      data = data(c) }
  end
  return request
end

-- The limits and the count of a quota, which are nodes as others.
function makers.quota(c)
  local place = c:pick { "", "/a", "/b", "/a/x" }
  if c:one_in(4) then return crowd(c, place) end
  local top = { quota = place }
  return c:pick {
    { op = "multi", parts = {
      { op = "create", path = top, leaf = "/zookeeper_limits",
        data = c:pick { "count=3,bytes=20",
          "count=2,bytes=-1=;countHardLimit=4",
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

local kinds = {}
for kind, weight in ("create 30 delete 14 set 10 set_acl 3 get_acl 4 read 26 "
  .. "remove_watches 4 sync 2 ping 2 who_am_i 1 auth 2 multi 8 quota 5")
  :gmatch "(%S+) (%d+)" do
  for _ = 1, weight do kinds[#kinds + 1] = kind end
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
-- One in four has quotas.  (Servers compare a quota with what they counted, and
-- requests that travel together may not have been counted yet.)
function sequences.make(seed, length)
  local c, made = new_chance(seed), {}
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

-- ---- Words ----------------------------------------------------------------

--- What a request, or another table, has in it.
function sequences.words(value)
  if type(value) ~= "table" then return tostring(value) end
  local words = {}
  for name, one in pairs(value) do
    words[#words + 1] = name .. "=" .. sequences.words(one)
  end
  table.sort(words)
  return "{" .. table.concat(words, " ") .. "}"
end

--- The steps until `last`, for a message.
function sequences.describe(steps, last)
  local lines = {}
  for i = 1, math.min(last, #steps) do
    local step = steps[i]
    lines[i] = ("%4d  session %d  %s"):format(i, step.session,
      step.act or sequences.words(step.request))
  end
  return table.concat(lines, "\n")
end

return sequences
