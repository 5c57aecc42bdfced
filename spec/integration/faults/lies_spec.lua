-- Servers that lie, answer by answer, as a lock or a tool hears them.  Whatever
-- zklock is told, it ends in time, asks little, and what it believes to hold it
-- holds.  Lies about bytes are told by a real server: server/lies_spec.lua.
local new_proxy = require "support.proxy".start
local raw = require "support.raw"
local support = require "support"
local virtual = require "zklock.virtual"
local zklock = require "zklock"

local path, zk -- of a lie

-- A lie: `it`; `on`, the operation that is lied about; `tell(reply, asked, n)`,
-- the nth time, which changes the reply or returns another; `times`, `skip`: so
-- often (else always), after so many truths; `ends`: how the first acquire, or
-- question, ends, one or more: "timeout|invalid"; `again`: the second (else
-- either); `logs`: a line of the log has it; `says`: the second's message has
-- it; `lock`: "unfair", "exchange" (given back and wanted again many times),
-- "look" and "change" (no lock, but what tools ask); `session`: options;
-- `undone`: the server refuses what is lied about; `ahead`: contenders of
-- another session; `missing`: the directory is; `asks`: at most so many
-- requests.

local UNGRANTED = "timeout|disconnected|invalid|auth|denied"
local ANYHOW = "granted|" .. UNGRANTED

local function fails(code) return function() return { rc = code } end end

-- Using the lock.

local function hear(record, session, what, guard, message, code)
  record[what] = guard ~= nil and "granted" or code
  record[what .. " says"] = guard == nil and message or ""
  if type(guard) ~= "table" or not guard.token then return guard end
  local stat = zk:exists(guard.node)
  record.sound = record.sound and stat and stat.owner == session:id()
    and (stat.czxid == guard:token() or record.lie.token == guard:token())
  return guard
end

local function use_lock(record, session)
  local lie = record.lie
  local lock = session:mutex(path, { fair = lie.lock ~= "unfair" })
  local guard = hear(record, session, "first",
    lock:acquire(lie.ends:find "timeout" and 0.9 or 40))
  session:contenders(path)
  if guard then guard:release() end
  hear(record, session, "again", lock:acquire(
    (lie.again or lie.ends):find "timeout" and 0.6 or 40))
end

-- Given back while others are behind, and wanted again at once, so that both
-- are one request: the others go, and more come behind.
local function use_exchanges(record, session)
  local lock, answer = session:mutex(path), nil
  local function ask()
    answer = nil
    lock:acquire_async({ timeout = 40 }, function(...) answer = { ... } end)
    support.advance(0.1)
  end
  local function stand()
    return zk:create(path .. "/other-lock-",
      { ephemeral = true, sequential = true })
  end
  local ahead = { stand(), stand(), stand() }
  ask()
  for round = 0, 4 do
    local behind, begun = { stand(), stand(), stand() }, support.now()
    for _, node in ipairs(ahead) do
      support.advance(0.1)
      zk:delete(node)
    end
    support.step_until(session, function()
      if support.now() > begun + 5 then -- it came again, at the tail
        for _, node in ipairs(behind) do zk:delete(node) end
      end
      return answer
    end, 60)
    local guard = hear(record, session, round == 0 and "first" or "again",
      (table.unpack or unpack)(answer, 1, 3))
    support.advance(0.1)
    ahead = behind
    if not guard then break end
    if record.lie.undone and record.told < record.lie.times then
      record.proxy:mute_events()
      zk:delete(guard.node) -- which the server refuses to delete, then
    end
    guard:release()
    ask()
    record.proxy:heal()
  end
end

local function use_tools(record, session)
  if record.lie.lock == "look" then
    hear(record, session, "first", session:stat(path))
    hear(record, session, "again", session:children(path))
  else
    hear(record, session, "first", session:touch(path))
    hear(record, session, "again", session:evict(path, "x-lock-0000000001"))
  end
end

