-- Commands that change their user (sudo, setpriv, gosu): `zklock run` may not
-- signal them, and keeps the lock for as long as they run.  Here it runs as
-- root, without the right to signal others' processes.
local lfs = require "lfs"
local command = require "support.command"
local processes = require "support.processes"
local shell = require "support.shell"
local support = require "support"

local WITHOUT_KILL = "setpriv --bounding-set=-kill,-sys_ptrace "
  .. "--inh-caps=-kill,-sys_ptrace "
-- /proc shows it no process of another user.
local HIDDEN = "unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && "
  .. "exec \"$@\"' sh " .. WITHOUT_KILL
local AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups "

local can_change = shell.run(HIDDEN .. AS_NOBODY .. "true")

local function start_through(before, path, ...)
  local words = { "run", "--session-timeout", "10", "--grace", "0.2", ... }
  for _, word in ipairs { path, "--", "sh", "-c",
    "echo pid $$; exec " .. AS_NOBODY .. "sleep 1000" } do
    words[#words + 1] = word
  end
  local it = command.start(words, { before = before })
  local pid = tonumber(it:expect "pid (%d+)\n")
  support.closing(pid, function() processes.signal("KILL", pid) end)
  -- Its user is another one, once it is `sleep`.
  support.wait_until(function()
    return shell.run(("grep -q sleep /proc/%d/comm"):format(pid))
  end)
  return it, pid
end

local function start(path, ...)
  return start_through(WITHOUT_KILL, path, ...)
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

  for what, before in pairs { [""] = WITHOUT_KILL,
      [", and /proc hides it"] = HIDDEN } do
    it("keeps the lock when the guardian is killed" .. what, function()
      local path = support.path()
      local it, pid = start_through(before, path)
      processes.signal("KILL", processes.child_of(it.pid))
      it:expect("as another user and cannot be sent SIGKILL", "err")
      check_kept(it, pid, path)
      processes.signal("KILL", pid)
      assert.equal(70, it:wait())
      support.wait_for_queue(path, 0)
    end)
  end

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

describe("What zklock run kills", function()
  before_each(support.start)
  after_each(support.finish)

  local function start_with(script, options, before)
    local words = { "run" }
    for _, word in ipairs(options) do words[#words + 1] = word end
    for _, word in ipairs { support.path(), "--", "sh", "-c", script } do
      words[#words + 1] = word
    end
    return command.start(words, { before = before })
  end

  it("is, after the guardian's death, also what has left the group", function()
    local it = start_with(
      "setsid sh -c 'echo pid $$; exec sleep 1000' & wait", {})
    local pid = tonumber(it:expect "pid (%d+)\n")
    processes.signal("KILL", processes.child_of(it.pid))
    assert.equal(70, it:wait())
    assert.is_false(processes.is_alive(pid))
    assert.truthy(it:err():find("killed, and so was the command\n", 1, true))
  end)

  it("is no child of the shell that has become zklock", function()
    local it = start_with("echo pid $$; exec sleep 1000", {},
      "sh -c 'sleep 1000 & echo child $!; exec \"$@\"' sh")
    local child = tonumber(it:expect "child (%d+)\n")
    support.closing(child, function() processes.signal("KILL", child) end)
    local pid = tonumber(it:expect "pid (%d+)\n")
    for name in lfs.dir "/proc" do
      local stat = tonumber(name) and processes.is_named(tonumber(name),
        "zklock-guardian")
      if stat and processes.parent_of(tonumber(name)) == it.pid then
        processes.signal("KILL", tonumber(name))
      end
    end
    assert.equal(70, it:wait())
    assert.is_false(processes.is_alive(pid))
    assert.is_true(processes.is_alive(child))
    assert.truthy(it:err():find("except processes that have left its group", 1,
      true))
  end)

  -- Its state is that of a process that has ended.
  it("is also a process whose first thread has ended", function()
    local it = start_with([[setsid python3 -c "
import ctypes, os, threading, time
print('pid', os.getpid(), flush=True)
threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).pthread_exit(None)" & wait]], { "--max-hold", "1" })
    local pid = tonumber(it:expect "pid (%d+)\n")
    assert.equal(76, it:wait())
    assert.is_false(processes.exists(pid))
  end)
end)
