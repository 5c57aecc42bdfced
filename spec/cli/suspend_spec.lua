-- A machine that is suspended while a command runs under a lock: the clock of
-- leases has counted that, and what poll(2) counts has not.  The session
-- timeout is so long that what waits by the latter waits for a minute and more.
local command = require "support.command"
local new_suspension = require "support.suspension".new
local processes = require "support.processes"
local start_server = require "support.server".start
local support = require "support"

local STUBBORN = "trap '' TERM INT HUP; "
local forever = "echo pid $$; while :; do sleep 0.01; done"

describe("After a suspend #stock #once", function()
  local server, this

  setup(function()
    server = start_server(1, "--config maxSessionTimeout=1200000")
  end)
  teardown(function() server:stop() end)

  before_each(function()
    support.start()
    this = { path = support.path() }
  end)
  after_each(support.finish)

  -- The command's process, once it runs.
  local function start(words, script, options)
    local all = { "run", "-v", "--session-timeout", "1200" }
    for _, word in ipairs(words) do all[#all + 1] = word end
    for _, word in ipairs { this.path, "--", "sh", "-c", script or forever } do
      all[#all + 1] = word
    end
    this.suspension = new_suspension(options)
    this.suspension.env.ZKLOCK_HOSTS = server.hosts
    this.it = command.start(all, { env = this.suspension.env })
    this.it:expect("started in", "err")
    return tonumber(this.it:expect "pid (%d+)\n")
  end

  for _, system in ipairs { "timers of that clock", "no such timers" } do
    local options = { no_timers = system == "no such timers" }

    it("that outlasts the lease the command is killed at once, with " .. system,
      function()
        local pid = start({}, STUBBORN .. forever, options)
        this.suspension:sleep(2000)
        processes.await_end(pid, 5)
        assert.equal(76, this.it:wait())
        assert.truthy(this.it:err():find "the command is ended")
      end)

    it("it is, too, where `zklock run` is stopped, with " .. system, function()
      local pid = start({}, STUBBORN .. forever, options)
      this.it:signal "STOP"
      processes.await_stop(this.it.pid)
      this.suspension:sleep(2000)
      processes.await_end(pid, 5)
      this.it:signal "CONT"
      assert.equal(76, this.it:wait())
    end)
  end

  it("that the lease outlasts it goes on", function()
    start({}, "trap 'exit 3' TERM; trap 'echo here' USR1; " .. forever)
    this.suspension:sleep(30)
    this.it:signal "USR1"
    this.it:expect "here"
    this.it:signal "TERM"
    assert.equal(3, this.it:wait())
  end)

  it("that outlasts --max-hold it is ended", function()
    local pid = start({ "--max-hold", "200" })
    this.suspension:sleep(220)
    processes.await_end(pid, 5)
    assert.equal(76, this.it:wait())
    assert.truthy(this.it:err():find("--max-hold", 1, true))
  end)

  it("that outlasts the grace it is killed", function()
    local pid = start({ "--grace", "200" },
      "trap 'echo asked' TERM; trap '' INT HUP; " .. forever)
    local guardian = processes.child_of(this.it.pid)
    this.it:signal "KILL" -- so the guardian, alone, ends the command
    this.it:expect "asked"
    processes.await_rest(guardian)
    this.suspension:sleep(220)
    processes.await_end(pid, 5)
  end)

  it("that outlasts --timeout a waiter gives up", function()
    start {}
    local it = command.start({ "run", "--session-timeout", "1200", "--timeout",
      "200", this.path, "--", "true" }, { env = this.suspension.env })
    support.wait_for_queue(this.path, 2, server.hosts)
    this.suspension:sleep(220)
    assert.equal(75, it:wait(5))
    this.it:signal "TERM"
    this.it:wait()
  end)
end)
