--- The process behind support.hostile's little sister: servers of its own, one
-- for each of `support.lies`, that look like ZooKeeper and lie.  What they do
-- not lie about they do as ZooKeeper does, for one lock's worth of it.  Speaks
-- with the spec as every child does: `require "support.impostor"()` in one.
-- luacheck: globals say hear parent_socket
local frames = require "support.frame"
local lies = require "support.lies"
local now = require "zklock.core".now
local socket = require "socket"

local int, buffer, read_int = frames.int, frames.buffer, frames.read_int

local KINDS = {
  [1] = "create", [2] = "delete", [3] = "exists", [4] = "get", [5] = "set",
  [8] = "list", [9] = "sync", [11] = "ping", [14] = "transaction",
  [15] = "create", [18] = "unwatch", [19] = "mkdir", [100] = "auth",
  [101] = "watch", [-11] = "close",
}
local NO_NODE, NO_AUTH, NODE_EXISTS = -101, -102, -110
local AUTH_FAILED, UNTOLD = -115, -2
local CREATE, DELETE, CHECK = 1, 2, 13 -- as parts of a transaction
local FOREIGN = int(0x7f7f) .. int(1) -- another session
local NOBODY = ("\0"):rep(8)

local worlds = {}      -- one for each lie: see new_world
local connections = {} -- socket → see accept

-- Numbers of 64 bits.

local function long(n) return int(n / 4294967296) .. int(n % 4294967296) end

local function zxid_text(zxid) return ("%019.0f"):format(zxid) end

-- Telling: pieces, each at its time; `false` is the end.

local function tell(link, text, delay)
  table.insert(link.out, { text = text, from = 1, due = now() + (delay or 0) })
end

-- Watches, each for one event: of the connection that has set them (over with
-- it: nobody asks for them again).  `reads` are of a node, there or not,
-- `lists` of its children.  The event goes out before the answer to whoever has
-- made the change, as from every server.

local CONNECTED = 3
local CREATED, DELETED, CHILD = 1, 2, 4
local CHILDREN, DATA = 1, 2 -- what is not to be watched any more; 3: both

-- Was it watched?
local function disarm(link, path, ...)
  local was = false
  for _, kind in ipairs { ... } do
    was = link[kind][path] or was
    link[kind][path] = nil
  end
  return was
end

-- As with ACL "creator": see `hides` of the lies.
local function is_hidden(link, owner)
  return link.world.lie.hides and owner and owner ~= link.session
end

-- `owner`: of the node, where that is what is watched.
local function fire(world, path, event, owner, ...)
  for _, link in pairs(connections) do
    if link.world == world and disarm(link, path, ...) and not link.silent
      and not is_hidden(link, owner)
    then
      tell(link, lies.event(event, CONNECTED, path))
    end
  end
end

-- A request that may watch says so with its last byte.
local function watch(watches, path, rest)
  watches[path] = watches[path] or rest:byte(-1) == 1 or nil
end

-- A world: the nodes, and what the spec asks about afterwards.

local function new_world(lie)
  return { lie = lie, nodes = { ["/"] = { czxid = 0, children = {} } },
    zxid = 4294967296, sessions = 0, given = {}, told = {}, made = {},
    counts = {}, behind = {} }
end

local function count(world, what)
  world.counts[what] = (world.counts[what] or 0) + 1
end

local function parent_of(path)
  local parent = path:match "^(.*)/[^/]*$"
  return parent == "" and "/" or parent
end

