-- The number of a descriptor that the library has closed is anybody's.
local spawn = require "support.child".spawn
local start_hostile = require "support.hostile".start
local support = require "support"

-- Releases many locks and closes its session, both in one go of the I/O thread,
-- which has to wait for the main program whenever that has something to do:
-- opening connections of its own, with eight bytes under way in each.
local CLIENT = [[
  local lfs = require "lfs"
  local new_scheduler = require "support.scheduler".new
  local hosts, path = ...
  local LOCKS, MOST, WORDS = 600, 700, "8 bytes!"
  local main = require "zklock.core".pid()
  local listener = assert(socket.bind("127.0.0.1", 0))
  local port = select(2, listener:getsockname())

  local function open_two()
    local client = assert(socket.connect("127.0.0.1", port))
    local server = assert(listener:accept())
    client:send(WORDS)
    server:send(WORDS)
    return client, server
  end

  -- How many bytes of its words are not there.
  local function check(s)
    s:settimeout(0.1)
    local words, _, part = s:receive(#WORDS)
    s:close()
    return #WORDS - #(words or part)
  end

  -- The threads beside the main program's.
  local function threads()
    local list = {}
    for thread in lfs.dir "/proc/self/task" do
      thread = tonumber(thread)
      if thread and thread ~= main then list[#list + 1] = thread end
    end
    return list
  end

  os.execute(("taskset -apc 0 %d >/dev/null"):format(main))
  while true do
    local scheduler = new_scheduler()
    local session = assert(zklock.connect(hosts, { session_timeout = 4,
      loop = scheduler.adapter }))
    for _, thread in ipairs(threads()) do
      os.execute(("renice -n 10 -p %d >/dev/null"):format(thread))
    end
    local guards, sockets, eaten = {}, {}, 0
    for i = 1, LOCKS do
      session:rwlock(path .. "/" .. i % 20).read:acquire_async(
        { timeout = 20, owner = i }, function(mine)
          guards[#guards + 1] = mine
        end)
    end
    while #guards < LOCKS do session:step() socket.sleep(0.001) end
    scheduler:spawn(function()
      say "ready"
      hear()
      for _, guard in ipairs(guards) do guard:release() end
      session:close() -- which waits for nothing in a task
      while #threads() > 0 do
        sockets[#sockets + 1], sockets[#sockets + 2] = open_two()
        socket.sleep(0.0002) -- it is the other thread's turn
        while #sockets > MOST do
          eaten = eaten + check(table.remove(sockets, 1))
        end
      end
    end)
    assert(scheduler:run(20))
    for _, s in ipairs(sockets) do eaten = eaten + check(s) end
    say(eaten)
    if hear() ~= "again" then os.exit(0) end
  end
]]

describe("A session whose connection breaks while it is closed #slow",
  function()

    it("reads nobody else's bytes", function()
      local hostile, path = start_hostile(), support.path()
      local child = spawn(CLIENT, hostile.hosts, path)
      for round = 1, 5 do
        child:expect "ready"
        hostile:behave { drop_at = 30 * round }
        child:say()
        assert.equal("0", child:hear(), "eaten in round " .. round)
        hostile:behave {}
        support.wait_until(function()
          return support.count_contenders(path) == 0
        end, 10, "no contender")
        child:say(round < 5 and "again" or "end")
      end
      assert.equal(0, child:wait())
    end)
  end)
