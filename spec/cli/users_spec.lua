-- Commands that change their user (sudo, setpriv, gosu): `zklock run` may not
-- signal them, and keeps the lock for as long as they run.  Here it runs as
-- root, without the right to signal others' processes.
local each = require "support.each"
local processes = require "support.processes"
local runs = require "cli.runs"
local shell = require "support.shell"
local support = require "support"

local WITHOUT_KILL = "setpriv --bounding-set=-kill,-sys_ptrace "
  .. "--inh-caps=-kill,-sys_ptrace "
-- /proc shows it no process of another user.
local HIDDEN = "unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && "
  .. "exec \"$@\"' sh " .. WITHOUT_KILL
local AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups "

local describe_here = shell.run(HIDDEN .. AS_NOBODY .. "true") and describe
  or pending

describe_here("A command that has changed its user", function()
  -- `by`, what is said `to` it then, whether it keeps the lock, its exit code.
  local rows = {
    { "keeps the lock after --max-hold", to = "SIGKILL", kept = true, code = 76,
      by = "--max-hold" },
    { "keeps the lock when a signal is not passed on", to = "SIGTERM",
      by = function(it) it:signal "TERM" end, kept = true, code = 137 },
    { "keeps the lock when the guardian is killed", to = "SIGKILL",
      by = runs.kill_guardian, kept = true, code = 70 },
    { "keeps the lock when the guardian is killed, and /proc hides it",
      to = "SIGKILL", by = runs.kill_guardian, before = HIDDEN, kept = true,
      code = 70 },
    { "loses the lock with a message that it goes on", by = runs.lose,
      to = "SIGTERM: it goes on", code = 76 },
  }

  it("goes on, and keeps the lock", function()
    each(rows, function(row)
      local path = support.path()
      local options = { before = row.before or WITHOUT_KILL }
      local words, by = { "--session-timeout", "10" }, row.by
      if by == "--max-hold" then words, by = runs.outlasting(options, by) end
      for _, word in ipairs { "--grace", "0.2" } do words[#words + 1] = word end
      local it = runs.start(path,
        "echo pid $$; exec " .. AS_NOBODY .. "sleep 1000", words, options)
      local pid = runs.pid_of(it)
      support.closing(pid, function() processes.signal("KILL", pid) end)
      -- Its user is another one, once it is `sleep`.
      support.wait_until(function() return processes.is_named(pid, "sleep") end)
      by(it, path)
      it:expect("as another user and cannot be sent " .. row.to, "err")
      assert.is_true(processes.is_alive(pid))
      if row.kept then
        assert.is_nil(it:status())
        assert.equal(1, support.count_contenders(path))
      end
      processes.signal("KILL", pid)
      assert.equal(row.code, it:wait())
      support.wait_for_queue(path, 0)
    end)
  end)
end)

describe("What zklock run kills", function()
  it("is no child of the shell that has become zklock", function()
    local it = runs.start(support.path(), "echo pid $$; exec sleep 1000", {},
      { before = "sh -c 'sleep 1000 & echo child $!; exec \"$@\"' sh" })
    local child = tonumber(it:expect "child (%d+)\n")
    support.closing(child, function() processes.signal("KILL", child) end)
    local pid = runs.pid_of(it)
    for _, other in ipairs(processes.children(it.pid)) do
      if processes.is_named(other, "zklock-guardian") then
        processes.signal("KILL", other)
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
    local path = support.path()
    local it = runs.start(path, [[setsid python3 -c "
import ctypes, os, threading, time
print('pid', os.getpid(), flush=True)
threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).pthread_exit(None)" & wait]], { "--session-timeout", "10" })
    local pid = runs.pid_of(it)
    processes.await_end(pid) -- so it seems
    runs.lose(it, path)
    assert.equal(76, it:wait())
    assert.is_false(processes.exists(pid))
  end)
end)
