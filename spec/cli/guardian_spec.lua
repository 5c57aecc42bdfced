-- The command does not outlive the lock: what is lost, who is killed, and who
-- does not want to go.
local command = require "support.command"
local output = require "support.shell".output
local processes = require "support.processes"
local runs = require "cli.runs"
local support = require "support"

local forever, lose, stubborn = runs.forever, runs.lose, runs.stubborn

-- A script in which this one runs as a part.
local function part(script, before, after)
  return ("%ssh -c %s %s"):format(before or "", command.quote(script),
    after or "& wait")
end

-- (Its parents are gone.)
local DAEMON = part(("(%secho pid $(sh -c 'echo $PPID'); "
  .. "while :; do sleep 0.01; done) &"):format(stubborn), "setsid ",
  "; while :; do sleep 0.01; done")

it("A command whose lock is lost", function()
  runs.check {
    { "is ended, and zklock run exits with 76 (T63)", by = lose, code = 76,
      script = "trap 'echo ended; exit 0' TERM; " .. forever, out = "ended\n",
      err = "zklock: %s was lost (node_deleted): the command is ended\n"
        .. "zklock: the hold of %s was lost: its node was deleted\n" },
    { "is killed after the grace period if it ignores SIGTERM (T62)", by = lose,
      script = stubborn .. forever, words = { "--grace", "0.3" }, code = 76,
      says = "the command did not end in time: it is killed" },
    { "has the grace to end", by = lose, words = { "--grace", "60" },
      script = "trap 'sleep 0.5; echo tidy; exit' TERM; " .. forever,
      code = 76, out = "tidy\n" },
    { "is ended with its group", by = lose, words = { "--grace", "0.3" },
      script = part(stubborn .. forever), code = 76 },
    { "is ended with a grandchild in a session of its own", by = lose,
      script = part(forever, "setsid "), code = 76 },
    { "is ended with a daemon that ignores signals", by = lose,
      script = DAEMON, words = { "--grace", "0.3" }, code = 76 },
    { "is ended though it is stopped",
      script = "trap 'echo ended; exit' TERM; " .. forever, code = 76,
      by = function(_, path, pid)
        processes.signal("STOP", pid)
        processes.await_stop(pid)
        runs.delete_node(path)
      end,
      out = "ended\n" },
    { "has run for as long as --max-hold allows", script = stubborn .. forever,
      by = "--max-hold", words = { "--grace", "0.3" }, code = 76,
      says = "--max-hold" },
  }
end)

it("What a command leaves behind", function()
  runs.check {
    { "goes on, if it has ended by itself", code = 0, lives = true,
      script = part(forever, "", "</dev/null 2>/dev/null & sleep 0.2") },
    { "is ended, if the command was killed", code = 137,
      script = part(forever, "", "& echo leader $$; wait"),
      by = function(it)
        processes.signal("KILL", tonumber(it:expect "leader (%d+)"))
      end },
  }
end)

it("When zklock run is killed,", function()
  runs.check {
    { "the command ends", by = runs.kill, out = "ended\n",
      script = "trap 'echo ended; exit' TERM; " .. forever },
    { "a command that ignores SIGTERM ends", by = runs.kill,
      script = stubborn .. forever, words = { "--grace", "0.3" } },
    { "a command that has left its process group ends", by = runs.kill,
      script = part(stubborn .. forever, "setsid "),
      words = { "--grace", "0.3" } },
    { "and its guardian, too, the command ends", script = stubborn .. forever,
      by = function(it, path)
        os.execute(("kill -KILL %d %d"):format(it.pid,
          processes.child_of(it.pid)))
        it:wait()
        runs.delete_node(path)
      end },
    { "or only its guardian, the command ends, and the lock is released",
      script = part(stubborn .. forever, "setsid "), by = runs.kill_guardian,
      code = 70, says = "guardian was killed, and so was the command\n" },
  }
end)

describe("zklock run, killed while it waits,", function()
  it("runs nothing", function()
    local path = support.path()
    local guard = support.hold(path)
    local it = runs.start(path, "echo never")
    support.wait_for_queue(path, 2)
    local guardian = processes.child_of(it.pid)
    it:signal "KILL"
    processes.await_end(guardian)
    guard:release()
    support.wait_for_queue(path, 1)
    assert.equal("", it:out())
    runs.delete_node(path)
  end)

  it("or only its guardian: it waits no longer", function()
    local path = support.path()
    support.hold(path)
    local it = runs.start(path, "echo never")
    support.wait_for_queue(path, 2)
    runs.kill_guardian(it)
    assert.equal(70, it:wait())
    assert.equal("zklock: the guardian was killed: nothing is run\n", it:err())
    support.wait_for_queue(path, 1)
  end)
end)

-- A short session: the lease is what is waited for.
local SHORT = { "--session-timeout", "4", "--grace", "0.5" }