local function stat_of(node)
  local children = 0
  for _ in pairs(node.children) do children = children + 1 end
  return long(node.czxid) .. long(node.czxid) .. long(0) .. long(0)
    .. int(0) .. int(node.created or 0) .. int(0)
    .. (node.owner or NOBODY) .. int(#(node.data or ""))
    .. int(children) .. long(node.czxid)
end

local function make(world, path, owner, data)
  local parent = world.nodes[parent_of(path)]
  if not parent then return nil, NO_NODE end
  if world.nodes[path] then return nil, NODE_EXISTS end
  world.zxid = world.zxid + 1
  parent.created = (parent.created or 0) + 1
  parent.children[path:match "[^/]*$"] = true
  local node = { czxid = world.zxid, owner = owner, data = data, children = {} }
  world.nodes[path] = node
  fire(world, path, CREATED, owner, "reads")
  fire(world, parent_of(path), CHILD, nil, "lists")
  local id = (owner or ""):gsub(".", function(c)
    return ("%02x"):format(c:byte())
  end)
  table.insert(world.made, ("%s %s 0x%s"):format(path, zxid_text(world.zxid),
    (id:gsub("^0+", ""))))
  return node
end

local function remove(world, path)
  local node = world.nodes[path]
  if not node then return NO_NODE end
  world.zxid = world.zxid + 1
  world.nodes[path] = nil
  local parent = world.nodes[parent_of(path)]
  if parent then parent.children[path:match "[^/]*$"] = nil end
  fire(world, path, DELETED, node.owner, "reads", "lists")
  fire(world, parent_of(path), CHILD, nil, "lists")
  return 0
end

-- Those who stand behind whoever comes, for a while: see `asked` of the lies.
-- The first contender that is given back sends them home, one after the other.

local STAY = 0.05 -- seconds

local function stand_behind(world, directory)
  local lie = world.lie
  if not lie.asked or (world.counts.transaction or 0) >= lie.asked then
    return
  end
  for i = 1, 2 do
    local path = ("%s/behind-lock-%010d"):format(directory,
      world.nodes[directory].created)
    make(world, path, FOREIGN, "somebody")
    table.insert(world.behind, { path = path, stay = STAY * i })
  end
end

local function send_home(world)
  for _, one in ipairs(world.behind) do
    one.due = one.due or now() + one.stay
  end
end

-- When the next one goes; nil: nobody does.
local function go_home(world)
  local first = world.behind[1]
  while first and first.due and first.due <= now() do
    remove(world, table.remove(world.behind, 1).path)
    first = world.behind[1]
  end
  return first and first.due
end

-- Requests: each returns an error code and what is behind the header.

local function read_buffer(text, at)
  local size = math.max(0, read_int(text, at))
  return text:sub(at + 4, at + 3 + size), at + 4 + size
end

local answers = {}

-- With the node's path and stat.  The flags come last: sequential is 2.
local function create(link, path, rest, ephemeral)
  local world, flags = link.world, read_int(rest, #rest - 3)
  if flags == 3 then
    local parent = world.nodes[parent_of(path)]
    path = path .. ("%010d"):format(parent and parent.created or 0)
  end
  local node, problem = make(world, path, ephemeral and link.session,
    read_buffer(rest, 1))
  if not node then return problem, "" end
  if ephemeral then stand_behind(world, parent_of(path)) end
  return 0, buffer(path) .. stat_of(node)
end

-- Contenders that stay for a while go when the first create has come.
local function begin_to_go(world)
  local stays = world.lie.stays
  for i, one in ipairs(stays and world.behind or {}) do
    one.due = one.due or now() + i * stays
  end
end

function answers.create(link, path, rest)
  begin_to_go(link.world)
  return create(link, path, rest, true)
end

answers.mkdir = create

function answers.delete(link, path)
  send_home(link.world)
  return remove(link.world, path), ""
end

-- A node is deleted and a contender's is made, or neither: each stands behind a
-- header of its own, of nine bytes.  With `undone` it is said, and not so.
-- (What begins otherwise is a rehearsal.)
function answers.transaction(link, _, frame)
  local world, old, at = link.world, read_buffer(frame, 22)
  if read_int(frame, 13) ~= DELETE then return 0, lies.rehearsed(old) end
  local new, rest = read_buffer(frame, at + 13)
  local parent = world.nodes[parent_of(new)]
  send_home(world)
  if not world.nodes[old] then return 0, lies.refusals(NO_NODE, UNTOLD) end
  if not parent then return 0, lies.refusals(0, NO_NODE) end
  if world.lie.undone and world.counts.transaction <= world.lie.undone then
    return 0, lies.exchanged(new .. ("%010d"):format(parent.created))
  end
  remove(world, old)
  local _, body = create(link, new, frame:sub(rest, -10), true)
  return 0, lies.exchanged((read_buffer(body, 1)))
end

function answers.heartbeat() return 0, lies.checked() end

-- The part of a transaction whose header is at `at`: its path, where the rest
-- of it begins, and where the next part's header is.
local function read_part(frame, at)
  local kind = read_int(frame, at)
  local path, rest = read_buffer(frame, at + 9)
  if kind ~= CREATE then return path, rest, rest + 4 end -- a version
  local _, after = read_buffer(frame, rest)
  local entries = read_int(frame, after)
  after = after + 4
  for _ = 1, entries do
    _, after = read_buffer(frame, after + 4)
    _, after = read_buffer(frame, after)
  end
  return path, rest, after + 4 -- flags
end

-- An unfair lock's two nodes are made, or deleted, or neither.
function answers.create_both(link, _, frame)
  local own, rest, next_part = read_part(frame, 13)
  local beside, rest_beside, done = read_part(frame, next_part)
  local nodes = link.world.nodes
  begin_to_go(link.world)
  if not nodes[parent_of(own)] then
    return 0, lies.refusals(NO_NODE, UNTOLD)
  end
  if nodes[beside] then return 0, lies.refusals(0, NODE_EXISTS) end
  local _, body = create(link, own, frame:sub(rest, next_part - 1), true)
  create(link, beside, frame:sub(rest_beside, done - 1), true)
  local path = read_buffer(body, 1)
  nodes[path].czxid = nodes[beside].czxid -- one transaction
  return 0, lies.created_both(path, beside)
end

function answers.delete_both(link, _, frame)
  local own, _, next_part = read_part(frame, 13)
  local beside = read_part(frame, next_part)
  local nodes = link.world.nodes
  if not nodes[own] then return 0, lies.refusals(NO_NODE, UNTOLD) end
  if not nodes[beside] then return 0, lies.refusals(0, NO_NODE) end
  send_home(link.world)
  remove(link.world, own)
  remove(link.world, beside)
  return 0, lies.deleted_both()
end

function answers.exists(link, path, rest)
  local node = link.world.nodes[path]
  if node and link.world.lie.hides == "nodes" and is_hidden(link, node.owner)
  then
    return NO_AUTH, ""
  end
  watch(link.reads, path, rest)
  return node and 0 or NO_NODE, node and stat_of(node) or ""
end

function answers.get(link, path, rest)
  local node = link.world.nodes[path]
  if not node then return NO_NODE, "" end
  if is_hidden(link, node.owner) then return NO_AUTH, "" end
  watch(link.reads, path, rest)
  return 0, buffer(node.data or "") .. stat_of(node)
end

function answers.set(link, path)
  local node = link.world.nodes[path]
  return node and 0 or NO_NODE, node and stat_of(node) or ""
end

function answers.list(link, path, rest)
  local node = link.world.nodes[path]
  if not node then return NO_NODE, "" end
  watch(link.lists, path, rest)
  local names = {}
  for name in pairs(node.children) do names[#names + 1] = buffer(name) end
  return 0, int(#names) .. table.concat(names)
end

function answers.sync(_, path) return 0, buffer(path) end
function answers.ping() return 0, "" end

-- Who asks for another way to authenticate wants to be refused.
function answers.auth(link, _, frame)
  if link.world.lie.keeps then return 0, "" end
  return read_buffer(frame, 17) == "digest" and 0 or AUTH_FAILED, ""
end

function answers.unwatch(link, path, rest)
  local kind = read_int(rest, 1)
  if kind ~= CHILDREN then link.reads[path] = nil end
  if kind ~= DATA then link.lists[path] = nil end
  return 0, ""
end

function answers.watch() return 0, "" end
function answers.close() return 0, "" end

-- What a lie returns: nil for the truth; else the pieces to say instead, each
-- bytes, seconds to wait, "close" or "silence".
local function lie_about(link, h)
  local world, lie = link.world, link.world.lie
  if lie.on ~= h.kind and lie.on ~= "any" then return nil end
  count(world, "seen")
  local n = world.counts.seen - (lie.skip or 0)
  if n < 1 or n > (lie.times or math.huge) then return nil end
  return { lie.tell(h, n, world) }
end

local function pour(link, pieces)
  local delay = 0
  for _, piece in ipairs(pieces) do
    if type(piece) == "number" then
      delay = delay + piece
    elseif piece == "close" then
      tell(link, false, delay)
    elseif piece == "silence" then
      link.silent = true
    else
      tell(link, piece, delay)
    end
  end
end

-- A connect request: its timeout stands at byte 17, its session at 21.  One
-- that nobody was given here is refused, by a timeout of 0: so is the one with
-- which `mt` comes back by itself.
local function greet(link, frame)
  local world, id = link.world, frame:sub(21, 28)
  link.greeted = true
  count(world, "greetings")
  if id == NOBODY then
    world.sessions = world.sessions + 1
    id = int(0x6c6965) .. int(world.sessions)
    world.given[id] = true
  end
  local known = world.given[id]
  local h = { kind = "connect", timeout = known and read_int(frame, 17) or 0,
    id = known and id or NOBODY, passwd = buffer(("\1"):rep(16)), flag = "\0",
    protocol = 0, size = nil }
  local pieces = lie_about(link, h)
  link.session = h.id
  world.given[h.id] = true
  pour(link, pieces or { lies.greeting(h) })
end

local PATHLESS = { ping = true, close = true, auth = true, watch = true,
  transaction = true, heartbeat = true, create_both = true,
  delete_both = true }

-- A transaction that begins with a check is a heartbeat; one of two creates, or
-- of two deletes, is an unfair lock's.
local function kind_of(frame)
  local kind = KINDS[read_int(frame, 9)]
  if kind ~= "transaction" then return kind end
  local first = read_int(frame, 13)
  if first == CHECK then return "heartbeat" end
  local _, _, next_part = read_part(frame, 13)
  local second = read_int(frame, next_part)
  if first == CREATE and second == CREATE then return "create_both" end
  if first == DELETE and second == DELETE then return "delete_both" end
  return kind
end

local function hear_frame(link, frame)
  if link.silent then return end
  if not link.greeted then return greet(link, frame) end
  local world = link.world
  local kind = kind_of(frame)
  if not kind then error("an unknown request: " .. read_int(frame, 9)) end
  local path, at
  if not PATHLESS[kind] then path, at = read_buffer(frame, 13) end
  count(world, "requests")
  count(world, kind)
  local err, body = answers[kind](link, path, frame:sub(at or 1))
  local h = { kind = kind, xid = frame:sub(5, 8), zxid = long(world.zxid),
    err = err, body = body, path = path, session = link.session, link = link }
  if kind == "ping" then h.zxid = long(0) end
  pour(link, lie_about(link, h)
    or { lies.reply(h), err == AUTH_FAILED and "close" or nil })
end

-- The sockets.

local function finish(s)
  connections[s] = nil
  s:close()
end

local function accept(world)
  local s = world.listener:accept()
  if not s then return end
  s:settimeout(0)
  s:setoption("tcp-nodelay", true)
  count(world, "connections")
  connections[s] = { world = world, said = "", out = {}, socket = s,
    reads = {}, lists = {} }
end

local function read(s)
  local link = connections[s]
  if not link then return end
  local data, problem, part = s:receive(16384)
  link.said = link.said .. (data or part or "")
  local frame, rest = frames.split(link.said)
  while frame do
    link.said = rest
    hear_frame(link, frame)
    frame, rest = frames.split(rest)
  end
  if problem == "closed" then finish(s) end
end

local function write(s)
  local link = connections[s]
  local head = link and link.out[1]
  if not head then return end
  if not head.text then return finish(s) end
  local drip = link.world.lie.drip
  local sent, problem, partly = s:send(head.text, head.from,
    drip and head.from or -1)
  if problem == "closed" then return finish(s) end
  head.from = (sent or partly or 0) + 1
  if head.from > #head.text then
    table.remove(link.out, 1)
  elseif drip then
    head.due = now() + drip
  end
end

-- The spec's words: `truth N`: what has been made in the world of lie N, and
-- what was counted.
local function obey()
  local n = (hear() or os.exit(0)):match "truth (%d+)"
  local world = worlds[tonumber(n)]
  for _, line in ipairs(world.made) do say("made " .. line) end
  for what, times in pairs(world.counts) do say(what .. " " .. times) end
  say "done"
end

local function interests()
  local reading, writing, due = { parent_socket }, {}, math.huge
  for _, world in ipairs(worlds) do
    reading[#reading + 1] = world.listener
    due = math.min(due, go_home(world) or due)
  end
  for s, link in pairs(connections) do
    local head = link.out[1]
    reading[#reading + 1] = s
    if head and head.due <= now() then
      writing[#writing + 1] = s
    elseif head then
      due = math.min(due, head.due)
    end
  end
  return reading, writing, due < math.huge and math.max(0, due - now()) or nil
end

local function open_worlds(path)
  local by_listener, ports = {}, {}
  for i, lie in ipairs(lies.list) do
    local world = new_world(lie)
    world.listener = assert(socket.bind("127.0.0.1", 0, 64))
    world.listener:settimeout(0)
    worlds[i], by_listener[world.listener] = world, world
    ports[i] = select(2, world.listener:getsockname())
    if not lie.no_path then make(world, path) end
    for _, name in ipairs(lie.ahead or {}) do
      make(world, path .. "/" .. name, FOREIGN, "somebody")
      if lie.stays then
        table.insert(world.behind, { path = path .. "/" .. name })
      end
    end
  end
  say(table.concat(ports, ","))
  return by_listener
end

return function(path)
  local by_listener = open_worlds(path)
  while true do
    local readable, writable = socket.select(interests())
    for _, s in ipairs(writable) do write(s) end
    for _, s in ipairs(readable) do
      if s == parent_socket then
        obey()
      elseif by_listener[s] then
        accept(by_listener[s])
      else
        read(s)
      end
    end
  end
end
