-- A machine that is suspended while a command runs under a lock: the clock of
-- leases has counted that, and what poll(2) counts has not.  The session
-- timeout is so long that what waits by the latter waits for a minute and more.
local new_suspension = require "support.suspension".new
local each = require "support.each"
local processes = require "support.processes"
local runs = require "cli.runs"
local start_server = require "support.server".start
local support = require "support"

local stubborn = runs.stubborn .. runs.forever

describe("After a suspend #stock", function()
  local server

  setup(function()
    server = start_server(1, "--config maxSessionTimeout=1200000")
  end)
  teardown(function() server:stop() end)

  -- The command, its process, and its machine.
  local function start(path, script, words, options)
    local all = { "-v", "--session-timeout", "1200" }
    for _, word in ipairs(words or {}) do all[#all + 1] = word end
    local suspension = new_suspension(options)
    suspension.env.ZKLOCK_HOSTS = server.hosts
    local it = runs.start(path, script, all, { env = suspension.env })
    it:expect("started in", "err")
    return it, runs.pid_of(it), suspension
  end

  it("that outlasts the lease the command is killed at once", function()
    each({ ["timers of that clock"] = {}, ["no such timers"] =
      { no_timers = true } }, function(options)
        local it, pid, suspension = start(support.path(), stubborn, {}, options)
        suspension:sleep(2000)
        processes.await_end(pid, 5)
        assert.equal(76, it:wait())
        assert.truthy(it:err():find "the command is ended")
        -- It is, too, where `zklock run` is stopped.
        it, pid, suspension = start(support.path(), stubborn, {}, options)
        runs.stop(it)
        suspension:sleep(2000)
        processes.await_end(pid, 5)
        it:signal "CONT"
        assert.equal(76, it:wait())
      end)
  end)

  it("that outlasts --max-hold it is ended, and the grace, it is killed",
  function()
    local it, pid, suspension = start(support.path(), runs.forever,
      { "--max-hold", "200" })
    suspension:sleep(220)
    processes.await_end(pid, 5)
    assert.equal(76, it:wait())
    assert.truthy(it:err():find("--max-hold", 1, true))

    it, pid, suspension = start(support.path(),
      "trap 'echo asked' TERM; trap '' INT HUP; " .. runs.forever,
      { "--grace", "200" })
    local guardian = processes.child_of(it.pid)
    it:signal "KILL" -- so the guardian, alone, ends the command
    it:expect "asked"
    processes.await_rest(guardian)
    suspension:sleep(220)
    processes.await_end(pid, 5)
  end)
end)