-- Tells it as often as it says.
local function tell_lie(record)
  local lie, seen = record.lie, 0
  virtual.lie(function(reply, asked)
    if reply.op ~= lie.on or lie.is_it and not lie.is_it(reply, asked) then
      return nil
    end
    seen = seen + 1
    local n = seen - (lie.skip or 0)
    if n < 1 or n > (lie.times or math.huge) then return nil end
    record.told = n
    local other = lie.tell(reply, asked) or reply
    other.op = other.op or reply.op
    return other
  end)
end

local function run(lie)
  local record = { lie = lie, sound = true, log = "", told = 0 }
  path = support.path "lies"
  if not lie.missing then zk:make(path) end
  for _, name in ipairs(lie.ahead or {}) do
    zk:create(path .. "/" .. name, { ephemeral = true, data = "somebody" })
  end
  local options = { session_timeout = 2, connect_timeout = 40,
    log = function(_, message) record.log = record.log .. message .. "\n" end }
  for key, value in pairs(lie.session or {}) do options[key] = value end
  record.proxy = new_proxy()
  local begun, session = support.now(), assert(zklock.connect(
    record.proxy.hosts, options))
  local asked = session:stats().requests
  tell_lie(record)
  local use = (lie.lock == "look" or lie.lock == "change") and use_tools
    or lie.lock == "exchange" and use_exchanges or use_lock
  local ok, problem = pcall(use, record, session)
  record.requests = session:stats().requests - asked
  session:close()
  virtual.lie(nil)
  record.seconds = support.now() - begun
  zk:delete_all(path:match "^/[^/]*")
  assert(ok, problem)
  return record
end

-- Why it is not outlived; nil: it is.
local function flaw(lie, record)
  local function unless(condition, ...) return not condition and { ... } end
  local function has(text, words)
    return not words or text:find(words, 1, true)
  end
  local function is_one_of(word, words)
    return has("|" .. words .. "|", "|" .. tostring(word) .. "|")
  end
  local first, again = record["first says"], record["again says"]
  local found = unless(record.told > 0, "it is not told")
    or unless(is_one_of(record.first, lie.ends), record.first, first)
    or unless(not record.again or is_one_of(record.again, lie.again
      or "granted|" .. lie.ends), "the second:", record.again, again)
    or unless(has(first, lie.why), "it says", first)
    or unless(has(again or "", lie.says), "it says", again)
    or unless(has(record.log, lie.logs), "the log has", record.log)
    or unless(record.sound, "what was granted is not held")
    or unless(record.requests <= (lie.asks or 400), record.requests, "requests")
    or unless(record.seconds < 90, record.seconds, "s")
  return found and table.concat(found, " ")
end

