--- Programs of processes that contend for one lock, one for each kind, with a
-- witness to which all write.  Each says "ready", and begins when it hears a
-- line.
local contests = {}

-- What a process does, in each of its rounds; `kind` decides what is asked for.
local PROLOGUE = [[
  local path, tally_name, name, rounds, where = ...
  local kinds = require "integration.family.kinds"
  local tally = require "server.tally".open(tally_name)
  math.randomseed(#name + name:byte(-1) * 7919)
  local zklock_hosts = where
  local session = assert(zklock.connect(zklock_hosts, { session_timeout = 30 }))
  local last_token = ""
  say "ready"
  hear() -- till all are
  -- Inside, now and then for longer, and not alone where others may come.
  local function stay(mode, guard, seldom, seconds)
    tally:enter(mode, name)
    assert(guard:is_held(), "not held")
    if math.random(seldom or 20) == 1 then socket.sleep(seconds or 0.001) end
    if math.random(40) == 1 then assert(guard:verify()) end
    if mode ~= "W" then tally:wait_for_company(mode) end
    tally:leave(mode, name)
  end
  local function leave(guard)
    assert(guard:release { wait = math.random(10) == 1 })
  end
]]

local EPILOGUE = [[
  session:close()
  say("done", session_count or 1)
]]

-- A mutex of the kind `name`, with a wait that is given up now and then.
local function with_mutex(name)
  return ([[
    local lock = kinds.of[%q].make(session, path)
    for i = 1, rounds do
      local guard
      repeat
        if math.random(15) == 1 then
          guard = lock:try_acquire()
        elseif math.random(15) == 1 then
          guard = lock:acquire(0.002)
        else
          guard = assert(lock:acquire(30))
        end
      until guard
      assert(guard:token() > last_token, "the token has not grown")
      last_token = guard:token()
      stay("W", guard)
      leave(guard)
    end
  ]]):format(name)
end

local HANDOFFS = [[
  local scheduler = require "support.scheduler".new()
  session:close()
  session = assert(zklock.connect(zklock_hosts,
    { session_timeout = 30, loop = scheduler.adapter }))
  local lock = kinds.of.handoffs.make(session, path)
  local left = tonumber(rounds)
  local last = ""
  for _ = 1, 5 do
    scheduler:spawn(function()
      while left > 0 do
        left = left - 1
        local guard = assert(lock:acquire(30))
        local order = guard:token() .. (":%06d"):format(guard:turn())
        assert(order > last, "token and turn have not grown")
        last = order
        stay("W", guard)
        leave(guard)
      end
    end)
  end
  assert(scheduler:run(60))
]]

-- Readers, writers, and those who downgrade.
local function with_rwlock(layout)
  return ([[
    local side = session:rwlock(path, { layout = %q })
    for i = 1, rounds do
      local dice = math.random(10)
      if dice <= 6 then
        local guard = assert(side.read:acquire(30))
        stay("R", guard)
        leave(guard)
      else
        local guard = assert(side.write:acquire(30))
        assert(guard:token() > last_token, "the token has not grown")
        last_token = guard:token()
        if dice <= 8 then
          stay("W", guard)
          leave(guard)
        else
          tally:enter("W", name)
          local read = assert(side.read:acquire(30))
          tally:leave("W", name)
          tally:enter("R", name)
          leave(guard)
          if math.random(3) == 1 then socket.sleep(0.001) end -- others come
          assert(read:is_held())
          tally:leave("R", name)
          leave(read)
        end
      end
    end
  ]]):format(layout)
end

local SEMAPHORE = [[
  local lock = session:semaphore(path, 3)
  for i = 1, rounds do
    local guard
    repeat
      if math.random(10) == 1 then
        guard = lock:acquire(0.003)
      else
        guard = assert(lock:acquire(30))
      end
    until guard
    stay("P", guard, 2, 0.01)
    leave(guard)
  end
]]

-- Two or three of four locks, in any order; each lock is one of those that the
-- witness must see free: whoever has both /a and /b keeps everybody out.
local MULTI = [[
  local names = { "a", "b", "c", "d" }
  for i = 1, rounds do
    for k = 4, 2, -1 do
      local m = math.random(k)
      names[k], names[m] = names[m], names[k]
    end
    local locks = { session:mutex(path .. "/core") }
    for k = 1, math.random(2) do
      locks[#locks + 1] = session:mutex(path .. "/" .. names[k])
    end
    if i % 3 == 0 then locks[1], locks[2] = locks[2], locks[1] end
    local guard = assert(session:multi(locks):acquire(30))
    stay("W", guard)
    leave(guard)
  end
]]

local function with_election(layout)
  return ([[
    local election = session:election(path, { layout = %q, data = name })
    local left = tonumber(rounds)
    assert(election:run(function(guard)
      assert(guard:token() > last_token, "the token has not grown")
      last_token = guard:token()
      stay("W", guard)
      left = left - 1
      if left == 0 then election:stop() end
    end))
  ]]):format(layout)
end

local function all_write(entered, _, total)
  assert(entered.W == total, "not each has had all its turns")
end

local function both_sides(entered, most, total)
  assert(entered.R > entered.W and entered.W > total / 6)
  assert(most.R > 1, "no two readers were ever together")
end

local function all_permits(entered, most, total)
  assert(entered.P == total, "not each has had all its turns")
  assert(most.P > 1, "no two holders were ever together")
end

-- Each: its title; the program; permits; and `check(entered, most, total)`,
-- where `total` is the number of rounds of all processes.
local function add(title, body, check, permits)
  contests[#contests + 1] = { title = title,
    program = PROLOGUE .. body .. EPILOGUE, check = check, permits = permits }
end

for _, name in ipairs { "mutex", "unfair", "parent", "poll", "kazoo" } do
  add(name, with_mutex(name), all_write)
end
add("handoffs", HANDOFFS, all_write)
add("multi", MULTI, all_write)
add("rwlock", with_rwlock "curator", both_sides)
add("kazoo rwlock", with_rwlock "kazoo", both_sides)
add("semaphore", SEMAPHORE, all_permits, 3)
for _, layout in ipairs { "curator", "latch", "kazoo" } do
  add(layout .. " election", with_election(layout), all_write)
end

return contests
