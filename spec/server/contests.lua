--- Contests of processes for one lock, with a witness to which all write: a
-- program for each kind, and how many processes run it.
--
--     contests.run({ "mutex" }, { count = 6, rounds = 100 })
local assert = require "luassert"
local kinds = require "integration.family.kinds"
local spawn = require "support.child".spawn
local support = require "support"
local tally_of = require "server.tally"

-- Each, by its title: the program; permits; and `check(entered, most, total)`,
-- where `total` is the number of rounds of all processes.
local contests = { of = {} }

-- What a process does, in each of its rounds; `kind` decides what is asked for.
local PROLOGUE = [[
  local path, tally_name, name, rounds, where = ...
  local kinds = require "integration.family.kinds"
  local tally = require "server.tally".open(tally_name)
  math.randomseed(#name + name:byte(-1) * 7919)
  local session = assert(zklock.connect(where, { session_timeout = 30 }))
  local last_token = ""
  say "ready"
  hear() -- till all are
  -- Inside, now and then for longer, and not alone where others may come.
  local function stay(mode, guard, seldom, seconds)
    tally:enter(mode, name)
    assert(guard:is_held(), "not held")
    -- So long it has the lock, and another could come in.
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
  say "done"
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
      local order = guard:token() .. (":%%06d"):format(guard:turn())
      assert(order > last_token, "token and turn have not grown")
      last_token = order
      stay("W", guard)
      leave(guard)
    end
  ]]):format(name)
end

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

local PERMITS = [[
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

local function add(title, body, check, permits)
  contests.of[title] = { program = PROLOGUE .. body .. EPILOGUE, check = check,
    permits = permits }
end

for _, name in ipairs { "mutex", "parent", "local_turns", "kazoo", "semaphore" }
do
  add(name, with_mutex(name), all_write)
end
add("rwlock", with_rwlock "curator", both_sides)
add("kazoo rwlock", with_rwlock "kazoo", both_sides)
add("permits", PERMITS, all_permits, 3)
for _, layout in ipairs { "curator", "latch", "kazoo" } do
  add(layout .. " election", with_election(layout), all_write)
end

local Contest = {}
Contest.__index = Contest

-- Waits until it is done, for as long as anybody comes in.
local function hear_done(who, tally)
  local problem
  repeat
    local before = tally:count()
    local ok, why = pcall(who.expect, who, "done", 60)
    if ok then return end
    problem = problem or why
  until tally:count() == before
  error(problem, 0)
end

--- Begins a contest of `count` processes, `rounds` each. The i-th one runs the
-- i-th of these contests (and from the first again), on `hosts`. `peers`:
-- processes of other libraries, `{ peer, kind }`.
function contests.begin(titles, given)
  local self = setmetatable({ rules = contests.of[titles[1]],
    path = support.path(), tally = support.closing(tally_of.create()),
    hosts = given.hosts or support.hosts, rounds = given.rounds,
    peers = given.peers or {}, children = {} }, Contest)
  -- It does not vanish under a peer.
  if self.peers[1] then support.zk():make(self.path) end
  for i = 1, given.count do
    local rules = contests.of[titles[(i - 1) % #titles + 1]]
    self.children[i] = spawn(rules.program, self.path, self.tally.name,
      "p" .. i, self.rounds, self.hosts)
  end
  -- Each has done it once before: a peer that is cold comes when we have gone.
  local warm = support.closing(tally_of.create())
  self:tell_peers(support.path(), warm, 5)
  for _, peer in ipairs(self.peers) do hear_done(peer[1], warm) end
  for _, child in ipairs(self.children) do child:expect "ready" end
  self:tell_peers(self.path, self.tally, self.rounds)
  for _, child in ipairs(self.children) do child:say() end
  return self
end

function Contest:tell_peers(path, tally, rounds)
  for i, peer in ipairs(self.peers) do
    peer[1]:begin("contend", peer[2], path, tally.name, "peer" .. i, rounds
      .. (self.rules.permits and " " .. self.rules.permits or ""))
  end
end

--- All have their turns, and the witness has seen nothing wrong.
function Contest:finish()
  for _, peer in ipairs(self.peers) do hear_done(peer[1], self.tally) end
  for _, child in ipairs(self.children) do
    hear_done(child, self.tally)
    assert.equal(0, child:wait(), child:output())
  end
  local entered, most, names = self.tally:check(self.rules.permits)
  self.rules.check(entered, most,
    (#self.children + #self.peers) * self.rounds)
  for i in ipairs(self.children) do
    assert.is_true(names["p" .. i] >= self.rounds, "p" .. i)
  end
  for i in ipairs(self.peers) do
    assert.is_true(names["peer" .. i] >= self.rounds, "peer" .. i)
  end
  kinds.wait_for_nodes(self.path, 0, nil, self.hosts)
  if self.peers[1] then support.zk():delete_all(self.path) end
end

function contests.run(titles, given) contests.begin(titles, given):finish() end

return contests