-- The lies of a group, in one test.
local function outlive(title, list)
  it(title, function()
    local flaws = {}
    for _, lie in ipairs(list) do
      local problem = flaw(lie, run(lie))
      if problem then flaws[#flaws + 1] = lie.it .. ": " .. problem end
    end
    assert.equal("", table.concat(flaws, "\n"))
  end)
end

-- A lie that is told once is outlived.  Of one that is told always, other
-- requests may find out the truth, or not.
local function once_and_always(list, lie)
  for _, often in ipairs { "once", "always" } do
    local is_once = often == "once"
    local copy = { times = is_once and 1 or nil,
      ends = is_once and "granted" or ANYHOW }
    for key, value in pairs(lie) do copy[key] = value end
    copy.it = lie.it .. ", " .. often
    list[#list + 1] = copy
  end
end

local UNASKED = "a node that zklock did not create"
local AHEAD = { "_c_00000000-0000-4000-8000-000000000001-lock-0000000000" }

local function lists(change)
  return function(reply)
    if reply.names and #reply.names > 0 then change(reply.names) end
  end
end

local function add(...)
  local more = { ... }
  return lists(function(names)
    for _, name in ipairs(more) do names[#names + 1] = name end
  end)
end

local function crowd(n, format)
  return lists(function(names)
    for i = 1, n do names[#names + 1] = format:format(100000 + i) end
  end)
end

local NONE = "that cannot be true: a list with an invalid name"
local HALF = "that cannot be true: a transaction that neither succeeded nor "
  .. "failed"
local TWICE = "that cannot be true: a list with a duplicate name"
local function counts(field, value) -- in a Stat
  return function(reply)
    if reply.stat then reply.stat[field] = value end
  end
end

before_each(function()
  zk = support.closing(raw.connect(support.hosts, { auth = "u:p" }))
end)

-- Names of a node that was not made as it was asked for.
local named = {
  { "a node in another directory",
    function() return "/other/_c_x-lock-0000000000" end },
  { "a node of another name",
    function() return path .. "/_c_x-lock-0000000000" end },
  { "a node of no name", function() return "" end, HALF },
  { "a node without a number", function(_, asked) return asked end },
  { "a node of a digit too few", function(made) return made:sub(1, -2) end },
  { "a node of a number of 5000 digits",
    function(made) return made .. ("0"):rep(5000) end },
  { "a node of a number that is none",
    function(made) return made:sub(1, -11) .. "000000\n001" end },
  { "a node of a number beyond an int",
    function(_, asked) return asked .. "9999999999" end },
  { "a node below a node", function(made) return made .. "/x" end },
  { "a path of 900 KB", function(made) return made .. ("x"):rep(900000) end },
}

describe("What a server says wrongly is outlived:", function()
  -- Nodes that were not made as they were asked for.

  local nodes = {}
  for _, case in ipairs(named) do
    once_and_always(nodes, { it = case[1], on = "create2", logs = UNASKED,
      tell = function(reply, asked)
        if reply.rc == 0 then reply.path = case[2](reply.path, asked) end
      end })
  end

  local function of_stat(what, field, value, logs, options)
    local lie = { it = what, on = "create2", logs = logs,
      tell = counts(field, value) }
    for key, of_lie in pairs(options or {}) do lie[key] = of_lie end
    if not lie.ends then return once_and_always(nodes, lie) end
    nodes[#nodes + 1] = lie
  end
  local FOREIGNER = "a node of another session"
  local OLDER = "a node with a smaller czxid than an earlier one"
  of_stat("a node of nobody", "owner", "0x", FOREIGNER)
  of_stat("a node of another session", "owner", "0x7f7f00000009", FOREIGNER)
  of_stat("a node of the session -1", "owner", "0xffffffffffffffff", FOREIGNER)
  of_stat("a token of zero", "czxid", "0", OLDER)
  of_stat("a token below zero", "czxid", "-1", OLDER)
  of_stat("a token that is smaller than the last one", "czxid", "5", OLDER,
    { skip = 1, ends = "granted", again = ANYHOW })
  of_stat("the largest token", "czxid", "9223372036854775807", nil,
    { ends = "granted", token = "9223372036854775807" })
  outlive("nodes", nodes)

  -- Errors that there are not, that are ours, or that mean something else.

  local errors = {
    { it = "a directory that is missing and exists", on = "create2",
      tell = fails(-101), ends = "timeout|disconnected|invalid" },
    { it = "a node that exists and does not", on = "create2",
      tell = fails(-110), ends = "timeout|disconnected|invalid" },
    { it = "an unfair lock's node that exists and does not", on = "multi",
      lock = "unfair", tell = fails(-110), ends = ANYHOW },
  }
  for _, code in ipairs { -999, 5, 2147483647, -1001, -1003, -1, -2, -4, -9,
    -103, -112, -115, -116, -117, -118 } do
    for on, ends in pairs { create2 = ANYHOW, children = UNGRANTED,
        delete = "granted" } do
      errors[#errors + 1] = { it = ("error %d to each %s"):format(code, on),
        on = on, tell = fails(code), ends = ends, again = ANYHOW }
    end
  end
  outlive("errors", errors)

  -- Lists.

  local list = {
    { it = "an empty list, once", times = 1, ends = "granted",
      tell = function(reply) reply.names = {} end },
    { it = "empty lists", ends = "timeout|disconnected|invalid",
      tell = function(reply) reply.names = {} end },
    { it = "a list of a hundred thousand", ends = "granted",
      tell = crowd(100000, "stranger-%d") },
    { it = "a list of a thousand contenders that there are not",
      ends = "granted", again = ANYHOW, asks = 5000,
      tell = crowd(1000, "x-lock-%010d") },
    { it = "a contender of a name that is longer than any path",
      ends = "timeout|disconnected|invalid",
      tell = add(("x"):rep(100000) .. "-lock-0000000000") },
  }
  once_and_always(list, { it = "a name with a slash", logs = NONE,
    tell = add "x/y-lock-0000000000" })
  once_and_always(list, { it = "a name of nothing", logs = NONE,
    tell = add "" })
  once_and_always(list, { it = "our name twice", logs = TWICE,
    tell = lists(function(names) names[#names + 1] = names[1] end) })
  once_and_always(list, { it = "a name of others twice", logs = TWICE,
    tell = add("x-lock-0000009999", "x-lock-0000009999") })
  for _, lie in ipairs(list) do lie.on = "children" end
  outlive("lists", list)

  -- What tools ask, and what those who wait read.

  local BELOW = "that cannot be true: a Stat with a negative length"
  local questions = {
    { it = "two billion children", on = "exists", lock = "look",
      tell = counts("children", 2147483647), ends = "granted",
      again = "invalid", says = "more than 50000 children" },
    { it = "more children than were counted", on = "children2", lock = "look",
      tell = crowd(100000, "stranger-%d"), ends = "granted",
      again = "invalid", says = "more than 50000 children" },
    { it = "children of what is not there", on = "children2", lock = "look",
      tell = fails(-101), ends = "granted", again = "granted" },
    { it = "nothing to wait for, before it answers", on = "sync",
      lock = "look", tell = fails(-101), ends = "granted", again = "granted" },
    { it = "that nobody may wait before it answers", on = "sync",
      lock = "look", tell = fails(-102), ends = "denied", again = "denied" },
    { it = "a sync that has failed in a way of its own", on = "sync",
      lock = "look", tell = fails(-5), ends = "disconnected|invalid",
      again = "disconnected|invalid" },
    { it = "a touched node that is not there, and then is", on = "set",
      lock = "change", tell = fails(-101), times = 1, ends = "granted" },
    { it = "a touched node that exists and does not", on = "set",
      lock = "change", tell = fails(-101), ends = "invalid",
      again = "granted", asks = 60 },
    { it = "a touched node that is ephemeral", on = "set",
      lock = "change", tell = counts("owner", "0x7f7f00000009"),
      ends = "invalid", again = "granted" },
    { it = "an eviction of a node with children", on = "delete",
      lock = "change", tell = fails(-111), ends = "granted",
      again = "invalid", says = "not empty" },
  }
  for _, field in ipairs { "children", "size" } do
    questions[#questions + 1] = { it = "less than no " .. field,
      on = "exists", lock = "look", tell = counts(field, -1), logs = BELOW,
      ends = "disconnected", again = "disconnected" }
    questions[#questions + 1] = { it = "less than no " .. field
      .. " of what is touched", on = "set", lock = "change",
      tell = counts(field, -1), logs = BELOW, ends = "disconnected",
      again = "disconnected|granted" } -- or it is back
  end
  for _, name in ipairs { "", "a/b", "x-lock-0000000001" } do
    questions[#questions + 1] = { it = "a child called " .. name,
      on = "children2", lock = "look", ends = "granted",
      logs = name:find "lock" and TWICE or NONE,
      again = "disconnected", tell = add(name) }
  end
  for _, lie in ipairs(questions) do lie.ahead = { "x-lock-0000000001" } end
  for _, code in ipairs { -999, 5, -112, -118, -2 } do
    questions[#questions + 1] = { it = ("error %d to each read"):format(code),
      on = "get", ahead = AHEAD, tell = fails(code),
      ends = "timeout|disconnected|invalid" }
  end
  questions[#questions + 1] = { on = "get", tell = fails(-101), ahead = AHEAD,
    it = "a node ahead that is listed and does not exist",
    ends = "timeout|disconnected|invalid" }
  outlive("questions", questions)
end)

describe("What a server says wrongly is outlived:", function()
  -- Exchanges: a lock that is given back and wanted again at once has one node
  -- deleted and another made.  Nothing is told of whose the new one is.

  local exchanges = {}
  local function exchange(what, tell, options)
    for times = 1, 3, 2 do
      local lie = { it = ("%s, %d times"):format(what, times), on = "multi",
        lock = "exchange", times = times, ends = "granted", again = "granted",
        is_it = function(reply)
          local parts = reply.parts
          return #parts == 2 and parts[1].op == "delete"
            and (parts[2].rc == 0) == not (options and options.undone)
        end,
        tell = function(reply, asked)
          return tell(reply, reply.parts, asked)
        end }
      for key, value in pairs(options or {}) do lie[key] = value end
      exchanges[#exchanges + 1] = lie
    end
  end

  -- The errors of the delete and of the create.
  local function parts_fail(of_delete, of_create)
    return function(_, parts)
      parts[1].rc, parts[2].rc = of_delete, of_create
    end
  end

  exchange("no lie", function() end)
  exchange("parts refused because of each other", parts_fail(-2, -2),
    { logs = HALF })
  for _, case in ipairs(named) do
    exchange("an exchange for " .. case[1], function(_, parts, asked)
      parts[2].path = case[2](parts[2].path, asked)
    end, { logs = case[3] or UNASKED })
  end
  exchange("an exchange for a node with a negative number", function(_, parts)
    parts[2].path = parts[2].path:sub(1, -11) .. "-000000001"
  end)
  exchange("not applied, but reported as applied", function(_, parts, asked)
    parts[1].rc, parts[2].rc = 0, 0
    parts[2].path = asked .. "0000000077"
  end, { undone = true })
  -- What could not be created is told, what could not be deleted tried again.
  for _, case in ipairs {
    { 0, -101, "granted" }, { -101, -2, "granted" }, { -111, -2, "granted" },
    { -102, -2, "denied" }, { 0, -102, "denied" },
    { 0, -110, "invalid" }, { -101, -110, "invalid" },
    { 0, -115, "auth" }, { 0, -4, "granted" }, { -101, -4, "granted" },
    { 0, -112, "granted" }, { -118, -2, "granted" },
    { 0, -999, "invalid" }, { 0, 5, "granted" }, { 5, -2, "granted" },
    { 0, -1003, "granted" }, { -1007, -2, "granted" },
    { -1011, -1011, "granted" },
  } do
    local what = ("refused by %d and %d"):format(case[1], case[2])
    local tell = parts_fail(case[1], case[2])
    exchange(what .. ", and done", tell, { again = case[3] })
    exchange(what .. ", and not done", tell, { again = case[3],
      undone = true })
  end
  for _, code in ipairs { -2, -4, -101, -112, 5, -1011, -999, -102 } do
    exchange(("no part, and error %d"):format(code), fails(code),
      { again = code == -999 and "invalid" or code == -102 and "denied"
        or "granted" })
  end
  -- Of its node only a read tells whose it is; the first is of no exchange.
  for _, owner in ipairs { "0x7f7f00000009", "0x" } do
    exchanges[#exchanges + 1] = { on = "get", lock = "exchange", skip = 1,
      it = "an exchange for a node that turns out of " .. owner, times = 1,
      is_it = function(_, asked) return not asked:find "other%-lock" end,
      ends = "granted", tell = function(reply) reply.stat.owner = owner end }
  end
  outlive("exchanges", exchanges)
end)

-- Each code of ZooKeeper's (KeeperException.Code, zookeeper.h), and some that
-- are none, told once as the answer to each request.  The table of
-- doc/errors.md says what each means.  Where it is one of `RETRIED`
-- the request is sent again, in this connection or in the next one; the others
-- refuse.

local RETRIED = { -1, -2, -3, -4, -5, -7, -9, -12, -112, -116, -118, -119, -122,
  -125, -127, 5, -1003 }
local INVALID = { -6, -8, -13, -14, -15, -103, -108, -111, -113, -114, -117,
  -120, -121, -123, -126, -130 }
local FINAL = { [-102] = "denied", [-115] = "auth", [-124] = "auth" }
for _, code in ipairs(INVALID) do FINAL[code] = "invalid" end
local REFUSED = { -102, -115, -124 }
for _, code in ipairs(INVALID) do REFUSED[#REFUSED + 1] = code end

local WORDS = {
  [-6] = "the server does not know this request", [-102] = "an ACL forbids it",
  [-120] = "the session is local to its server",
  [-124] = "enforce.auth.schemes", [-130] = "the code -130",
}

-- `ends`: how it ends where the code is to be retried; `meant`: of codes that
-- mean something else here.
local function codes_to(on, options, ends, meant)
  local list = {}
  local function say(code, how)
    local lie = { it = code .. " to " .. on, on = on, times = 1,
      tell = fails(code), ends = meant and meant[code] or how }
    if FINAL[code] == lie.ends then lie.why = WORDS[code] end
    for key, value in pairs(options) do lie[key] = lie[key] or value end
    list[#list + 1] = lie
  end
  for _, code in ipairs(RETRIED) do say(code, ends) end
  for _, code in ipairs(REFUSED) do say(code, options.always or FINAL[code]) end
  for _, code in ipairs { -101, -110 } do
    say(code, options.always or "invalid")
  end
  return list
end

describe("Each code of ZooKeeper's is outlived by", function()
  local SECRET = { auth = { scheme = "digest", credential = "u:p" },
    acl = { { scheme = "digest", perms = "cdrwa",
      id = "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ=" } } }
  -- (Servers that want credentials are asked again a second later.)
  local LOOSE = "granted|auth|denied|invalid|disconnected"

  outlive("a create", codes_to("create2", { again = LOOSE }, "granted",
    { [-101] = "granted" }))
  outlive("a create of an unfair lock", codes_to("multi",
    { lock = "unfair", again = LOOSE }, "granted",
    { [-101] = "granted", [-110] = "granted|timeout" }))
  outlive("a create of a directory", codes_to("create_container",
    { missing = true, again = LOOSE }, "granted",
    { [-110] = "granted", [-6] = "granted", [-101] = "granted" }))
  outlive("a rehearsal", codes_to("multi",
    { session = SECRET, missing = true, again = LOOSE }, "granted",
    { [-110] = "granted", [-6] = "granted", [-101] = "granted" }))
  outlive("a list", codes_to("children", { again = LOOSE }, "granted",
    { [-101] = "granted" }))
  outlive("a delete", codes_to("delete", { always = "granted",
    again = "granted|timeout|denied|auth" }, "granted"))
  outlive("a read", codes_to("get", { ahead = AHEAD, always = "timeout",
    again = "timeout|disconnected|auth" }, "timeout|disconnected",
    { [-124] = "auth" }))
  outlive("an unwatch", codes_to("remove_watches", { ahead = AHEAD,
    always = "timeout", again = "timeout|disconnected|auth" }, "timeout"))
  outlive("a sync", codes_to("sync", { lock = "look", ahead = AHEAD,
    again = LOOSE }, "timeout|disconnected", { [-101] = "granted" }))
  outlive("an exists", codes_to("exists", { lock = "look", ahead = AHEAD,
    again = LOOSE }, "granted|disconnected", { [-101] = "granted",
    [-125] = "granted", [-127] = "granted" }))
  outlive("a set", codes_to("set", { lock = "change", ahead = AHEAD,
    again = LOOSE }, "granted|disconnected", { [-101] = "granted",
    [-125] = "granted", [-127] = "granted" }))
end)