-- Another session gets the lock: the command is gone by then.
local function wait_for_lock(waiter, pid)
  assert.truthy(waiter:acquire(60))
  assert.is_false(processes.is_alive(pid))
end

it("When zklock run is stopped", function()
  runs.check {
    { "for longer than the lease, the command ends before another client gets "
      .. "the lock", script = stubborn .. forever, words = SHORT,
      by = function(it, path, pid)
        local waiter = support.connect():mutex(path)
        runs.stop(it)
        wait_for_lock(waiter, pid)
        it:signal "CONT"
      end,
      code = 76, left = 1,
      says = "the command is ended before another process" },
    { "for a moment, the command "
      .. "continues", script = "trap 'exit 3' TERM; " .. forever,
      by = function(it, _, pid)
        runs.stop(it)
        it:signal "CONT"
        support.wait_until(function()
          return not processes.is_stopped(it.pid)
        end)
        assert.is_true(processes.is_alive(pid))
        it:signal "TERM"
      end,
      code = 3 },
  }
end)

it("A server that falls silent", function()
  runs.check {
    { "ends the command before somebody else can have the lock", proxy = true,
      script = stubborn .. forever, words = SHORT, code = 76, left = 1,
      by = function(_, path, pid, proxy)
        local waiter = support.connect():mutex(path)
        proxy:freeze()
        wait_for_lock(waiter, pid)
      end },
    { "and comes back soon, does no harm", proxy = true,
      script = "trap 'exit 3' TERM; " .. forever, code = 3,
      by = function(it, _, pid, proxy)
        proxy:cut()
        proxy:heal()
        support.sleep(0.3) -- in which the command could be ended
        assert.is_true(processes.is_alive(pid))
        it:signal "TERM"
      end },
  }
end)

it("A command that ends while the server is silent keeps its exit code, if the "
  .. "lock was still ours", function()
  local proxy = require "support.proxy".start()
  local path = support.path()
  local it = runs.start(path, "trap 'exit 3' TERM; " .. forever,
    { "--session-timeout", "10" }, { env = { ZKLOCK_HOSTS = proxy.hosts } })
  runs.pid_of(it)
  proxy:freeze()
  it:signal "TERM"
  assert.equal(3, it:wait(20))
  proxy:heal()
  support.wait_for_queue(path, 0) -- at the session's end, at the latest
end)

-- A guardian of `sh -c SCRIPT`, and a program that tells it what is true of the
-- lock, and prints what it says: `heard(word)` hears that.
local PROGRAM = [[
  local uv, now = require "luv", require "zklock".now
  local GuardianClient = require "zklock.cli.guardian_client"
  local module = require "zklock.guardian"
  local guardian_client, guardian, heard
  local start = module.start
  function module.start(words)
    local descriptor, pid = start(words)
    guardian = pid
    return descriptor, pid
  end
  guardian_client = GuardianClient.start({ "sh", "-c", arg[1] },
    function(word, detail)
      if word == "gone" then os.exit() end
      if word ~= "started" then print(word .. " " .. detail) end
      if heard then heard(word) end
    end)
  %s
  uv.run()
]]

local function tell(script, said)
  local name = command.file((PROGRAM:gsub("%%s", function() return said end)))
  return output(("timeout -s KILL 30 %s %s %s 2>&1"):format(
    support.lua, name, command.quote(script)))
end

describe("A guardian", function()
  it("starts nothing without a lease, or when it is over, or the lock was lost",
    function()
      for _, before in ipairs { "", "guardian_client:lease(now() - 1, 0)",
          "guardian_client:lease(now() + 1000, 1)\n"
            .. "guardian_client:say 'end'" } do
        assert.equal("failed 76 the lock was lost before it was started\n",
          tell("echo never", ([[
            function heard() guardian_client.pipe:close() end
            %s
            guardian_client:say "run 60000000000 -1 1"
          ]]):format(before)), before)
      end
    end)

  it("kills at the end of the lease, though it hears of the loss before it, and"
    .. " whatever the grace", function()
    local ready = command.file ""
    os.remove(ready)
    assert.equal("ending lease\nkilling \nsignaled 9\n", tell(
      stubborn .. (": >%s; while :; do sleep 0.01; done"):format(ready), [[
        function heard(word)
          if word == "started" then
            while not io.open "]] .. ready .. [[" do uv.sleep(1) end
            guardian_client:lease(now() + 1, 1000)
          end
          if word == "ending" then guardian_client:say "end" end
        end
        guardian_client:lease(now() + 1000, 1)
        guardian_client:say "run 60000000000 -1 1"
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
        for _ = 1, 50 do guardian_client:lease(now() - 1, 0) end
        guardian_client:lease(now() + 1000, 1)
        uv.kill(guardian, "sigcont")
        guardian_client:say "signal 15"
      end
      guardian_client:lease(now() + 1000, 1)
      guardian_client:say "run 60000000000 -1 1"
    ]]))
  end)
end)
