-- What a fork finds under way, and what the child may do after it.  (What it
-- must not do with its parent's sessions: process_spec.)
local host = require "loops.host"
local new_names = require "support.names".new
local spawn_with = require "support.forker".spawn_with
local start_proxy = require "support.proxy".start
local support = require "support"

-- A process that forks, `forks(count, body, most)`, and tells how many children
-- had not ended by os.exit(0) after 30 seconds.  `most` (1) run at a time.
local FORKS = [[
  local unistd = require "posix.unistd"
  local wait = require "posix.sys.wait"
  local signal = require "posix.signal"
  local now = require "zklock.core".now

  local function ended(pid, deadline)
    repeat
      local gone, how, status = wait.wait(pid, wait.WNOHANG)
      if gone == pid then return how == "exited" and status == 0 end
      socket.sleep(0.002) -- until the child is looked at again
    until now() > deadline
    signal.kill(pid, signal.SIGKILL)
    wait.wait(pid)
  end

  function forks(count, body, most)
    local stuck, pids = 0, {}
    local function reap(left)
      while #pids > left do
        local oldest = table.remove(pids, 1)
        if not ended(oldest, now() + 30) then stuck = stuck + 1 end
      end
    end
    for i = 1, count do
      socket.sleep(i % 7 / 5000) -- forks come at different moments
      local pid = unistd.fork()
      if pid == 0 then
        local ok, problem = pcall(body)
        if not ok then say("child", problem) end
        unistd._exit(ok and 0 or 1)
      end
      pids[#pids + 1] = pid
      reap((most or 1) - 1)
    end
    reap(0)
    return stuck
  end

  function connects(where)
    return function()
      local session = assert(zklock.connect(where, { connect_timeout = 8 }))
      local guard = assert(session:mutex("/fork-" .. unistd.getpid())
        :acquire(30))
      guard:release { wait = true }
      session:close()
    end
  end
]]

describe("Hundreds of forks beside sessions that fail all the time", function()
  it("leave every child able to connect to an address #stock", function()
    local proxy = start_proxy()
    local child = spawn_with("", FORKS .. [[
      local failing, address, count = ...
      local sessions = {}
      for i = 1, 12 do sessions[i] = assert(zklock.connect(failing)) end
      say "connected"
      hear()
      say(forks(tonumber(count), function()
        assert(zklock.connect(address, { connect_timeout = 8 })):close()
      end, 16), "stuck")
      os.exit(0)
    ]], "localhost:9,127.0.7.2:9," .. proxy.hosts, support.hosts, 600)
    child:expect "connected"
    proxy:refuse()
    child:say()
    child:expect("0\tstuck", 500)
    child:wait()
  end)
end)

describe("A fork beside a look-up that hangs #stock", function()
  -- A process with a session whose name is being looked up, and nothing comes.
  local function start_parent(code)
    local names = new_names()
    names:set("host.example", "127.0.0.1")
    names:hold()
    local child = spawn_with(names.environment, FORKS .. [[
      local name, number = ...
      local _, _, code = zklock.connect(name, { connect_timeout = 0.2 })
      say(code)
      hear()
    ]] .. code .. " os.exit(0)", "host.example:" ..
      support.hosts:match ":(%d+)", support.hosts)
    child:expect "disconnected"
    names:await_held()
    child:say()
    return child, names
  end

  it("waits for it once, and no longer than a moment", function()
    local child = start_parent [[
      local begun = now()
      local stuck = forks(20, function() end)
      say(stuck, now() - begun < 2)
    ]]
    child:expect "0\ttrue"
    assert.equal(0, child:wait(5))
  end)

  it("lets the child connect to an address, but look up no name",
    function()
      local child, names = start_parent [[
        local function cannot_look_up()
          local _, message, code = zklock.connect(name, { connect_timeout = 8 })
          assert(code == "disconnected", message)
          assert(message:find("this process was forked during a look-up, and "
            .. "can look up no name: use a numeric address", 1, true), message)
        end
        say(forks(3, connects(number)))
        say(forks(3, function()
          cannot_look_up()
          connects(number)()
          local stuck = forks(1, function() -- its child, either
            cannot_look_up()
            connects(number)()
          end)
          assert(stuck == 0, stuck)
        end))
        hear()
        connects(name)() -- the look-up is over
        say "itself"
        say(forks(3, connects(name)))
      ]]
      child:expect("0", 40)
      child:expect("0", 40)
      names:let_go()
      child:say()
      child:expect("itself", 40)
      child:expect("0", 40)
      assert.equal(0, child:wait(5))
    end)
end)

describe("Threads that fork at the same time", function()
  it("find every mutex free in the child, and after a fork that fails",
    function()
      local ok, text = host.run(host.build "spec/server/forks.c")
      assert(ok, text)
      assert.equal("0 failures\nthe last fails\nfree\n", text)
    end)
end)
