--- What a server says wrongly in its bytes, which the client library reads
-- before zklock does: a list, each
--
--     it = sentence        what is said
--     on = "create"        the answer that is lied about: connect, create (of a
--                          contender), list, get, multi, auth; "any":
--                          each behind the greeting
--     tell(h, n)           what is said instead, the nth time: bytes, seconds
--                          to wait, "close" or "silence".  `h`: the truth
--     times = n            so often (else always)
--     ends = "granted"     how the first acquire ends, one or more:
--                          "timeout|invalid"; or the connect:
--                          "connect disconnected"
--     logs = "words"       a line of the log has them
--     lock, session        "unfair"; "auth"
--     ahead = true         somebody else's contender is ahead
--     group = "greetings", "frames", "events", or
--             "deadly"     the client library does not live to tell
--             "size"       it makes the client library ask for less memory than
--                          none, at which a sanitizer ends the process, or for
--                          gigabytes, for which it takes seconds
--     drip = seconds       between two bytes of whatever is said
--     timeout = seconds    of the client's session (2)
-- What is wrong in an answer that the library can read is told in virtual time:
-- integration/faults/lies_spec.lua.
local frames = require "support.frame"

local int, buffer, read_int = frames.int, frames.buffer, frames.read_int
local unpack = table.unpack or unpack

local lies = { list = {} }

local group

