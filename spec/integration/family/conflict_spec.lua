-- Locks of different kinds on one path: the later one is refused.
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local support = require "support"
local connect, wait_in, await = support.connect, kinds.wait_in, kinds.await
local refused = kinds.refused

-- Each kind: its name; what makes it, with which option; what others are told
-- that it is.
local KINDS = {
  { "mutex", "mutex", {}, "a mutex" },
  { "read", "rwlock", {}, "a readers-writer lock" },
  { "write", "write", {}, "a readers-writer lock" },
  { "semaphore", "semaphore", {}, "a semaphore" },
  { "unfair", "mutex", { fair = false }, "an unfair mutex" },
  { "latch", "election", { layout = "latch" },
    "an election in the layout of latches" },
  { "kazoo mutex", "mutex", { layout = "kazoo" }, "a lock in kazoo's layout" },
  { "kazoo read", "rwlock", { layout = "kazoo" },
    "a readers-writer lock in kazoo's layout" },
}

-- What waits for each other, as doc/api.md says: in either order, or only if
-- the second comes later.
local function exclude(first, second)
  local names = first[1] .. ", " .. second[1]
  return first == second or names == "read, write" or names == "write, read"
    or names == "kazoo mutex, kazoo read"
end

local function make(kind, path, more)
  local options = { data = "of " .. kind[1] }
  for _, list in ipairs { kind[3], more or {} } do
    for key, value in pairs(list) do options[key] = value end
  end
  return kinds.makers[kind[2]](connect(), path, options)
end

local function conflict(lock) return refused("conflict", lock:acquire(20)) end
local function released(guard) guard:release { wait = true } end

local path
before_each(function() path = support.path() end)

describe("Beside a lock of another kind on its path,", function()
  for _, first in ipairs(KINDS) do
    it("a lock is refused, unless it shares the path on purpose: "
      .. first[1], function()
      for _, second in ipairs(KINDS) do
        if not exclude(first, second) then
          path = support.path()
          local lock = make(first, path)
          local guard = assert(lock:acquire(20))
          assert.equal(("zklock: %s is in use as %s (by %q, session %s): "
            .. "locks of different kinds do not exclude each other")
            :format(path, first[4], "of " .. first[1], lock._session:id()),
            conflict(make(second, path)))
          assert.is_true(guard:is_held())
          kinds.wait_for_nodes(path, first[1] == "unfair" and 2 or 1)
          local other = assert(make(second, path, { share_path = true })
            :acquire(20), second[1])
          assert.is_true(guard:is_held() and other:is_held())
          released(other)
          released(guard)
          released(assert(make(second, path):acquire(20)))
        end
      end
    end)
  end

  it("each waiter in line for local turns is refused", function()
    local guard = connect():rwlock(path).write:acquire(20)
    local mutex, waits = connect():mutex(path, { local_turns = 4 }), {}
    for i = 1, 5 do waits[i] = wait_in(mutex, { owner = {} }) end
    for i = 1, 5 do refused("conflict", await(waits[i])) end
    released(guard)
    kinds.wait_for_nodes(path, 0)
  end)

  it("a wait that ends before that is certain is refused all the same",
    function()
      local guard = connect():rwlock(path).write:acquire(20)
      refused("conflict", connect():mutex(path):acquire(0.05))
      released(guard)
    end)

  it("a wait, a hold and a downgrade that began before go on", function()
    local session, proxy = sessions.behind_proxy()
    local here, there = path .. "/mutex", path .. "/rwlock"
    local first = connect():mutex(here):acquire(20)
    local waiter = kinds.queue_in(session:mutex(here), here)
    local writer = session:rwlock(there).write:acquire(20)
    local others = {}
    for _, kind in ipairs { "write", "unfair", "semaphore" } do
      local at = kind == "write" and here or there
      others[kind] = kinds.of[kind].make(connect(), at, { share_path = true })
        :acquire(20)
    end
    proxy:cut()
    support.until_state(session, "connected", { reconnects = 1 })
    released(first)
    released(await(waiter))
    released(assert(session:rwlock(there).read:acquire(20)))
    released(writer)
    for _, guard in pairs(others) do released(guard) end
  end)

  -- Whose create's reply was lost, and that finds a node of its name, which
  -- another session has forged, ahead of all others.
  it("a contender looks behind its own node, not a forged one", function()
    local session, proxy = sessions.behind_proxy()
    local zk, mutex = support.zk(), session:mutex(path)
    zk:make(path .. "/kept")
    local guard = mutex:acquire(20)
    local mark = guard.node:match "^(.*)1%-lock%-%d+$"
    released(guard)
    zk:create(mark .. "2-lock-0000000000", { ephemeral = true })
    local writer = connect():rwlock(path, { share_path = true }).write
      :acquire(20)
    proxy:lose_reply "create"
    local waiter = wait_in(mutex)
    proxy:await_loss()
    proxy:heal()
    refused("conflict", await(waiter))
    released(writer)
    zk:delete(mark .. "2-lock-0000000000")
  end)

  it("a double barrier's member is refused, and refuses", function()
    local guard = connect():mutex(path):acquire(20)
    local session, code = connect(), nil
    local barrier = session:double_barrier(path, 2)
    refused("conflict", barrier:enter(20))
    released(guard)
    local ticket = barrier:enter_async(20, function(_, _, why) code = why end)
    kinds.wait_for_nodes(path, 1)
    conflict(connect():mutex(path))
    ticket:cancel()
    support.step_until(session, function() return code == "cancelled" end)
  end)
end)

-- Of its own kind, which it waits for (unowned_spec.lua).
local OWN = { mutex = "-lock-", read = "WRIT", write = "WRIT",
  latch = "-latch-", unfair = "holder" }

it("What is left over, or no lock's, refuses no lock: nodes of no session, "
  .. "empty directories, files", function()
  for _, kind in ipairs(KINDS) do
    path = support.path()
    local zk = support.zk()
    for _, name in ipairs { "/leases", "/locks", "/x-__WRIT__0000000000",
      "/x__rlock__0000000000", "/x-member-0000000000", "/orders",
      "/x-lock-0000000000", "/x-latch-0000000000", "/holder" } do
      if not OWN[kind[1]] or not name:find(OWN[kind[1]], 1, true) then
        zk:make(path .. name)
      end
    end
    zk:create(path .. "/config", { ephemeral = true })
    local guard, message = make(kind, path):acquire(20)
    released(assert(guard, kind[1] .. ": " .. tostring(message)))
    zk:delete_all(path)
  end
end)
