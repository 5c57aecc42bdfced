--- The kinds of lock, with one face, for the specs that say the same of all.
-- Not a spec itself: `require "integration.family.kinds"`.
local raw = require "support.raw"
local support = require "support"

-- Each kind: its name; `make(session, path, options)`, a lock; `rival(...)`,
-- a lock that keeps `make`'s waiting while it is held, and is kept waiting by
-- it; what is special about it.
local all, of = {}, {}

local function add(kind)
  kind.rival = kind.rival or kind.make
  all[#all + 1] = kind
  of[kind.name] = kind
end

local function with(defaults, options)
  local merged = {}
  for key, value in pairs(defaults) do merged[key] = value end
  for key, value in pairs(options or {}) do merged[key] = value end
  return merged
end

local function mutex(name, defaults)
  return {
    name = name,
    defaults = defaults,
    reentrant = true,
    exclusive = true,
    make = function(session, path, options)
      return session:mutex(path, with(defaults, options))
    end,
  }
end

local function side(name, mine, others, defaults)
  return {
    name = name,
    defaults = defaults,
    reentrant = true,
    exclusive = mine == "write",
    make = function(session, path, options)
      return session:rwlock(path, with(defaults, options))[mine]
    end,
    rival = function(session, path, options)
      return session:rwlock(path, with(defaults, options))[others]
    end,
  }
end

add(mutex("mutex", {}))
add(mutex("unfair", { fair = false }))
add(mutex("parent", { wait = "parent" }))
add(mutex("poll", { wait = "poll", poll_interval = 0.01 }))
add(mutex("handoffs", { handoffs = 3 }))
add(mutex("kazoo", { layout = "kazoo" }))
add(side("read", "read", "write", {}))
add(side("write", "write", "write", {}))
add(side("kazoo read", "read", "write", { layout = "kazoo" }))
add(side("kazoo write", "write", "read", { layout = "kazoo" }))
add {
  name = "semaphore",
  defaults = {},
  exclusive = true, -- with one permit
  make = function(session, path, options)
    return session:semaphore(path, 1, options)
  end,
}
add {
  name = "multi",
  defaults = {},
  reentrant = true,
  exclusive = true,
  multi = true,
  make = function(session, path, options)
    return session:multi {
      session:mutex(path .. "/b", options),
      session:mutex(path .. "/a", options),
    }
  end,
}

local kinds = { all = all, of = of }

--- Says the same of every kind; `it` is busted's, which is no global here.
function kinds.each(it, name, fn, filter)
  for _, kind in ipairs(all) do
    if not filter or filter(kind) then
      it(("%s: %s"):format(kind.name, name), function() fn(kind) end)
    end
  end
end

-- What is left of any kind: the support looks for a mutex's nodes only.

local function ephemerals(zk, path, list)
  for _, child in ipairs(zk:children(path) or {}) do
    local node = path .. "/" .. child
    local stat = zk:exists(node)
    if stat and stat.owner ~= "0x" then
      list[#list + 1] = node
    elseif stat then
      ephemerals(zk, node, list)
    end
  end
  return list
end

--- From now on the server finds none of the directories below `path` empty, and
-- reaps none of them, however long a busy machine leaves it unused.
function kinds.keep(path)
  local zk = support.zk()
  for _, child in ipairs(zk:children(path) or {}) do
    local node = path .. "/" .. child
    if zk:exists(node).owner == "0x" then kinds.keep(node) end
  end
  zk:create(path .. "/kept", {})
end

--- The paths of all ephemeral nodes below `path`, in the order of names.
function kinds.nodes(path, hosts)
  return ephemerals(support.zk(hosts), path, {})
end

function kinds.wait_for_nodes(path, n, seconds, hosts)
  local nodes
  support.wait_until(function()
    nodes = kinds.nodes(path, hosts)
    return #nodes == n
  end, seconds, ("%d nodes below %s"):format(n, path))
  return nodes
end

--- Before each test; after it, support.finish. `hosts`: looked at, too.
function kinds.start(hosts)
  support.start()
  local prefix = support.path():match("^/[^/]+")
  -- Opened first, so closed last: when every session is closed.
  support.closing({}, function()
    for _, where in ipairs { support.hosts, hosts } do
      kinds.wait_for_nodes(prefix, 0, 8, where)
    end
  end)
end

--- Begins to wait: `{ session =, guard =, code =, message = }`, filled in by
-- the callback.
function kinds.wait_in(lock, options)
  local result = { session = lock._session }
  result.ticket = lock:acquire_async(options, function(guard, message, code)
    result.guard, result.message, result.code = guard, message, code
    result.at = support.now()
  end)
  return result
end

--- The same, and stands in the queue of `path` when it returns.
function kinds.queue_in(lock, path, options)
  local before = {}
  for _, node in ipairs(kinds.nodes(path)) do before[node] = true end
  local result = kinds.wait_in(lock, options)
  support.wait_until(function()
    for _, node in ipairs(kinds.nodes(path)) do
      if not before[node] then
        result.node = node
        return true
      end
    end
  end, 5, "a new node below " .. path)
  return result
end

--- Steps until the waits are decided; the first one's guard.
function kinds.await(...)
  local results = { ... }
  support.wait_until(function()
    local all_done = true
    for _, result in ipairs(results) do
      result.session:step()
      all_done = all_done and (result.guard or result.code)
    end
    return all_done
  end, 10, "the outcome of a wait")
  return results[1].guard, results[1].message, results[1].code
end

--- Steps for a while: nobody of these is granted.
function kinds.nobody(seconds, ...)
  local results = { ... }
  local deadline = support.now() + seconds
  repeat
    for i, result in ipairs(results) do
      result.session:step()
      if result.guard or result.code then
        error(("waiter %d was %s"):format(i, result.code or "granted"), 2)
      end
    end
    support.sleep(0.003)
  until support.now() > deadline
end

-- The servers' own counters.

local function count_packets(session, hosts)
  local id = session:id():gsub("^0x0*", "")
  for host in support.each_host(hosts or support.hosts) do
    for line in (raw.word(host, "cons") or ""):gmatch("[^\n]+") do
      if line:match("sid=0x0*(%x+)") == id then
        return tonumber(line:match("recved=(%d+)")),
          tonumber(line:match("sent=(%d+)"))
      end
    end
  end
  error("no server knows session " .. id, 2)
end

--- What a server has counted of a session: packets received from it, packets
-- sent to it (replies and events), but for heartbeats and nudges, of which a
-- busy machine makes more.
function kinds.traffic(session, hosts)
  return support.while_quiet({ session }, function(beats, nudges)
    local received, sent, was
    repeat -- the server counts what it sends some time after that was sent
      if sent then support.sleep(0.02) end
      was = sent
      received, sent = count_packets(session, hosts)
    until sent == was and sent >= received
    return received - beats - nudges, sent - beats - nudges
  end)
end

return kinds
