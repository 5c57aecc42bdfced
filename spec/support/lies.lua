--- What support.impostor lies about: a list, each
--
--     it = sentence         what zklock does then
--     on = "create"         the request that is lied about: connect, create
--                           (of a contender), mkdir, list, get, exists, delete,
--                           transaction (a delete and a create in one), sync,
--                           ping, auth, close; "any": each behind the greeting
--     tell(h, n, world)     what is said instead, the nth time: see `pour` of
--                           support.impostor.  `h`: the truth
--     times, skip = n, n    so often (else always), after so many truths
--     ends = "granted"      how the first acquire ends, in Lua's words of
--                           patterns, one or more: "timeout|invalid"; or the
--                           connect: "connect disconnected"
--     again = …             the same of a second acquire (else: as the first)
--     says = "words"        … and its message
--     why = "words"         the message of how the first acquire ends
--     logs = "words"        a line of the log has them
--     lock, session         their options: "unfair", a table; "exchange": one
--                           that is given back and wanted again, many times;
--                           session: "auth", "acl"; "look" and "change": no
--                           lock, but what tools ask, stat and children, or
--                           stamp and evict, in the place of both acquires
--     finds = "false"       what children says of the path ("look")
--     asked = n             until so many transactions were asked for, two
--                           others come behind each contender
--     undone = n            so many of the transactions are not done
--     group = "deadly"      the client library does not live to tell
--     group = "size"        it makes the client library ask for less memory
--                           than none, at which a sanitizer ends the process,
--                           or for gigabytes, for which it takes seconds
--     keeps = true          whoever wants to be refused is not
--     ahead = { name, … }   contenders of another session
--     stays = seconds       when the client has come they go, one after the
--                           other, each after so long
--     hides = "nodes"       none of another session's nodes may be read: as
--                           servers since 3.8.4 and 3.9.2 do; or "events": as
--                           earlier ones with the fix of CVE-2024-23944 do
--     drip = seconds        between two bytes of whatever is said
--     timeout = seconds     of the client's session (2)
--     no_path = true        the lock's directory is missing
--     asks = n              at most so many requests reach the server (400)
local frames = require "support.frame"

local int, buffer, read_int = frames.int, frames.buffer, frames.read_int

local lies = { list = {} }

-- Frames.

