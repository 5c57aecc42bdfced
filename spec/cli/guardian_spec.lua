-- The command does not outlive the lock: what is lost, who is killed, and who
-- does not want to go.
local command = require "support.command"
local processes = require "support.processes"
local support = require "support"

-- A command that says its process, and that of a part of it: `script` runs in
-- both.
local STUBBORN = [[trap '' TERM INT HUP; ]]

-- (A deletion is noticed within a sixth of the session timeout.)
local function start(path, script, words, options)
  local all = { "run", "--session-timeout", "10" }
  for _, word in ipairs(words or {}) do all[#all + 1] = word end
  for _, word in ipairs { path, "--", "sh", "-c", script } do
    all[#all + 1] = word
  end
  return command.start(all, options)
end

local forever = "echo pid $$; while :; do sleep 0.01; done"

local function pid_of(it) return tonumber(it:expect "pid (%d+)\n") end

local function delete_node(path)
  local zk = support.zk()
  zk:delete(path .. "/" .. zk:queue(path)[1])
end

before_each(support.start)
after_each(support.finish)

describe("A command whose lock is lost", function()
  it("is ended, and the exit code says so (T63)", function()
    local path = support.path()
    local it = start(path, "trap 'echo ended; exit 0' TERM; " .. forever)
    local pid = pid_of(it)
    delete_node(path)
    assert.equal(76, it:wait())
    assert.is_false(processes.is_alive(pid))
    assert.truthy(it:out():find "ended")
    assert.equal(("zklock: %s was lost (deleted): the command is ended\n"
      .. "zklock: the hold of %s was lost: its node was deleted\n")
      :format(path, path), (it:err():gsub("Terminated\n", ""))) -- (sh's)
  end)

  it("is killed after the grace, if it ignores SIGTERM (T62)", function()
    local path = support.path()
    local it = start(path, STUBBORN .. forever, { "--grace", "0.3" })
    local pid = pid_of(it)
    delete_node(path)
    assert.equal(76, it:wait())
    assert.is_false(processes.is_alive(pid))
    assert.truthy(it:err():find "the command did not end in time: it is killed")
  end)

  for _, grace in ipairs { "60", "1000000d" } do
    it("has the grace to end: " .. grace, function()
      local path = support.path()
      local it = start(path, "trap 'sleep 0.5; echo tidy; exit' TERM; "
        .. forever, { "--grace", grace })
      pid_of(it)
      delete_node(path)
      assert.equal(76, it:wait())
      assert.truthy(it:out():find "tidy")
    end)
  end

  it("is ended with its group", function()
    local path = support.path()
    local it = start(path, ("sh -c %s & wait"):format(
      command.quote(STUBBORN .. forever)), { "--grace", "0.3" })
    local pid = pid_of(it)
    delete_node(path)
    assert.equal(76, it:wait())
    assert.is_false(processes.is_alive(pid))
  end)

  it("is ended with a grandchild in a session of its own", function()
    local path = support.path()
    local it = start(path, ("setsid sh -c %s & wait"):format(
      command.quote(forever)))
    local pid = pid_of(it)
    delete_node(path)
    assert.equal(76, it:wait())
    assert.is_false(processes.is_alive(pid))
  end)

  it("is ended with a stubborn daemon whose parents are gone", function()
    local path = support.path()
    local it = start(path, ("setsid sh -c %s; %s"):format(command.quote(
      ("(%s%s) &"):format(STUBBORN, "echo pid $(sh -c 'echo $PPID'); "
        .. "while :; do sleep 0.01; done")), "while :; do sleep 0.01; done"),
      { "--grace", "0.3" })
    local pid = pid_of(it)
    delete_node(path)
    assert.equal(76, it:wait())
    assert.is_false(processes.is_alive(pid))
  end)

  it("is ended though it is stopped", function()
    local path = support.path()
    local it = start(path, "trap 'echo ended; exit' TERM; " .. forever)
    local pid = pid_of(it)
    processes.signal("STOP", pid)
    processes.await_stop(pid)
    delete_node(path)
    assert.equal(76, it:wait())
    assert.truthy(it:out():find "ended")
  end)

  it("and has ended by itself meanwhile, counts as lost", function()
    local path = support.path()
    local it = start(path, "trap 'exit 0' TERM; " .. forever)
    pid_of(it)
    delete_node(path)
    assert.equal(76, it:wait())
  end)

  it("has run for as long as --max-hold allows", function()
    local path = support.path()
    local it = start(path, STUBBORN .. forever,
      { "--max-hold", "4", "--grace", "0.3" })
    local pid = pid_of(it)
    assert.equal(76, it:wait())
    assert.is_false(processes.is_alive(pid))
    assert.truthy(it:err():find("--max-hold", 1, true))
    assert.equal(0, support.count_contenders(path))
  end)
end)

describe("What a command leaves behind", function()
  it("goes on, if it has ended by itself", function()
    local path = support.path()
    local it = start(path, ("sh -c %s </dev/null 2>/dev/null & sleep 0.2")
      :format(command.quote(forever)))
    local pid = pid_of(it)
    assert.equal(0, it:wait())
    assert.is_true(processes.is_alive(pid))
    assert.equal(0, support.count_contenders(path))
    processes.signal("KILL", pid)
  end)

  it("is ended, if the command was killed", function()
    local path = support.path()
    local it = start(path, ("sh -c %s & echo leader $$; wait"):format(
      command.quote(forever)))
    local pid = pid_of(it)
    processes.signal("KILL", tonumber(it:expect "leader (%d+)"))
    assert.equal(137, it:wait())
    assert.is_false(processes.is_alive(pid))
  end)
end)

describe("zklock run, killed", function()
  -- It leaves a node, until its session is over.
  local function kill(it, path)
    it:signal "KILL"
    assert.equal(137, it:wait())
    delete_node(path)
  end

  it("takes the command with it", function()
    local path = support.path()
    local it = start(path, "trap 'echo ended; exit' TERM; " .. forever)
    local pid = pid_of(it)
    kill(it, path)
    processes.await_end(pid)
    assert.truthy(it:out():find "ended")
  end)

  it("takes a stubborn one with it", function()
    local path = support.path()
    local it = start(path, STUBBORN .. forever, { "--grace", "0.3" })
    local pid = pid_of(it)
    kill(it, path)
    processes.await_end(pid)
  end)

  it("takes one with it that has left its group", function()
    local path = support.path()
    local it = start(path, ("setsid sh -c %s & wait"):format(
      command.quote(STUBBORN .. forever)), { "--grace", "0.3" })
    local pid = pid_of(it)
    kill(it, path)
    processes.await_end(pid)
  end)

  it("runs nothing, if it had waited", function()
    local path = support.path()
    local guard = support.hold(path)
    local it = start(path, "echo never")
    support.wait_for_queue(path, 2)
    local guardian = processes.child_of(it.pid)
    it:signal "KILL"
    processes.await_end(guardian)
    guard:release()
    support.wait_for_queue(path, 1)
    assert.equal("", it:out())
    delete_node(path)
  end)

  it("and its guardian, too: the command dies", function()
    local path = support.path()
    local it = start(path, STUBBORN .. forever)
    local pid = pid_of(it)
    local guardian = processes.child_of(it.pid)
    os.execute(("kill -KILL %d %d"):format(it.pid, guardian))
    processes.await_end(pid)
    delete_node(path)
  end)

  it("or only its guardian: the command dies, and the lock is given back",
    function()
      local path = support.path()
      local it = start(path, ("sh -c %s & echo begun; wait"):format(
        command.quote(STUBBORN .. forever)))
      local pid = pid_of(it)
      processes.signal("KILL", processes.child_of(it.pid))
      assert.equal(70, it:wait())
      assert.is_false(processes.is_alive(pid))
      assert.equal(0, support.count_contenders(path))
      assert.truthy(it:err():find "guardian was killed")
    end)

  it("or only its guardian, while it waits: it waits no longer", function()
    local path = support.path()
    support.hold(path)
    local it = start(path, "echo never")
    support.wait_for_queue(path, 2)
    processes.signal("KILL", processes.child_of(it.pid))
    assert.equal(70, it:wait())
    assert.equal("zklock: the guardian was killed: nothing is run\n", it:err())
    support.wait_for_queue(path, 1)
  end)
end)

-- A short session: the lease is what is waited for.
local SHORT = { "--session-timeout", "4", "--grace", "0.5" }

describe("zklock run, stopped", function()
  it("for longer than the lease: the command is gone before somebody else can"
    .. " have the lock", function()
    local path = support.path()
    local it = start(path, STUBBORN .. forever, SHORT)
    local pid = pid_of(it)
    local waiter = support.connect():mutex(path)
    it:signal "STOP"
    processes.await_stop(it.pid)
    assert.truthy(waiter:acquire(60))
    assert.is_false(processes.is_alive(pid))
    it:signal "CONT"
    assert.equal(76, it:wait())
    assert.truthy(it:err():find "the command is ended before somebody else")
  end)

  it("for a moment: it goes on", function()
    local path = support.path()
    local it = start(path, "trap 'exit 3' TERM; " .. forever)
    local pid = pid_of(it)
    it:signal "STOP"
    processes.await_stop(it.pid)
    it:signal "CONT"
    support.wait_until(function() return not processes.is_stopped(it.pid) end)
    assert.is_true(processes.is_alive(pid))
    it:signal "TERM"
    assert.equal(3, it:wait())
  end)
end)

describe("A server that falls silent", function()
  it("ends the command before somebody else can have the lock", function()
    local proxy = require "support.proxy".start()
    local path = support.path()
    local it = start(path, STUBBORN .. forever, SHORT,
      { env = { ZKLOCK_HOSTS = proxy.hosts } })
    local pid = pid_of(it)
    local waiter = support.connect():mutex(path)
    proxy:freeze()
    assert.truthy(waiter:acquire(60))
    assert.is_false(processes.is_alive(pid))
    assert.equal(76, it:wait())
    proxy:heal()
  end)

  it("and comes back soon, does no harm", function()
    local proxy = require "support.proxy".start()
    local path = support.path()
    local it = start(path, "trap 'exit 3' TERM; " .. forever, nil,
      { env = { ZKLOCK_HOSTS = proxy.hosts } })
    local pid = pid_of(it)
    proxy:cut()
    proxy:heal()
    support.sleep(0.3)
    assert.is_true(processes.is_alive(pid))
    it:signal "TERM"
    assert.equal(3, it:wait())
    support.wait_for_queue(path, 0)
  end)

  it("while the command ends by itself: the exit code is kept, if the lock was "
    .. "still ours", function()
    local proxy = require "support.proxy".start()
    local path = support.path()
    local it = start(path, "trap 'exit 3' TERM; " .. forever, nil,
      { env = { ZKLOCK_HOSTS = proxy.hosts } })
    pid_of(it)
    proxy:freeze()
    it:signal "TERM"
    assert.equal(3, it:wait(20))
    proxy:heal()
    support.wait_for_queue(path, 0) -- at the session's end, at the latest
  end)
end)

-- A guardian of `sh -c SCRIPT`, and a program that tells it what is true of the
-- lock, and prints what it says: `heard(word)` hears that.
local PROGRAM = [[
  local uv, now = require "luv", require "zklock".now
  local Keeper = require "zklock.cli.keeper"
  local module = require "zklock.guardian"
  local keeper, guardian, heard
  local start = module.start
  function module.start(plan)
    local descriptor, pid = start(plan)
    guardian = pid
    return descriptor, pid
  end
  keeper = Keeper.start({ words = { "sh", "-c", arg[1] }, path = "/p",
    holder = "us", grace = 60 }, setmetatable({}, {
      __index = function(_, word)
        return function(detail)
          if word == "gone" then os.exit() end
          if word ~= "started" then print(word .. " " .. detail) end
          if heard then heard(word) end
        end
      end,
    }))
  %s
  uv.run()
]]

local function tell(script, said)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write((PROGRAM:gsub("%%s", function() return said end)))
  file:close()
  support.closing(name, os.remove)
  local pipe = io.popen(("timeout -s KILL 30 %s %s %s 2>&1"):format(
    support.lua, name, command.quote(script)))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

describe("A guardian", function()
  local LOST = "failed 76 the lock was lost before it was started\n"

  it("starts nothing without a lease", function()
    assert.equal(LOST, tell("echo never", [[
      function heard() keeper.pipe:close() end
      keeper:run "1"
    ]]))
  end)

  it("starts nothing when the lease is over", function()
    assert.equal(LOST, tell("echo never", [[
      function heard() keeper.pipe:close() end
      keeper:lease(now() - 1, 0)
      keeper:run "1"
    ]]))
  end)

  it("starts nothing when the lock was lost before", function()
    assert.equal(LOST, tell("echo never", [[
      function heard() keeper.pipe:close() end
      keeper:lease(now() + 1000, 1)
      keeper:finish()
      keeper:run "1"
    ]]))
  end)

  it("kills at the end of the lease, though it hears of the loss before it, and"
    .. " whatever the grace", function()
    local ready = os.tmpname()
    support.closing(ready, os.remove)
    os.remove(ready)
    assert.equal("ending lease\nkilling \nsignaled 9\n", tell(
      STUBBORN .. (": >%s; while :; do sleep 0.01; done"):format(ready), [[
        function heard(word)
          if word == "started" then
            while not io.open "]] .. ready .. [[" do uv.sleep(1) end
            keeper:lease(now() + 1, 1000)
          end
          if word == "ending" then keeper:finish() end
        end
        keeper:lease(now() + 1000, 1)
        keeper:run "1"
      ]]))
  end)

  it("that could not run for a while hears all that was said before it looks"
    .. " at the clock", function()
    assert.equal("signaled 15\n", tell("exec sleep 1000", [[
      local function is_stopped()
        local file = io.open(("/proc/%d/stat"):format(guardian))
        local text = file:read "*a"
        file:close()
        return text:find "%) T"
      end
      function heard(word)
        if word ~= "started" then return end
        uv.kill(guardian, "sigstop")
        while not is_stopped() do uv.sleep(1) end
        for _ = 1, 50 do keeper:lease(now() - 1, 0) end
        keeper:lease(now() + 1000, 1)
        uv.kill(guardian, "sigcont")
        keeper:signal(15)
      end
      keeper:lease(now() + 1000, 1)
      keeper:run "1"
    ]]))
  end)
end)
