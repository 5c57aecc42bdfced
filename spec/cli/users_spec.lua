-- Commands that change their user (sudo, setpriv, gosu): `zklock run` may not
-- signal them, and keeps the lock for as long as they run.  Here it runs as
-- root, without the right to signal others' processes.
local command = require "support.command"
local processes = require "support.processes"
local shell = require "support.shell"
local support = require "support"

local WITHOUT_KILL = "setpriv --bounding-set=-kill --inh-caps=-kill "
local AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups "

local can_change = shell.run(WITHOUT_KILL .. AS_NOBODY .. "true")

local function start(path, ...)
  local words = { "run", "--session-timeout", "10", "--grace", "0.2", ... }
  for _, word in ipairs { path, "--", "sh", "-c",
    "echo pid $$; exec " .. AS_NOBODY .. "sleep 1000" } do
    words[#words + 1] = word
  end
  local it = command.start(words, { before = WITHOUT_KILL })
  local pid = tonumber(it:expect "pid (%d+)\n")
  support.closing(pid, function() processes.signal("KILL", pid) end)
  -- Its user is another one, once it is `sleep`.
  support.wait_until(function()
    return shell.run(("grep -q sleep /proc/%d/comm"):format(pid))
  end)
  return it, pid
end

local function check_kept(it, pid, path)
  assert.is_nil(it:status())
  assert.is_true(processes.is_alive(pid))
  assert.equal(1, support.count_contenders(path))
end

local describe_here = can_change and describe or pending

describe_here("A command that has changed its user", function()
  before_each(support.start)
  after_each(support.finish)

  it("keeps the lock after --max-hold", function()
    local path = support.path()
    local it, pid = start(path, "--max-hold", "0.3")
    it:expect("as another user and cannot be sent SIGKILL", "err")
    check_kept(it, pid, path)
    processes.signal("KILL", pid)
    assert.equal(76, it:wait())
    support.wait_for_queue(path, 0)
  end)

  it("keeps the lock when a signal is not passed on", function()
    local path = support.path()
    local it, pid = start(path)
    it:signal "TERM"
    it:expect("as another user and cannot be sent SIGTERM", "err")
    check_kept(it, pid, path)
    processes.signal("KILL", pid)
    assert.equal(137, it:wait())
  end)

  it("keeps the lock when the guardian is killed", function()
    local path = support.path()
    local it, pid = start(path)
    processes.signal("KILL", processes.child_of(it.pid))
    it:expect("as another user and cannot be killed", "err")
    check_kept(it, pid, path)
    processes.signal("KILL", pid)
    assert.equal(70, it:wait())
    support.wait_for_queue(path, 0)
  end)

  it("loses the lock with a message that it goes on", function()
    local path = support.path()
    local it, pid = start(path)
    local zk = support.zk()
    zk:delete(path .. "/" .. zk:queue(path)[1])
    it:expect("as another user and cannot be sent SIGTERM: it goes on", "err")
    assert.is_true(processes.is_alive(pid))
    processes.signal("KILL", pid)
    assert.equal(76, it:wait())
  end)
end)

describe("A command whose guardian is killed", function()
  before_each(support.start)
  after_each(support.finish)

  it("is killed with what has left its group", function()
    local path = support.path()
    local it = command.start { "run", path, "--", "sh", "-c",
      "setsid sh -c 'echo pid $$; exec sleep 1000' & wait" }
    local pid = tonumber(it:expect "pid (%d+)\n")
    processes.signal("KILL", processes.child_of(it.pid))
    assert.equal(70, it:wait())
    assert.is_false(processes.is_alive(pid))
    support.wait_for_queue(path, 0)
  end)
end)
