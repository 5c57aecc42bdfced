--- The kinds of lock, with one face, for the specs that say the same of all.
-- Not a spec itself: `require "integration.family.kinds"`.
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
  if not defaults then return options end
  local merged = {}
  for key, value in pairs(defaults) do merged[key] = value end
  for key, value in pairs(options or {}) do merged[key] = value end
  return merged
end

local function mutex(name, defaults)
  return {
    name = name,
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

add(mutex "mutex")
add(mutex("unfair", { fair = false }))
add(mutex("parent", { wait = "parent" }))
add(mutex("poll", { wait = "poll", poll_interval = 0.01 }))
add(mutex("local_turns", { local_turns = 3 }))
add(mutex("kazoo", { layout = "kazoo" }))
add(side("read", "read", "write"))
add(side("write", "write", "write"))
add(side("kazoo read", "read", "write", { layout = "kazoo" }))
add(side("kazoo write", "write", "read", { layout = "kazoo" }))
add {
  name = "semaphore",
  exclusive = true, -- with one permit
  make = function(session, path, options)
    return session:semaphore(path, 1, options)
  end,
}
add {
  name = "multi",
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

-- Each family's locks, with any options.
local makers = { mutex = of.mutex.make, rwlock = of.read.make,
  write = of.write.make }
function makers.semaphore(session, path, options)
  return session:semaphore(path, 2, options)
end
function makers.election(session, path, options)
  local election = session:election(path, options)
  return { acquire = function(_, how) return election:campaign(how) end,
    _session = session }
end
makers["double barrier"] = function(session, path, options)
  local double_barrier = session:double_barrier(path, 1, options)
  return { acquire = function(_, how) return double_barrier:enter(how) end }
end

local kinds = { all = all, of = of, makers = makers }

--- Says the same of every kind; `it` is busted's, which is no global here.
function kinds.each(it, name, fn, filter)
  for _, kind in ipairs(all) do
    if not filter or filter(kind) then
      it(("%s: %s"):format(kind.name, name), function() fn(kind) end)
    end
  end
end

--- The token of a guard; of a multi, whose parts are held by the same holders,
-- that of the first part.
function kinds.token(guard)
  if guard.token then return guard:token() end
  return guard:tokens()[guard.path:match "^[^,]+"].token
end

-- What calls return.

--- Is this what a call has returned that was refused with this code? The
-- message.
function kinds.refused(code, guard, message, its_code)
  if guard ~= nil or its_code ~= code then
    error(("not %s: %s %s"):format(code, tostring(its_code),
      tostring(message)), 2)
  end
  return message
end

--- Calls `fn`, which must take so long, by the virtual clock, to five
-- milliseconds: what it returns.
function kinds.takes(seconds, fn, ...)
  local begun = support.now()
  local results = { fn(...) }
  local more = support.now() - begun - seconds
  if more < 0 or more > 0.005 then
    error(("%g s more than %g s"):format(more, seconds), 2)
  end
  return results[1], results[2], results[3]
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

local function keep_below(zk, path)
  for _, child in ipairs(zk:children(path) or {}) do
    local node = path .. "/" .. child
    local stat = zk:exists(node)
    if stat and stat.owner == "0x" then keep_below(zk, node) end
  end
  zk:make(path .. "/kept")
end

--- Makes what `lock` (nil: one that is held), at `path`, needs below that.  And
-- from now on the server finds none of these directories empty, and reaps none
-- of them, however long a busy machine leaves it unused.
function kinds.keep(path, lock)
  local guard = lock and assert(lock:acquire(30))
  local zk = support.zk()
  keep_below(zk, path)
  if zk:exists(path .. "/leases") then zk:make(path .. "/locks/kept") end
  if guard then guard:release { wait = true } end
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

-- A test must leave no node of any kind.
local function watch()
  local prefix = support.path():match("^/[^/]+")
  -- Opened first, so closed last: when every session is closed.
  support.closing({}, function() kinds.wait_for_nodes(prefix, 0, 8) end)
end

local busted = package.loaded.busted
if busted then busted.before_each(watch) end

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

--- Steps until each of these has had the lock, and given it back.
function kinds.pass_on(waiters)
  support.wait_until(function()
    local done = true
    for _, waiter in ipairs(waiters) do
      waiter.session:step()
      if waiter.guard then waiter.guard:release() end
      done = done and waiter.guard
    end
    return done
  end)
end

--- Steps for a while of virtual time: nobody of these is granted.
function kinds.nobody(seconds, ...)
  for _ = 1, 10 do
    support.advance(seconds / 10)
    for i, result in ipairs { ... } do
      result.session:step()
      if result.guard or result.code then
        error(("waiter %d was %s"):format(i, result.code or "granted"), 2)
      end
    end
  end
end

--- Begins to wait for the lock of `guard` in `other`. The function that it
-- returns steps until the lock has been passed on: at no instant may both
-- believe to hold it.
function kinds.watch_handover(guard, other, path)
  local waiter = kinds.queue_in(other:mutex(path), path)
  return function(seconds)
    support.step_until(other, function()
      local mine = guard:is_held()
      assert(not (waiter.guard and waiter.guard:is_held() and mine),
        "two believers")
      return waiter.guard and not mine
    end, seconds, "the lock is passed on")
    kinds.refused("lost", guard:release())
    waiter.guard:release()
  end
end

return kinds
