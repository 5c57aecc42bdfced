-- A standard error or output that blocks keeps no lock, command or signal
-- waiting: a full pipe, a terminal that Ctrl-S has stopped.
local command = require "support.command"
local each = require "support.each"
local processes = require "support.processes"
local runs = require "cli.runs"
local shell = require "support.shell"
local support = require "support"
local Terminal = require "support.terminal"

-- Options for a command: its standard error is a full pipe, which a process
-- keeps open and never reads.
local function into_full_pipe()
  local name = shell.must "mktemp -u":match "%S+"
  shell.must("mkfifo -m 600 " .. name)
  local reader = io.popen(([[
    exec 3<>%s
    dd if=/dev/zero of=%s bs=4096 oflag=nonblock 2>/dev/null
    echo $$
    exec sleep 1000]]):format(name, name))
  local pid = reader:read "*n"
  support.closing(name, function()
    processes.signal("KILL", pid)
    reader:close()
    os.remove(name)
  end)
  return { err = name }
end

describe("With a standard error that blocks", function()
  it("zklock run", function()
    runs.check({
      { "ends the command when the lock is lost", by = runs.lose, code = 76 },
      { "gives the lock back after --max-hold", by = "--max-hold",
        code = 76 },
      { "asks the command when it is asked to let go", code = 143,
        by = function(_, path)
          assert.equal(1, support.connect():revoke(path))
        end },
      { "passes signals on, with -v, too", words = { "-v" }, by = "TERM",
        code = 143 },
      { "ends with the guardian", by = runs.kill_guardian, code = 70 },
    }, into_full_pipe)
  end)

  it("zklock run ends when it is not granted the lock", function()
    local path = support.path()
    support.hold(path)
    assert.equal(75, runs.start(path, runs.forever, { "--try" },
      into_full_pipe()):wait())
  end)

  it("zklock watch goes on, and ends at a signal", function()
    local proxy = require "support.proxy".start()
    local path, options = support.path(), into_full_pipe()
    options.env = { ZKLOCK_HOSTS = proxy.hosts }
    local it = command.start({ "watch", "--session-timeout", "4", path },
      options)
    local first = support.hold(path)
    it:expect "granted"
    proxy:cut()
    first:release()
    support.hold(path)
    proxy:heal()
    it:expect "left.*granted"
    it:signal "TERM"
    assert.equal(143, it:wait())
  end)
end)

describe("In a stopped terminal zklock watch", function()
  it("ends at a signal, with --json, too", function()
    each({ { "watch" }, { "watch", "--json" } }, function(words)
      local path, name = support.path(), command.file ""
      words[#words + 1] = path
      local guard = support.hold(path)
      local terminal = Terminal.open(300)
      terminal:type(("sh -c 'echo $$ >%s; exec %s'"):format(name,
        command.line(words)))
      terminal:expect "mutex"
      terminal:press "C-s"
      guard:release()
      for _ = 1, 3 do support.hold(support.path()) end
      support.sleep(2) -- in which it writes more than the terminal takes
      local pid = tonumber(command.await_file(name, "(%d+)\n"))
      processes.signal("TERM", pid)
      processes.await_end(pid)
    end)
  end)
end)