function lies.greeting(h)
  local body = int(h.protocol) .. int(h.timeout) .. h.id .. h.passwd .. h.flag
  return int(h.size or #body) .. body
end

function lies.reply(h)
  return buffer(h.xid .. h.zxid .. int(h.err) .. h.body)
end

local DELETED, CHANGED, CHILD, SESSION = 2, 3, 4, -1

function lies.event(kind, state, path)
  return buffer(int(-1) .. int(-1) .. int(-1) .. int(0) .. int(kind)
    .. int(state) .. buffer(path))
end

-- What is behind the header of a transaction's answer: parts, each with a
-- header of its own, and the end.

local PARTS = { delete = 2, create = 1, check = 13, error = -1 }

local function part(kind, body, err)
  return int(PARTS[kind]) .. "\0" .. int(err or 0) .. (body or "")
end

local function refusal(err) return part("error", int(err), err) end

local END = int(-1) .. "\1" .. int(-1)

function lies.exchanged(path)
  return part "delete" .. part("create", buffer(path)) .. END
end

function lies.rehearsed(path)
  local made = part("create", buffer(path))
  return made .. part "check" .. made .. part "delete" .. part "delete" .. END
end

function lies.created_both(path, beside)
  return part("create", buffer(path)) .. part("create", buffer(beside)) .. END
end

function lies.deleted_both() return part "delete" .. part "delete" .. END end

function lies.checked() return part "check" .. part "check" .. END end

function lies.refusals(of_delete, of_create)
  return refusal(of_delete) .. refusal(of_create) .. END
end

local greeting, reply, event = lies.greeting, lies.reply, lies.event
local exchanged, refusals = lies.exchanged, lies.refusals

-- The truth but for some fields.
local function but(h, changes)
  local copy = {}
  for key, value in pairs(h) do copy[key] = value end
  for key, value in pairs(changes) do copy[key] = value end
  return copy
end

local function greets(changes)
  return function(h)
    for key, value in pairs(changes) do h[key] = value end
    return greeting(h)
  end
end

local function fails(code)
  return function(h) return reply(but(h, { err = code, body = "" })) end
end

local function says(body) -- what is behind the header
  return function(h) return reply(but(h, { err = 0, body = body })) end
end

-- A created node: its path, and its Stat of 68 bytes.
local function path_of(h) return h.body:sub(5, -69) end

local function makes(change) -- another path
  return function(h)
    if h.err ~= 0 then return reply(h) end
    return reply(but(h, {
      body = buffer(change(path_of(h), h.path)) .. h.body:sub(-68),
    }))
  end
end

-- Bytes of the Stat, from `at` on.
local function counts(at, bytes)
  return function(h)
    if h.err ~= 0 then return reply(h) end
    local body, from = h.body, #h.body - 68 + at
    return reply(but(h, {
      body = body:sub(1, from - 1) .. bytes .. body:sub(from + #bytes),
    }))
  end
end

local CZXID, OWNER, LENGTH, CHILDREN = 1, 45, 53, 57
local NONE, FOREIGN = ("\0"):rep(8), int(0x7f7f) .. int(9)
local MINUS, HUGE = ("\255"):rep(8), "\127" .. ("\255"):rep(7)

local function owner_of(h)
  local from = #h.body - 68 + OWNER
  return h.body:sub(from, from + 7)
end

local function names_of(h)
  local names, at = {}, 5
  for i = 1, h.err == 0 and read_int(h.body, 1) or 0 do
    local size = read_int(h.body, at)
    names[i] = h.body:sub(at + 4, at + 3 + size)
    at = at + 4 + size
  end
  return names
end

local function list(names, count)
  local parts = {}
  for i, name in ipairs(names) do parts[i] = buffer(name) end
  return int(count or #names) .. table.concat(parts)
end

-- What is done to the truth's names; the contender of ours is among them.
local function lists(change)
  return function(h)
    local names = names_of(h)
    if #names == 0 then return reply(h) end
    return reply(but(h, { body = change(names) or list(names) }))
  end
end

local function before(...) -- the truth
  local more = { ... }
  return function(h)
    local pieces = {}
    for i, piece in ipairs(more) do pieces[i] = piece end
    pieces[#pieces + 1] = reply(h)
    return (table.unpack or unpack)(pieces)
  end
end

local function after(...)
  local more = { ... }
  return function(h) return reply(h), (table.unpack or unpack)(more) end
end

local AHEAD = { "_c_00000000-0000-4000-8000-000000000001-lock-0000000000" }

-- The list.

local function add(lie) lies.list[#lies.list + 1] = lie end

local UNGRANTED = "|timeout|disconnected|invalid|auth|denied"

-- A lie that is told once is outlived (`once` says how). Of one that is told
-- always, other requests may find out the truth, or not.
local function once_and_always(lie, once, always)
  local title = lie.it
  lie.times, lie.ends, lie.it = 1, once or "granted", title .. ", once"
  add(lie)
  local again = but(lie, {})
  again.times = nil
  again.ends = always and always.ends or again.ends .. UNGRANTED
  again.it = title .. ", always"
  add(again)
end

-- Greetings.

local REFUSED = "connect disconnected"

add { it = "a greeting that ends in the middle", on = "connect",
  tell = function(h) return greeting(h):sub(1, 20), "close" end,
  ends = REFUSED }
add { it = "half a greeting, and then silence", on = "connect",
  tell = function(h) return greeting(h):sub(1, 20), "silence" end,
  ends = REFUSED }
add { it = "no greeting at all", on = "connect",
  tell = function() return "silence" end, ends = REFUSED }
add { it = "the greeting of an old server, without the last byte",
  on = "connect", tell = greets { flag = "" }, ends = "granted" }
add { it = "a greeting with bytes behind it", on = "connect",
  tell = function(h) return greeting(h) .. ("\0"):rep(100) end,
  ends = "timeout|disconnected|" .. REFUSED }
add { it = "a timeout below zero", on = "connect",
  tell = greets { timeout = -1 }, ends = REFUSED }
add { it = "a timeout of zero", on = "connect", tell = greets { timeout = 0 },
  ends = REFUSED }
add { it = "a timeout of a millisecond", on = "connect",
  tell = greets { timeout = 1 }, ends = REFUSED }
add { it = "a timeout of 24 days", on = "connect",
  tell = greets { timeout = 2147483647 }, ends = "granted" .. UNGRANTED }
add { it = "a timeout of -2147483648", on = "connect",
  tell = greets { timeout = -2147483648 }, ends = REFUSED }
add { it = "no session", on = "connect", tell = greets { id = NONE },
  ends = REFUSED }
add { it = "the session -1", on = "connect", tell = greets { id = MINUS },
  ends = "granted" }
add { it = "a password of no length", on = "connect",
  tell = greets { passwd = int(0) .. ("\1"):rep(16) }, ends = "granted" }
add { it = "a password of a length below zero", on = "connect",
  tell = greets { passwd = int(-1) .. ("\1"):rep(16) }, ends = "granted" }
add { it = "a password of a gigabyte", on = "connect",
  tell = greets { passwd = int(2 ^ 30) .. ("\1"):rep(16) }, ends = "granted" }
add { it = "a server that may only be read", on = "connect",
  tell = greets { flag = "\1" }, ends = REFUSED }
add { it = "a flag that is neither", on = "connect",
  tell = greets { flag = "\255" }, ends = REFUSED .. "|granted" }
add { it = "a protocol of another version", on = "connect",
  tell = greets { protocol = -77 }, ends = "granted" }
add { it = "a greeting that says it is longer", on = "connect",
  tell = greets { size = 4000 }, ends = REFUSED }
add { it = "a greeting that says it is shorter than nothing", on = "connect",
  tell = greets { size = -1 }, ends = REFUSED }
add { it = "another session at each return", on = "connect",
  tell = function(h, n)
    h.id = int(0x6c6965) .. int(1000 + n)
    if n > 2 then return greeting(h) end
    return greeting(h), 0.05, "close"
  end, ends = "granted" }
add { it = "the end right after each greeting", on = "connect",
  tell = function(h) return greeting(h), "close" end,
  ends = "disconnected|timeout|" .. REFUSED }
add { it = "the end right after three greetings", on = "connect", times = 3,
  tell = function(h) return greeting(h), "close" end, ends = "granted" }
add { it = "a page of HTTP", on = "connect",
  tell = function()
    return "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n"
      .. ("<html>no</html>"):rep(20), "close"
  end, ends = "disconnected|timeout|" .. REFUSED }
-- (Where the machine is busy a reply takes a second: longer than the lease of a
-- short session.)
add { it = "everything byte by byte", on = "nothing", drip = 0.0001,
  timeout = 20, ends = "granted" }

-- Nodes that were not made as they were asked for.

local function wrong_path(what, change, options)
  local lie = { it = what, on = "create", tell = makes(change),
    logs = "a node that nobody has asked for" }
  for key, value in pairs(options or {}) do lie[key] = value end
  once_and_always(lie)
end

wrong_path("a node in another directory", function()
  return "/other/_c_x-lock-0000000000"
end)
wrong_path("a node of another name", function(path)
  return (path:gsub("[^/]*$", "_c_x-lock-0000000000"))
end)
wrong_path("a node of no name", function() return "" end)
wrong_path("a node without a number", function(_, asked) return asked end)
wrong_path("a node of a number of 5000 digits", function(path)
  return path .. ("0"):rep(5000)
end)
wrong_path("a node of a number that is none", function(path)
  return path:sub(1, -11) .. "000000\n001"
end)
wrong_path("a node of a number beyond an int", function(_, asked)
  return asked .. "9999999999"
end)
wrong_path("a NUL in a node's path", function(_, asked)
  return asked .. "\0" .. "0000000001"
end)
wrong_path("a node below a node", function(path) return path .. "/x" end)
once_and_always { it = "an unfair lock's node of another name",
  on = "create_both", lock = "unfair", tell = function(h)
    if read_int(h.body, 1) == -1 then return reply(h) end
    return reply(but(h, { body = lies.created_both("/elsewhere", "/holder") }))
  end }
add { it = "a path of 900 KB", on = "create", times = 1, ends = "granted",
  tell = makes(function(path) return path .. ("x"):rep(900000) end) }

add { it = "a node of no name, from one that lets nobody go", on = "create",
  times = 1, keeps = true, ends = "granted",
  tell = makes(function() return "" end) }

local FOREIGNER = "our node as another session's"
once_and_always { it = "a node of nobody", on = "create",
  tell = counts(OWNER, NONE), logs = FOREIGNER }
once_and_always { it = "a node of another session", on = "create",
  tell = counts(OWNER, FOREIGN), logs = FOREIGNER }
once_and_always { it = "a node of the session -1", on = "create",
  tell = counts(OWNER, MINUS), logs = FOREIGNER }
local OLDER = "a node older than the one before it"
once_and_always { it = "a token of zero", on = "create", logs = OLDER,
  tell = counts(CZXID, NONE) }
once_and_always { it = "a token below zero", on = "create", logs = OLDER,
  tell = counts(CZXID, MINUS) }
add { it = "a token that is smaller than the last one", on = "create",
  skip = 1, tell = counts(CZXID, int(0) .. int(5)), ends = "granted",
  logs = OLDER,
  again = "granted" .. UNGRANTED }
add { it = "the largest token", on = "create", tell = counts(CZXID, HUGE),
  ends = "granted", token = "9223372036854775807" }
add { it = "a node without a Stat", on = "create", tell = function(h)
  return reply(but(h, { body = h.body:sub(1, -69) }))
end, ends = "granted" .. UNGRANTED }
add { it = "two creates whose answers are swapped", on = "create",
  lock = "pair", times = 2, ends = "granted", tell = function(h, n, world)
    if n == 1 then
      world.first = h
      return
    end
    local first = world.first
    return reply(but(first, { body = h.body })),
      reply(but(h, { body = first.body }))
  end }
add { it = "a create that is answered twice", on = "create", times = 1,
  tell = function(h) return reply(h), reply(h) end, ends = "granted" }
add { it = "a create that is answered after its list", on = "create",
  times = 1, tell = function(h) return 0.2, reply(h) end, ends = "granted" }
add { it = "a create that is never answered", on = "create",
  tell = function() return "" end, ends = "granted" .. UNGRANTED }

-- Who is told again and again to look once more does so at the pace of the
-- answers, with one question at a time.
local PACED = 100000

-- Errors that there are not, that are ours, or that mean something else.

local ERRORS = { -999, 5, 2147483647, -1001, -1003, -1, -2, -4, -9, -103, -112,
  -115, -116, -117, -118 }
for _, code in ipairs(ERRORS) do
  add { it = ("error %d to each create"):format(code), on = "create",
    tell = fails(code), ends = "granted" .. UNGRANTED }
  add { it = ("error %d to each list"):format(code), on = "list",
    tell = fails(code), ends = "timeout|disconnected|invalid|auth|denied" }
  add { it = ("error %d to each delete"):format(code), on = "delete",
    tell = fails(code), ends = "granted", again = "granted" .. UNGRANTED }
end
add { it = "a directory that is missing and exists", on = "create",
  tell = fails(-101), ends = "timeout|disconnected|invalid", asks = PACED }
add { it = "a node that exists and does not", on = "create",
  tell = fails(-110), ends = "timeout|disconnected|invalid" }
add { it = "an unfair lock's node that exists and does not",
  on = "create_both",
  lock = "unfair", tell = fails(-110), ends = "granted" .. UNGRANTED }
add { it = "an error with a body", on = "list", tell = function(h)
  return reply(but(h, { err = -1 }))
end, ends = "timeout|disconnected|invalid" }

-- Lists.

local function wrong_list(what, change, words, group)
  once_and_always { it = what, on = "list", tell = lists(change),
    logs = "that cannot be true: a list " .. words, group = group }
end

add { it = "an empty list, once", on = "list", times = 1, ends = "granted",
  tell = lists(function() return list {} end) }
add { it = "empty lists", on = "list", ends = "timeout|disconnected|invalid",
  asks = PACED,
  tell = lists(function() return list {} end) }

-- A list of a hundred thousand: the truth, and strangers.
local crowd = {}
for i = 1, 100000 do crowd[i] = buffer("stranger-" .. i) end
crowd = table.concat(crowd)
add { it = "a list of a hundred thousand", on = "list", ends = "granted",
  tell = lists(function(names)
    return int(#names + 100000) .. list(names):sub(5) .. crowd
  end) }
add { it = "a list of a thousand contenders that there are not", on = "list",
  ends = "granted", again = "granted" .. UNGRANTED, asks = 5000,
  tell = lists(function(names)
    for i = 1, 1000 do
      names[#names + 1] = ("x-lock-%010d"):format(100000 + i)
    end
  end) }
wrong_list("a name with a slash", function(names)
  names[#names + 1] = "x/y-lock-0000000000"
end, "with a name that is none")
wrong_list("a name of nothing", function(names)
  names[#names + 1] = ""
end, "with a name that is none")
wrong_list("our name twice", function(names)
  names[#names + 1] = names[1]
end, "with a name twice")
wrong_list("a name of others twice", function(names)
  for _ = 1, 2 do names[#names + 1] = "x-lock-0000009999" end
end, "with a name twice")
wrong_list("our name with a NUL and more", function(names)
  names[#names + 1] = names[1] .. "\0x"
end, "with a name twice")
add { it = "a contender of a name that is longer than any path", on = "list",
  asks = PACED, ends = "timeout|disconnected|invalid", tell = lists(
    function(names)
      names[#names + 1] = ("x"):rep(100000) .. "-lock-0000000000"
    end) }
wrong_list("a list that says it is a million", function(names)
  return list(names, 1000000)
end, "that ends too early")
once_and_always({ it = "a list that says it is ten million", on = "list",
  tell = lists(function(names) return list(names, 10000000) end) },
  "granted" .. UNGRANTED)
wrong_list("a list of less than nothing", function(names)
  return list(names, -1)
end, "of no length", "size")
wrong_list("a list of much less than nothing", function(names)
  return list(names, -2147483648)
end, "of no length", "size")
wrong_list("a name that is longer than its frame", function(names)
  return int(#names + 1) .. list(names):sub(5) .. int(100000) .. "short"
end, "that ends too early")
wrong_list("a name shorter than nothing", function(names)
  return int(#names + 1) .. list(names):sub(5) .. int(-7)
end, "that ends too early")

-- What tools ask.

local function lies_to_tools(lie)
  lie.ahead = { "x-lock-0000000001" }
  add(lie)
end

for _, field in ipairs { "children", "bytes" } do -- (the list has an order)
  local at = field == "children" and CHILDREN or LENGTH
  lies_to_tools { it = "less than no " .. field, on = "exists", lock = "look",
    tell = counts(at, int(-1)), ends = "disconnected", again = "disconnected",
    logs = "that cannot be true: a node of less than nothing" }
  lies_to_tools { it = "less than no " .. field .. " of what is stamped",
    on = "set", lock = "change", tell = counts(at, int(-1)),
    ends = "disconnected", again = "disconnected|granted", -- or it is back
    logs = "that cannot be true: a node of less than nothing" }
end
lies_to_tools { it = "two billion children", on = "exists", lock = "look",
  tell = counts(CHILDREN, int(0x7fffffff)), ends = "granted",
  again = "invalid", says = "more than 50000 children" }
lies_to_tools { it = "more children than were counted", on = "list",
  lock = "look", ends = "granted", again = "invalid",
  says = "more than 50000 children", tell = lists(function(names)
    return int(#names + 100000) .. list(names):sub(5) .. crowd
  end) }
for _, name in ipairs { "", "a/b", "x-lock-0000000001" } do
  lies_to_tools { it = ('a child called "%s" that is none'):format(name),
    on = "list", lock = "look", ends = "granted", again = "disconnected",
    logs = "that cannot be true: a list with a name "
      .. (name:find "lock" and "twice" or "that is none"),
    tell = lists(function(names) names[#names + 1] = name end) }
end
lies_to_tools { it = "children of what is not there", on = "list",
  lock = "look", tell = fails(-101), ends = "granted", again = "granted",
  finds = "false" }
lies_to_tools { it = "nothing to wait for, before it answers", on = "sync",
  lock = "look", tell = fails(-101), ends = "granted", again = "granted" }
lies_to_tools { it = "that nobody may wait before it answers", on = "sync",
  lock = "look", tell = fails(-102), ends = "denied", again = "denied" }
lies_to_tools { it = "a sync that has failed in a way of its own", on = "sync",
  lock = "look", tell = fails(-5), ends = "disconnected|invalid",
  again = "disconnected|invalid" }
lies_to_tools { it = "a stamp's node that is not there, and then is",
  on = "set", lock = "change", tell = fails(-101), times = 1, ends = "granted" }
lies_to_tools { it = "a stamp's node that exists and does not", on = "set",
  lock = "change", tell = fails(-101), ends = "invalid", again = "granted",
  asks = 60 }
lies_to_tools { it = "a stamp that is written to what is no stamp", on = "set",
  lock = "change", tell = counts(OWNER, FOREIGN), ends = "invalid",
  again = "granted" }
lies_to_tools { it = "an eviction of a node with children", on = "delete",
  lock = "change", tell = fails(-111), ends = "granted", again = "invalid",
  says = "not empty" }

-- Data.

local function waits(lie)
  lie.ahead = AHEAD
  lie.ends = lie.ends or "timeout|disconnected|invalid"
  add(lie)
end

waits { it = "somebody ahead, and no lie", on = "nothing" }
waits { it = "data of -2 bytes", on = "get", group = "size",
  logs = "data of no length",
  tell = says(int(-2) .. ("\1"):rep(68)) }
waits { it = "data of -2147483648 bytes", on = "get", group = "size",
  tell = says(int(-2147483648) .. ("\1"):rep(68)) }
waits { it = "data of -1 bytes, which are none", on = "get",
  tell = function(h)
    return reply(but(h, { body = int(-1) .. h.body:sub(-68) }))
  end }
for _, code in ipairs { -999, 5, -112, -118, -2 } do
  waits { it = ("error %d to each read"):format(code), on = "get",
    tell = fails(code) }
end
waits { it = "a node ahead that is listed and does not exist", on = "get",
  tell = fails(-101), asks = PACED }
waits { it = "a megabyte of data", on = "get", tell = function(h)
  return reply(but(h, { body = buffer(("x"):rep(1000000))
    .. h.body:sub(-68) }))
end }

-- Events.

local function events(what, on, tell, options)
  local lie = { it = what, on = on, tell = tell, ends = "granted" }
  for key, value in pairs(options or {}) do lie[key] = value end
  add(lie)
end

events("events for paths that nobody has asked for", "list", after(
  event(DELETED, 3, "/nobody/asked"), event(CHANGED, 3, "/"),
  event(CHILD, 3, "relative"), event(DELETED, 3, "")))
events("events of kinds that there are not", "list", after(
  event(99, 3, "/x"), event(0, 3, "/x"), event(-5, 3, "/x"),
  event(2147483647, 3, "/x"), event(-2147483648, -1, "/x")))
events("an event with a NUL and a newline", "list", after(
  event(DELETED, 3, "/a\n\0b")))
events("twenty thousand events for a path that nobody has asked for",
  "list", after((event(DELETED, 3, "/nobody/asked"):rep(20000))),
  { times = 1 })
for _, state in ipairs { 0, 1, 3, 5, 77, -112, -113, 999 } do
  events(("an event of the session, state %d"):format(state), "list",
    before(event(SESSION, state, "")), { times = 1 })
  events(("an event of the session at each list, state %d"):format(state),
    "list", after(event(SESSION, state, "/x")),
    { ends = "granted|timeout|disconnected|expired" })
end
events("two thousand events of the session", "list",
  after((event(SESSION, 3, ""):rep(2000))), { times = 1 })
events("an event before the greeting's end", "connect", function(h)
  return greeting(h) .. event(SESSION, 3, "") .. event(DELETED, 3, "/x")
end, { times = 1 })
waits { it = "the event of a read before its answer", on = "get",
  tell = function(h)
    return event(DELETED, 3, h.path), reply(h)
  end }
waits { it = "changes without end of the node ahead", on = "get",
  asks = PACED,
  tell = function(h) return reply(h), event(CHANGED, 3, h.path) end }
waits { it = "fifty thousand changes at once", on = "get", times = 1,
  tell = function(h)
    return reply(h), (event(CHANGED, 3, h.path):rep(50000))
  end }
waits { it = "deletions without end of the node ahead", on = "get",
  asks = PACED,
  tell = function(h) return reply(h), event(DELETED, 3, h.path) end }

-- Numbers, pings, credentials.

once_and_always { it = "answers of another number", on = "list",
  tell = function(h) return reply(but(h, { xid = int(7) })) end }
once_and_always { it = "answers of a number that is reserved", on = "list",
  tell = function(h) return reply(but(h, { xid = int(-77) })) end }
add { it = "an answer out of order", on = "list", times = 1, ends = "granted",
  tell = function(h)
    return reply(but(h, { xid = int(read_int(h.xid, 1) + 1) })), reply(h)
  end }
add { it = "pings that nobody has sent", on = "list", ends = "granted",
  tell = after((buffer(int(-2) .. NONE .. int(0)):rep(1000))) }
add { it = "answers to watches that nobody has set", on = "list",
  ends = "granted", tell = after((buffer(int(-8) .. NONE .. int(0)):rep(9))) }
add { it = "credentials that are refused", on = "auth", tell = fails(-115),
  session = "auth", ends = "connect auth" }
add { it = "credentials that are refused by an error that there is not",
  on = "auth", tell = fails(5), session = "auth", ends = "connect auth" }
add { it = "credentials that are accepted five times", on = "auth",
  tell = function(h) return reply(h):rep(5) end, session = "auth",
  ends = "granted" }
add { it = "credentials that are accepted and refused", on = "auth",
  tell = function(h)
    return reply(h), reply(but(h, { err = -115 }))
  end, session = "auth", ends = "connect auth|connect disconnected|auth" }
add { it = "a close that is not answered", on = "close",
  tell = function() return "silence" end, ends = "granted" }
add { it = "a close that is answered by an error", on = "close",
  tell = fails(-999), ends = "granted" }

-- Transactions.  Whoever has an ACL of its own asks whether a directory that
-- has it would be of use; nothing is made.

local function rehearsal(lie)
  lie.on, lie.session, lie.no_path = "transaction", "acl", true
  add(lie)
end

local function refused_rehearsal(code, ends, words)
  rehearsal { it = ("a rehearsal that is refused by %d"):format(code),
    tell = says(refusal(code) .. refusal(-2):rep(4) .. END), ends = ends,
    says = words }
end

rehearsal { it = "a rehearsal, and no lie", tell = function(h)
  return reply(h)
end, ends = "granted" }
rehearsal { it = "a rehearsal of no part", tell = says(END), ends = "granted" }
refused_rehearsal(-102, "denied")
refused_rehearsal(5, "timeout|disconnected") -- what is none is asked for again
refused_rehearsal(-1003, "timeout|disconnected")

-- Exchanges: who gives a lock back and wants it again has one node deleted
-- and another made.  Nothing is told of whose the new one is.

-- `n`: so many times in a row, if it is not once.
local function exchange(lie, n)
  lie.on, lie.lock, lie.group = "transaction", "exchange", "exchange"
  lie.ends, lie.times, lie.asked = "granted", n or 1, n or 1
  lie.undone = lie.undone and lie.times
  add(lie)
end

local function again_and_again(lie)
  exchange(but(lie, { it = lie.it .. ", once" }))
  exchange(but(lie, { it = lie.it .. ", three times" }), 3)
end

local function was_done(h) return h.err == 0 and read_int(h.body, 1) ~= -1 end

-- The created node's path: between two headers and its length, and the end.
local function new_path(h) return h.body:sub(23, -10) end

-- What is behind the header is `body`, or what it returns, if it was done.
local function answers(body)
  return function(h)
    if not was_done(h) then return reply(h) end
    return reply(but(h, {
      body = type(body) == "string" and body or body(new_path(h)),
    }))
  end
end

again_and_again { it = "an exchange, and no lie", tell = function(h)
  return reply(h)
end }

local NEITHER = "that cannot be true: an exchange that is neither done nor "
  .. "refused"

local function half_done(what, body)
  exchange { it = what, tell = answers(body), logs = NEITHER }
end

half_done("an exchange of no part", END)
half_done("an exchange of the first part", part "delete" .. END)
half_done("an exchange of a first part that is refused",
  refusal(-101) .. END)
half_done("an exchange whose parts are refused by no error", refusals(0, 0))
half_done("an exchange whose parts are refused because of each other",
  refusals(-2, -2))
half_done("an exchange of which only the create is refused, by no error",
  part "delete" .. refusal(0) .. END)
half_done("an exchange of which only the create is done", function(path)
  return refusal(-101) .. part("create", buffer(path)) .. END
end)
half_done("an exchange of which each part is done, and the delete an error",
  function(path)
    return part("delete", "", -101) .. part("create", buffer(path)) .. END
  end)
half_done("an exchange of which each part is done, and the create an error",
  function(path)
    return part "delete" .. part("create", buffer(path), -110) .. END
  end)
half_done("an exchange whose parts are swapped", function(path)
  return part("create", buffer(path)) .. part "delete" .. END
end)
half_done("an exchange for a node of no name", exchanged "")
half_done("an exchange for a node whose path is longer than its frame",
  part "delete" .. part("create", int(100000) .. "/lies"))

local function exchanges_for(what, change)
  exchange { it = what, logs = "a node that nobody has asked for",
    tell = answers(function(path) return exchanged(change(path)) end) }
end

exchanges_for("an exchange for a node in another directory", function()
  return "/other/_c_x-lock-0000000000"
end)
exchanges_for("an exchange for a node of another name", function(path)
  return (path:gsub("[^/]*$", "_c_x-lock-0000000000"))
end)
exchanges_for("an exchange for a node behind it", function()
  return "/lies/behind-lock-0000000001"
end)
exchanges_for("an exchange for a node without a number", function(path)
  return path:sub(1, -11)
end)
exchanges_for("an exchange for a node of one digit too few", function(path)
  return path:sub(1, -2)
end)
exchanges_for("an exchange for a node of two digits too many", function(path)
  return path .. "00"
end)
exchanges_for("an exchange for a node of a number of 900 KB", function(path)
  return path .. ("0"):rep(900000)
end)
exchanges_for("an exchange for a node of a number that is none",
  function(path) return path:sub(1, -11) .. "000000\n001" end)
exchanges_for("an exchange for a node with a NUL in its path",
  function(path) return path:sub(1, -11) .. "\0" .. path:sub(-10) end)
exchanges_for("an exchange for a node below a node", function(path)
  return path .. "/x"
end)
again_and_again { it = "an exchange for a node of another number",
  tell = answers(function(path)
    return exchanged(path:sub(1, -11) .. "0000999999")
  end) }
exchange { it = "an exchange for a node of a number below zero",
  tell = answers(function(path)
    return exchanged(path:sub(1, -11) .. "-000000001")
  end) }

again_and_again { it = "an exchange that is not done, and said to be",
  undone = true, tell = function(h) return reply(h) end }
again_and_again { it = "an exchange of which nobody hears that it is not done",
  undone = true, tell = function() return "close" end }

-- A refusal that may be is believed: what could not be created is told, what
-- could not be deleted is tried again.
local function refused(how, of_delete, of_create, again, words)
  local it = ("an exchange that is refused %s"):format(how)
  local tell = answers(refusals(of_delete, of_create))
  exchange { it = it .. ", and done", tell = tell, again = again,
    says = words }
  exchange { it = it .. ", and not done", tell = tell, again = again,
    says = words, undone = true }
end

refused("for its directory is missing", 0, -101, "granted")
refused("for its old node is missing", -101, -2, "granted")
refused("for its old node has children", -111, -2, "granted")
refused("for nobody may delete", -102, -2, "denied")
refused("for nobody may create", 0, -102, "denied")
refused("for its new node is there", 0, -110, "invalid")
refused("for its old node is missing and its new one is there", -101, -110,
  "invalid")
refused("for its credentials are none", 0, -115, "auth")
refused("for its connection is lost", 0, -4, "granted")
refused("for its old node is missing and its connection lost", -101, -4,
  "granted")
refused("for its session is over", 0, -112, "granted")
refused("for its session has moved", -118, -2, "granted")
refused("by an error that there is not", 0, -999, "invalid")
refused("by an error above zero", 0, 5, "granted")
refused("by an error above zero of the delete", 5, -2, "granted")
-- (Those are numbers of our own: REASON_NO_ROOM, _STAYS, REPLY_UNDONE.)
refused("by a reason of ours", 0, -1003, "granted")
refused("by a reason of ours for the delete", -1007, -2, "granted")
refused("by our word for what is undone", -1011, -1011, "granted")
exchange { it = "an exchange of which only the delete is done",
  again = "denied", tell = answers(part "delete" .. refusal(-102) .. END) }

local function wrong_header(code, again)
  exchange { it = ("an exchange with error %d before its parts"):format(code),
    again = again, tell = function(h)
      return reply(but(h, { err = code }))
    end }
  exchange { it = ("an exchange with error %d and no part"):format(code),
    again = again, tell = fails(code) }
end

for _, code in ipairs { -2, -4, -101, -112 } do
  wrong_header(code, "granted")
end
for _, code in ipairs { 5, -1011 } do wrong_header(code, "granted") end
wrong_header(-999, "invalid")
wrong_header(-102, "denied")

again_and_again { it = "an exchange that is never answered", tell = function()
  return ""
end }
exchange { it = "an exchange at which the server falls silent",
  tell = function() return "silence" end }
exchange { it = "an exchange in the middle of whose answer is the end",
  tell = function(h) return reply(h):sub(1, 40), "close" end }
exchange { it = "an exchange that is answered after the others are gone",
  tell = function(h) return 0.3, reply(h) end }
-- (Another question is there by then: else it would be an answer to nothing.)
again_and_again { it = "an exchange that is answered twice",
  tell = function(h) return 0.05, reply(h), reply(h) end }

-- Of its node only a read tells whose it is.
local function turns_out(whose, owner)
  add { it = "an exchange for a node that turns out " .. whose, on = "get",
    lock = "exchange", group = "exchange", asked = 1, ends = "granted",
    tell = function(h, _, world)
      local own = h.err == 0 and owner_of(h) == h.session
      if not own or not world.counts.transaction or world.told.whose then
        return reply(h)
      end
      world.told.whose = true
      return counts(OWNER, owner)(h)
    end }
end

turns_out("another session's", FOREIGN)
turns_out("nobody's", NONE)

-- What others own may not be looked at, and no server tells what becomes of it.

for _, hides in ipairs { "nodes", "events" } do
  add { it = "a queue whose " .. hides .. " are hidden", on = "nothing",
    ahead = { "x-lock-0000000000", "y-lock-0000000001" }, stays = 0.3,
    hides = hides, ends = "granted", timeout = 4 }
  add { it = "a holder, of the unfair kind, whose " .. hides .. " are hidden",
    on = "nothing", lock = "unfair", ahead = { "holder" }, stays = 0.3,
    hides = hides, ends = "granted", timeout = 4 }
end

-- Each code of ZooKeeper's (KeeperException.Code, zookeeper.h), and some that
-- are none, told once as the answer to each request.  The table of
-- doc/troubleshooting.md says what each means.  Where it is one of `RETRIED`
-- the request is sent again, in this connection or in the next one; the others
-- refuse.

local RETRIED = { -1, -2, -3, -4, -5, -7, -9, -12, -112, -116, -118, -119, -122,
  -125, -127, 5, -1003 }
local INVALID = { -6, -8, -13, -14, -15, -103, -108, -111, -113, -114, -117,
  -120, -121, -123, -126, -130 }
local FINAL = { [-102] = "denied", [-115] = "auth", [-124] = "auth" }
for _, code in ipairs(INVALID) do FINAL[code] = "invalid" end

local WORDS = {
  [-6] = "the server does not know this request", [-102] = "an ACL forbids it",
  [-120] = "the session is local to its server",
  [-124] = "enforce.auth.schemes", [-130] = "the code -130",
}

-- Once, and not to a question about "/", which is how `mt` finds out that it is
-- connected.
local function fails_once(code)
  return function(h, _, world)
    if h.path == "/" or world.told.code then return reply(h) end
    world.told.code = true
    return fails(code)(h)
  end
end

-- `ends`: how it ends where the code is to be retried; `meant`: of codes that
-- mean something else here.
local function code_to(request, options, ends, meant)
  local function say(code, how)
    local lie = { it = ("%d to a %s"):format(code, options.name or request),
      on = request, tell = fails_once(code), group = "codes",
      ends = meant and meant[code] or how, again = options.again }
    if FINAL[code] == lie.ends then lie.why = WORDS[code] end
    for key, value in pairs(options) do lie[key] = lie[key] or value end
    add(lie)
  end
  for _, code in ipairs(RETRIED) do say(code, ends) end
  for code, how in pairs(FINAL) do say(code, options.always or how) end
  for _, code in ipairs { -101, -110 } do
    say(code, options.always or "invalid")
  end
end

-- (Servers that want credentials are asked again a second later.)
local ANYHOW = "granted|auth|denied|invalid"
local LOOSE = ANYHOW .. "|disconnected" -- a question is not asked twice

code_to("create", { again = ANYHOW }, "granted", { [-101] = "granted" })
code_to("create_both", { name = "create of an unfair lock", lock = "unfair",
  again = ANYHOW }, "granted", { [-101] = "granted",
  [-110] = "granted|timeout" })
code_to("mkdir", { no_path = true, again = ANYHOW }, "granted",
  { [-110] = "granted", [-6] = "granted" })
code_to("transaction", { name = "rehearsal", session = "acl", no_path = true,
  again = ANYHOW }, "granted", { [-110] = "granted", [-6] = "granted" })
code_to("list", { again = ANYHOW }, "granted", { [-101] = "granted" })
code_to("delete", { always = "granted",
  again = "granted|timeout|denied|auth" }, "granted")
code_to("get", { ahead = AHEAD, always = "timeout",
  again = "timeout|disconnected|auth" }, "timeout|disconnected",
  { [-124] = "auth" })
code_to("unwatch", { ahead = AHEAD, always = "timeout",
  again = "timeout|disconnected|auth" }, "timeout")
code_to("sync", { lock = "look", ahead = AHEAD, again = LOOSE },
  "timeout|disconnected", { [-101] = "granted" })
code_to("exists", { lock = "look", ahead = AHEAD, again = LOOSE },
  "granted|disconnected", { [-101] = "granted", [-125] = "granted",
  [-127] = "granted" })
code_to("set", { lock = "change", ahead = AHEAD, again = LOOSE },
  "granted|disconnected", { [-101] = "granted", [-125] = "granted",
  [-127] = "granted" })
for _, request in ipairs { "ping", "close" } do
  code_to(request, { always = "granted" }, "granted")
end
code_to("auth", { session = "auth", always = "connect auth" }, "connect auth")

-- Frames.

once_and_always { it = "a frame of no length", on = "list",
  tell = function() return int(0) end }
once_and_always({ it = "a frame shorter than nothing", on = "list",
  tell = function() return int(-1) end, group = "size" },
  "granted|timeout")
once_and_always({ it = "a frame of two gigabytes", on = "list",
  tell = function() return int(2147483647) .. "begins" end, group = "size" },
  "granted|timeout")
once_and_always { it = "half an answer, and the end", on = "list",
  tell = function(h) return reply(h):sub(1, 12), "close" end }
once_and_always({ it = "half an answer, and silence", on = "list",
  tell = function(h) return reply(h):sub(1, 12), "silence" end }, "timeout")
add { it = "silence", on = "any", ends = REFUSED,
  tell = function() return "silence" end }
add { it = "the end at each request", on = "any",
  ends = REFUSED, tell = function() return "close" end }
add { it = "the end at each list", on = "list",
  ends = "timeout|disconnected", tell = function() return "close" end }

-- What the client library itself does not live to tell, whoever uses it.

local function kills(lie)
  lie.group = "deadly"
  add(lie)
end

kills { it = "an answer to nothing", on = "get", tell = after(0.1,
  buffer(int(7) .. NONE .. int(0))) }
kills { it = "another greeting", on = "get", tell = after(0.1,
  buffer(int(0) .. int(1000) .. FOREIGN .. buffer(("\1"):rep(16)) .. "\0")) }
kills { it = "an answer about credentials that nobody has", on = "get",
  tell = after(0.1, buffer(int(-4) .. NONE .. int(0))) }
kills { it = "a refusal of credentials that nobody has", on = "get",
  tell = after(0.1, buffer(int(-4) .. NONE .. int(-115))) }
kills { it = "a created node without a path", on = "create",
  tell = says "" }
kills { it = "a created node whose path is longer than its frame",
  on = "create", tell = says(int(100000) .. "/lies") }
kills { it = "a created node whose path is shorter than nothing",
  on = "create", tell = says(int(-1) .. "/lies") }
local function kills_by_parts(what, body)
  kills { it = what, on = "transaction", lock = "exchange", asked = 1,
    tell = says(body) }
end

kills_by_parts("a transaction with more parts than were asked for",
  part "delete" .. part("create", buffer "/lies/x") .. part "delete" .. END)
kills_by_parts("a transaction of one part and no end", part "delete")
kills_by_parts("a transaction of both parts and no end",
  refusal(-101) .. refusal(-2))
kills_by_parts("a transaction with nothing in it", "")
kills_by_parts("a transaction whose node has no path",
  part "delete" .. part "create")
kills { it = "data that are longer than their frame", on = "get",
  tell = says(int(100000) .. "data") }
kills { it = "data without a length", on = "get", tell = says "" }
kills { it = "an event without a path", on = "get", tell = after(0.1,
  buffer(int(-1) .. MINUS .. int(0) .. int(DELETED) .. int(3))) }
kills { it = "an event with nothing in it", on = "get", tell = after(0.1,
  buffer(int(-1) .. MINUS .. int(0))) }
kills { it = "an event whose path is longer than its frame", on = "get",
  tell = after(0.1, buffer(int(-1) .. MINUS .. int(0) .. int(DELETED) .. int(3)
    .. int(100000) .. "/lies")) }

return lies
