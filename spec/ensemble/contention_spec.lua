-- Many processes, one mutex, and a witness who does not know the library.
local spawn = require "support.child".spawn
local start_server = require "support.server".start
local support = require "support"
local witness = require "support.witness"

-- `mortal`: one that says when it is inside, and waits there.
local CODE = [[
  local hosts, path, directory, turns, mortal = ...
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
      if mortal then
        say "inside"
        hear()
      end
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

describe("Processes on one mutex of an ensemble", function()
  local path, observer

  before_each(function()
    support.start()
    path, observer = support.path(), witness.create()
    support.closing(observer, observer.remove)
  end)
  after_each(support.finish)

  local function start(hosts, count, turns, code)
    local children = {}
    for i = 1, count do
      children[i] = spawn(code or CODE, hosts, path, observer.directory, turns)
      children[i]:expect "ready"
    end
    return children
  end

  local function finish(children)
    for _, child in ipairs(children) do
      child:expect("done\t0", 90)
      child:expect "closed"
      child:expect "left\t0\t0"
      assert.equal(0, child:wait())
      assert.equal("", child:output())
    end
  end

  local function say_go(children)
    for _, child in ipairs(children) do child:say "go" end
  end

  -- The fields of the history that must grow from one holder to the next.
  local function count_turns()
    local inside, turns = nil, 0
    local token, sequence = "", ""
    for _, line in ipairs(observer:history()) do
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
    return turns
  end

  it("never overlap, in order of arrival, with growing tokens", function()
    local children = start(support.ensemble, 8, 300)
    say_go(children)
    finish(children)
    assert.equal(8 * 300, count_turns())
    support.wait_for_queue(path, 0, support.ensemble)
  end)

  it("go on under the next leader, without overlap (T32)", function()
    local servers = support.closing(start_server(3,
      "--config maxSessionTimeout=60000"), function(it) it:stop() end)
    local children = start(servers.hosts, 4, 300)
    say_go(children)
    support.wait_until(function() -- (nobody has written at first)
      local is_there, turns = pcall(count_turns)
      return is_there and turns > 50
    end, 20)
    local leader = servers:leader()
    servers:kill(leader)
    servers:leader()
    servers:restart(leader)
    assert.is_true(count_turns() < 4 * 300)
    finish(children)
    assert.equal(4 * 300, count_turns())
  end)

  it("survive the death of some of them", function()
    local short = CODE:gsub("session_timeout = 20", "session_timeout = 5")
    local mortals = start(support.ensemble, 2, 30, "local mortal = true\n"
      .. short:gsub(", mortal = %.%.%.", " = ..."))
    local others = start(support.ensemble, 4, 30, short)
    mortals[1]:say "go"
    mortals[1]:expect "inside"
    mortals[2]:say "go"
    support.wait_for_queue(path, 2, support.ensemble)
    say_go(others)
    -- Dead inside: the witness has to be told, the others must not.
    for i, child in ipairs(mortals) do
      if i == 2 then child:expect "inside" end
      local held = observer.directory .. "/held." .. child.pid
      assert.is_true(os.rename(held, held .. ".dead"))
      child:signal "KILL"
      local history = observer:history()
      local last = history[#history]
      observer:note("leave", last.name, last.token, last.node)
      io.open(observer.directory .. "/free", "w"):close()
    end
    finish(others)
    assert.equal(2 + 4 * 30, count_turns())
    support.wait_for_queue(path, 0, support.ensemble)
  end)
end)