local function add(lie)
  lie.group = lie.group or group
  lies.list[#lies.list + 1] = lie
end

-- Frames.

local function greeting(h)
  local body = int(h.protocol) .. int(h.timeout) .. h.id .. h.passwd .. h.flag
  return int(h.size or #body) .. body
end

local function reply(h)
  return buffer(h.xid .. h.zxid .. int(h.err) .. h.body)
end

local DELETED, CHANGED, CHILD, SESSION, CONNECTED = 2, 3, 4, -1, 3
local NONE, FOREIGN = ("\0"):rep(8), int(0x7f7f) .. int(9)
local MINUS = ("\255"):rep(8)

local function event(kind, state, path)
  return buffer(int(-1) .. MINUS .. int(0) .. int(kind) .. int(state)
    .. buffer(path))
end

-- The truth but for some fields.
local function but(h, changes)
  local copy = {}
  for key, value in pairs(h) do copy[key] = value end
  for key, value in pairs(changes) do copy[key] = value end
  return copy
end

local function greets(changes)
  return function(h) return greeting(but(h, changes)) end
end

local function says(body) -- what is behind the header
  return function(h) return reply(but(h, { err = 0, body = body })) end
end

local function changes_xid(xid)
  return function(h) return reply(but(h, { xid = xid })) end
end

-- The truth's names, in another list.
local function lists(change)
  return function(h)
    if h.err ~= 0 or read_int(h.body, 1) < 1 then return reply(h) end
    return reply(but(h, { body = change(h.body:sub(5), read_int(h.body, 1)) }))
  end
end

local function before(...) -- the truth
  local more = { ... }
  return function(h)
    local pieces = { unpack(more) }
    pieces[#pieces + 1] = reply(h)
    return unpack(pieces)
  end
end

local function after(...)
  local more = { ... }
  return function(h) return reply(h), unpack(more) end
end

local UNGRANTED = "|timeout|disconnected|invalid|auth|denied"

-- A lie that is told once is outlived (`once` says how). Of one that is told
-- always, other requests may find out the truth, or not.
local function once_and_always(lie, once)
  once = once or "granted"
  add(but(lie, { times = 1, ends = once, it = lie.it .. ", once" }))
  add(but(lie, { ends = once .. UNGRANTED, it = lie.it .. ", always" }))
end

-- Greetings.

group = "greetings"
local REFUSED = "connect disconnected"

local function greeting_of(it, tell, ends, options)
  add(but(options or {}, { it = it, on = "connect", tell = tell,
    ends = ends or REFUSED }))
end

greeting_of("a greeting that ends in the middle",
  function(h) return greeting(h):sub(1, 20), "close" end)
greeting_of("half a greeting, and then silence",
  function(h) return greeting(h):sub(1, 20), "silence" end)
greeting_of("no greeting at all", function() return "silence" end)
greeting_of("the greeting of an old server, without the last byte",
  greets { flag = "" }, "granted")
greeting_of("a greeting with bytes behind it",
  function(h) return greeting(h) .. ("\0"):rep(100) end,
  "timeout|disconnected|" .. REFUSED)
greeting_of("a negative timeout", greets { timeout = -1 })
greeting_of("a timeout of zero", greets { timeout = 0 })
greeting_of("a timeout of a millisecond", greets { timeout = 1 })
greeting_of("a timeout of 24 days", greets { timeout = 2147483647 },
  "granted" .. UNGRANTED)
greeting_of("no session", greets { id = NONE })
greeting_of("a password of no length",
  greets { passwd = int(0) .. ("\1"):rep(16) }, "granted")
greeting_of("a password of a length below zero",
  greets { passwd = int(-1) .. ("\1"):rep(16) }, "granted")
greeting_of("a password of a gigabyte",
  greets { passwd = int(2 ^ 30) .. ("\1"):rep(16) }, "granted")
greeting_of("a server that may only be read", greets { flag = "\1" })
greeting_of("a flag that is neither", greets { flag = "\255" },
  REFUSED .. "|granted")
greeting_of("a protocol of another version", greets { protocol = -77 },
  "granted")
greeting_of("a greeting that says it is longer", greets { size = 4000 })
greeting_of("a greeting that says it is shorter than nothing",
  greets { size = -1 })
greeting_of("the end right after each greeting",
  function(h) return greeting(h), "close" end,
  "disconnected|timeout|" .. REFUSED)
greeting_of("the end right after three greetings",
  function(h) return greeting(h), "close" end, "granted", { times = 3 })
greeting_of("a page of HTTP", function()
  return "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n"
    .. ("<html>no</html>"):rep(20), "close"
end, "disconnected|timeout|" .. REFUSED)
greeting_of("an event before the greeting's end", function(h)
  return greeting(h) .. event(SESSION, 3, "") .. event(DELETED, 3, "/x")
end, "granted", { times = 1 })

-- Frames, their numbers, and what is in them.

group = "frames"

-- (Where the machine is busy a reply takes a second: longer than the lease of a
-- short session.)
add { it = "all replies byte by byte", on = "nothing", drip = 0.0001,
  timeout = 20, ends = "granted" }
add { it = "a create that is answered twice", on = "create", times = 1,
  tell = function(h) return reply(h), reply(h) end, ends = "granted" }
add { it = "a create that is answered after its list", on = "create",
  times = 1, tell = function(h) return 0.2, reply(h) end, ends = "granted" }
add { it = "a node without a Stat", on = "create",
  tell = function(h) return reply(but(h, { body = h.body:sub(1, -69) })) end,
  ends = "granted" .. UNGRANTED }
add { it = "an error with a body", on = "list",
  tell = function(h) return reply(but(h, { err = -1 })) end,
  ends = "timeout|disconnected|invalid" }
once_and_always { it = "a list that claims a million names", on = "list",
  logs = "that cannot be true: a list that ends too early",
  tell = lists(function(names) return int(1000000) .. names end) }
once_and_always({ it = "a list that claims ten million names", on = "list",
  tell = lists(function(names) return int(10000000) .. names end) },
  "granted" .. UNGRANTED)
for length, it in pairs {
  [100000] = "a name that is longer than its frame",
  [-7] = "a name shorter than nothing",
} do
  once_and_always { it = it, on = "list",
    logs = "that cannot be true: a list that ends too early",
    tell = lists(function(names, n)
      return int(n + 1) .. names .. int(length) .. "short"
    end) }
end
once_and_always { it = "our name with a NUL and more", on = "list",
  logs = "that cannot be true: a list with a duplicate name",
  tell = lists(function(names, n)
    local first = names:sub(5, 4 + read_int(names, 1))
    return int(n + 1) .. names .. buffer(first .. "\0x")
  end) }
add { it = "data of -1 bytes, which are none", on = "get", ahead = true,
  ends = "timeout|disconnected|invalid", tell = function(h)
    return reply(but(h, { body = int(-1) .. h.body:sub(-68) }))
  end }
once_and_always { it = "replies with a wrong request number", on = "list",
  tell = changes_xid(int(7)) }
once_and_always { it = "answers of a number that is reserved", on = "list",
  tell = changes_xid(int(-77)) }
add { it = "an answer out of order", on = "list", times = 1, ends = "granted",
  tell = function(h)
    return reply(but(h, { xid = int(read_int(h.xid, 1) + 1) })), reply(h)
  end }
add { it = "pings that nobody has sent", on = "list", ends = "granted",
  tell = after((buffer(int(-2) .. NONE .. int(0)):rep(1000))) }
add { it = "answers to watches that nobody has set", on = "list",
  ends = "granted", tell = after((buffer(int(-8) .. NONE .. int(0)):rep(9))) }
add { it = "credentials that are accepted five times", on = "auth",
  tell = function(h) return reply(h):rep(5) end, session = "auth",
  ends = "granted" }
add { it = "credentials that are accepted and refused", on = "auth",
  tell = function(h) return reply(h), reply(but(h, { err = -115 })) end,
  session = "auth", ends = "connect auth|connect disconnected|auth" }
once_and_always { it = "a frame of no length", on = "list",
  tell = function() return int(0) end }
once_and_always { it = "half an answer, and the end", on = "list",
  tell = function(h) return reply(h):sub(1, 12), "close" end }
once_and_always({ it = "half an answer, and silence", on = "list",
  tell = function(h) return reply(h):sub(1, 12), "silence" end }, "timeout")
add { it = "silence", on = "any", ends = REFUSED .. "|timeout",
  tell = function() return "silence" end }
add { it = "the end at each list", on = "list",
  ends = "timeout|disconnected", tell = function() return "close" end }

-- Events.

group = "events"

local function events(it, tell, options)
  add(but(but({ ends = "granted" }, options or {}),
    { it = it, on = "list", tell = tell }))
end

events("events for paths that nobody has asked for", after(
  event(DELETED, 3, "/nobody/asked"), event(CHANGED, 3, "/"),
  event(CHILD, 3, "relative"), event(DELETED, 3, "")))
events("events of kinds that there are not", after(
  event(99, 3, "/x"), event(0, 3, "/x"), event(-5, 3, "/x"),
  event(2147483647, 3, "/x"), event(-2147483648, -1, "/x")))
events("an event with a NUL and a newline", after(
  event(DELETED, 3, "/a\n\0b")))
events("twenty thousand events for a path that nobody has asked for",
  after((event(DELETED, 3, "/nobody/asked"):rep(20000))), { times = 1 })
for _, state in ipairs { 0, 1, 3, 5, 77, -112, -113, 999 } do
  events(("an event of the session, state %d"):format(state),
    before(event(SESSION, state, "")), { times = 1 })
  events(("an event of the session at each list, state %d"):format(state),
    after(event(SESSION, state, "/x")),
    { ends = "granted|timeout|disconnected|expired" })
end
events("two thousand events of the session",
  after((event(SESSION, CONNECTED, ""):rep(2000))), { times = 1 })

-- Of the node ahead: `asks`, at most so many requests.
local function of_ahead(it, kind, times, tell)
  add { it = it, on = "get", ahead = true, times = times, asks = 100000,
    ends = "timeout|disconnected|invalid", tell = function(h)
      return tell(h, event(kind, CONNECTED, h.path))
    end }
end

of_ahead("the event of a read before its answer", DELETED, nil,
  function(h, news) return news, reply(h) end)
of_ahead("endless changes of the node ahead", CHANGED, nil,
  function(h, news) return reply(h), news end)
of_ahead("fifty thousand changes at once", CHANGED, 1,
  function(h, news) return reply(h), (news:rep(50000)) end)
of_ahead("endless deletions of the node ahead", DELETED, nil,
  function(h, news) return reply(h), news end)

-- Sizes.

group = "size"

once_and_always { it = "a list of less than nothing", on = "list",
  logs = "that cannot be true: a list with a negative length",
  tell = lists(function(names) return int(-1) .. names end) }
once_and_always({ it = "a frame shorter than nothing", on = "list",
  tell = function() return int(-1) end }, "granted|timeout")
once_and_always({ it = "a frame of two gigabytes", on = "list",
  tell = function() return int(2147483647) .. "begins" end },
  "granted|timeout")
for length, logs in pairs { [-2] = "data with a negative length",
  [-2147483648] = false } do
  add { it = ("data of %d bytes"):format(length), on = "get", ahead = true,
    logs = logs, ends = "timeout|disconnected|invalid",
    tell = says(int(length) .. ("\1"):rep(68)) }
end

-- What the client library itself does not live to tell, whoever uses it.

group = "deadly"

local function kills(it, on, tell, lock)
  add { it = it, on = on, tell = tell, lock = lock, ahead = on == "get" }
end

kills("an answer to nothing", "get",
  after(0.1, buffer(int(7) .. NONE .. int(0))))
kills("another greeting", "get", after(0.1,
  buffer(int(0) .. int(1000) .. FOREIGN .. buffer(("\1"):rep(16)) .. "\0")))
kills("an answer about credentials that nobody has", "get",
  after(0.1, buffer(int(-4) .. NONE .. int(0))))
kills("a refusal of credentials that nobody has", "get",
  after(0.1, buffer(int(-4) .. NONE .. int(-115))))
kills("a created node without a path", "create", says "")
kills("a created node whose path is longer than its frame", "create",
  says(int(100000) .. "/lies"))
kills("a created node whose path is shorter than nothing", "create",
  says(int(-1) .. "/lies"))
kills("data that are longer than their frame", "get",
  says(int(100000) .. "data"))
kills("data without a length", "get", says "")
kills("an event without a path", "get", after(0.1,
  buffer(int(-1) .. MINUS .. int(0) .. int(DELETED) .. int(3))))
kills("an event with nothing in it", "get", after(0.1,
  buffer(int(-1) .. MINUS .. int(0))))
kills("an event whose path is longer than its frame", "get", after(0.1,
  buffer(int(-1) .. MINUS .. int(0) .. int(DELETED) .. int(3)
    .. int(100000) .. "/lies")))

-- A transaction's parts, each with a header of its own, and the end.
local function part(kind, body) return int(kind) .. "\0" .. int(0) .. body end
local function refusal(err)
  return int(-1) .. "\0" .. int(err) .. int(err)
end
local MADE, END = part(1, buffer "/lies/x"), int(-1) .. "\1" .. int(-1)

local function kills_by_parts(it, body)
  kills(it, "multi", says(body), "unfair")
end

kills_by_parts("a transaction with more parts than were asked for",
  MADE .. MADE .. MADE .. END)
kills_by_parts("a transaction of one part and no end", MADE)
kills_by_parts("a transaction of both parts and no end",
  refusal(-101) .. refusal(-2))
kills_by_parts("a transaction with nothing in it", "")
kills_by_parts("a transaction whose node has no path",
  MADE .. part(1, ""))

return lies
