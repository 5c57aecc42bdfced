-- A standard error or output that blocks keeps no lock, command or signal
-- waiting: a full pipe, a terminal that Ctrl-S has stopped.
local command = require "support.command"
local processes = require "support.processes"
local shell = require "support.shell"
local support = require "support"
local Terminal = require "support.terminal"

-- The name of a full pipe, which a process keeps open and never reads.
local function full_pipe()
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
  return name
end

-- A command that says its process, and runs until it is ended.
local FOREVER = "echo pid $$; exec sleep 1000"

local function run(path, options, script)
  local words = { "run", "--session-timeout", "10" }
  for _, word in ipairs(options) do words[#words + 1] = word end
  for _, word in ipairs { path, "--", "sh", "-c", script or FOREVER } do
    words[#words + 1] = word
  end
  return command.start(words, { err = full_pipe() })
end

local function pid_of(it) return tonumber(it:expect "pid (%d+)\n") end

before_each(support.start)
after_each(support.finish)

describe("With a standard error that blocks zklock run", function()
  it("ends the command when the lock is lost", function()
    local path = support.path()
    local it = run(path, {})
    local pid = pid_of(it)
    local zk = support.zk()
    zk:delete(path .. "/" .. zk:queue(path)[1])
    processes.await_end(pid)
    assert.equal(76, it:wait())
  end)

  it("gives the lock back after --max-hold", function()
    local path = support.path()
    local it = run(path, { "--max-hold", "0.2" })
    pid_of(it)
    support.wait_for_queue(path, 0)
    assert.equal(76, it:wait())
  end)

  it("asks the command when it is asked to let go", function()
    local path = support.path()
    local it = run(path, {})
    pid_of(it)
    assert.equal(1, support.connect():revoke(path))
    assert.equal(143, it:wait())
    support.wait_for_queue(path, 0)
  end)

  it("passes signals on, with -v, too", function()
    local path = support.path()
    local it = run(path, { "-v" })
    pid_of(it)
    it:signal "TERM"
    assert.equal(143, it:wait())
    support.wait_for_queue(path, 0)
  end)

  it("ends with the guardian", function()
    local path = support.path()
    local it = run(path, {})
    local pid = pid_of(it)
    processes.signal("KILL", processes.child_of(it.pid))
    assert.equal(70, it:wait())
    assert.is_false(processes.is_alive(pid))
    support.wait_for_queue(path, 0)
  end)

  it("ends when it is not granted the lock", function()
    local path = support.path()
    support.hold(path)
    assert.equal(75, run(path, { "--try" }):wait())
  end)
end)

describe("With a standard error that blocks zklock watch", function()
  it("goes on, and ends at a signal", function()
    local proxy = require "support.proxy".start()
    local path = support.path()
    local it = command.start({ "watch", "--session-timeout", "4", path },
      { err = full_pipe(), env = { ZKLOCK_HOSTS = proxy.hosts } })
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

-- A shell in a terminal in which `it` stands for zklock with these words.
local function open(...)
  local terminal = Terminal.open()
  terminal:type(("it() { %s \"$@\"; }; clear"):format(command.line { ... }))
  terminal:expect "^ready%$ $"
  return terminal
end

describe("In a stopped terminal zklock", function()
  local function pid_in(terminal, words)
    local name = support.closing(os.tmpname(), os.remove)
    terminal:type(("sh -c 'echo $$ >%s; exec %s'"):format(name,
      command.line(words)))
    return support.wait_until(function()
      local file = io.open(name)
      local pid = file:read "*n"
      file:close()
      return pid
    end, 30, "the command's start")
  end

  it("run begins when it is granted the lock", function()
    local path = support.path()
    local guard = support.hold(path)
    local terminal = open("run", path)
    local name = shell.must "mktemp":match "%S+"
    support.closing(name, os.remove)
    terminal:type("it -- sh -c 'echo granted >" .. name .. "'")
    terminal:expect "zklock: waiting for "
    terminal:press "C-s"
    -- The line that is written every two seconds blocks meanwhile.
    local first = terminal:screen()
    shell.must "sleep 3"
    assert.equal(first, terminal:screen())
    guard:release()
    support.wait_until(function()
      return io.open(name):read "*a" == "granted\n"
    end, 30, "the command's start")
    support.wait_for_queue(path, 0)
  end)

  for _, words in ipairs { { "watch" }, { "watch", "--json" } } do
    it(table.concat(words, " ") .. " ends at a signal", function()
      local path = support.path()
      words[#words + 1] = path
      local guard = support.hold(path)
      local terminal = Terminal.open(300)
      local pid = pid_in(terminal, words)
      terminal:expect "mutex"
      terminal:press "C-s"
      guard:release()
      for _ = 1, 3 do support.hold(support.path()) end
      shell.must "sleep 2"
      processes.signal("TERM", pid)
      processes.await_end(pid)
    end)
  end
end)

describe("In a terminal that stops what writes in the background", function()
  it("zklock run is not stopped by its own message", function()
    local path = support.path()
    local terminal = open("run", path)
    terminal:type "stty tostop"
    terminal:type "it -- sh -c 'echo begun; exec sleep 1000'"
    terminal:expect "\nbegun%s"
    local zk = support.zk()
    zk:delete(path .. "/" .. zk:queue(path)[1])
    terminal:expect "zklock: [^\n]+ was lost"
    terminal:expect "ready%$ $"
    terminal:type "echo code $?"
    terminal:expect "code 76"
  end)
end)
