-- Many processes, one mutex, and a witness who does not know the library.
local spawn = require "support.child".spawn
local support = require "support"
local witness = require "support.witness"

local PROCESSES, TURNS = 8, support.in_full and 500 or 100

local CODE = [[
  local hosts, path, directory, turns = ...
  local function count(directory)
    local n = 0
    for name in require "lfs".dir(directory) do
      if tonumber(name) then n = n + 1 end
    end
    return n
  end
  local fds = count "/proc/self/fd"
  local witness = require "support.witness".open(directory)
  local session = assert(zklock.connect(hosts, { session_timeout = 20 }))
  local mutex = session:mutex(path)
  local name = require "zklock.core".pid()
  say "ready"
  hear()
  local overlaps = 0
  for _ = 1, turns do
    local guard = assert(mutex:acquire(60))
    local token, node = guard:token(), guard.node
    if witness:enter(name, token, node) then
      assert(guard:is_held())
      assert(witness:leave(name, token, node))
    else
      overlaps = overlaps + 1
    end
    assert(guard:release())
  end
  say("done", overlaps)
  session:close()
  say "closed"
  -- nothing of the library is left in this process, either
  say("left", count "/proc/self/fd" - fds, count "/proc/self/task" - 1)
]]

-- The fields of the history that must grow from one holder to the next.
local function check_history(history)
  local inside, turns = nil, 0
  local token, sequence = "", ""
  for _, line in ipairs(history) do
    assert.are_not.equal("overlap", line.what)
    if line.what == "enter" then
      assert.is_nil(inside)
      inside, turns = line.name, turns + 1
      assert.is_true(line.token > token, "tokens grow")
      local number = line.node:sub(-10)
      assert.is_true(number > sequence, "order of arrival")
      token, sequence = line.token, number
    else
      assert.equal("leave", line.what)
      assert.equal(inside, line.name)
      inside = nil
    end
  end
  assert.is_nil(inside)
  return turns
end

before_each(support.start)
after_each(support.finish)

describe("Eight processes on one mutex of an ensemble #slow", function()
  it("never overlap, in order of arrival, with growing tokens", function()
    local path = support.path()
    local observer = witness.create()
    support.closing(observer, observer.remove)
    local children = {}
    for i = 1, PROCESSES do
      children[i] = spawn(CODE, support.ensemble, path, observer.directory,
        TURNS)
      children[i]:expect "ready"
    end
    for _, child in ipairs(children) do child:say "go" end
    for _, child in ipairs(children) do
      child:expect("done\t0", 90)
      child:expect "closed"
      child:expect "left\t0\t0"
      assert.equal(0, child:wait())
      assert.equal("", child:output())
    end
    assert.equal(PROCESSES * TURNS, check_history(observer:history()))
    local zk = support.zk(support.ensemble)
    support.wait_until(function() -- (a follower may be behind)
      return #(zk:children(path) or {}) == 0
    end, 5, "no node")
    assert.equal(0, support.count_watches(path, support.ensemble))
  end)

  it("survive the death of some of them", function()
    local path = support.path()
    local observer = witness.create()
    support.closing(observer, observer.remove)
    local code = CODE:gsub("session_timeout = 20", "session_timeout = 5")
      :gsub("assert%(witness:leave%(name, token, node%)%)", [[
        if mortal then
          say "inside"
          hear()
        end
        assert(witness:leave(name, token, node))]])
    local children = {}
    for i = 1, 6 do
      local mortal = i <= 2
      children[i] = spawn("mortal = " .. tostring(mortal) .. "\n" .. code,
        support.ensemble, path, observer.directory, 30)
      children[i]:expect "ready"
    end
    children[1]:say "go"
    children[1]:expect "inside"
    children[2]:say "go"
    support.wait_until(function()
      return #support.zk(support.ensemble):queue(path) == 2
    end)
    for i = 3, 6 do children[i]:say "go" end
    -- Dead inside: the witness has to be told, the others must not.
    for i = 1, 2 do
      if i == 2 then children[2]:expect "inside" end
      local held = observer.directory .. "/held." .. children[i].pid
      assert.is_true(os.rename(held, held .. ".dead"))
      children[i]:signal "KILL"
      local history = observer:history()
      local last = history[#history]
      observer:note("leave", last.name, last.token, last.node)
      io.open(observer.directory .. "/free", "w"):close()
    end
    for i = 3, 6 do
      children[i]:expect("done\t0", 30)
      assert.is_true(children[i]:expect "closed" ~= nil)
    end
    assert.equal(2 + 4 * 30, check_history(observer:history()))
    support.wait_for_queue(path, 0, support.ensemble)
  end)
end)

describe("One process with many coroutines on an ensemble", function()
  it("hands the lock on a thousand times", function()
    local scheduler = require "support.scheduler".new()
    local session = support.connect { hosts = support.ensemble,
      loop = scheduler.adapter }
    local mutex = session:mutex(support.path())
    local token, turns = "", 0
    for _ = 1, 50 do
      scheduler:spawn(function()
        for _ = 1, 20 do
          local guard = assert(mutex:acquire(30))
          assert.is_true(guard:token() > token)
          token, turns = guard:token(), turns + 1
          guard:release()
        end
      end)
    end
    assert.is_true(scheduler:run(60))
    assert.equal(1000, turns)
  end)
end)
