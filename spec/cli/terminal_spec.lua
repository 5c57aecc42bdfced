-- `zklock run` in a terminal: job control, Ctrl-C, the window's size, and the
-- line that says that it waits.
local command = require "support.command"
local processes = require "support.processes"
local support = require "support"
local Terminal = require "support.terminal"

-- (What is typed before the shell has given the terminal's modes to the command
-- may never be a line to that: whoever types waits for a word of it.)

-- (A shell that starts programs by vfork, as dash does, does not stop where a
-- child of its own does before it is a program: who is to stop is none.)

-- A script in a file: what is typed is short.
local function write(text)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write(text)
  file:close()
  support.closing(name, os.remove)
  return name
end

-- A terminal in which `run` stands for `zklock run PATH`, with these options.
local function open(path, ...)
  local words = { "run", ... }
  words[#words + 1] = path
  words[#words + 1] = "--"
  local terminal = Terminal.open()
  local name = write(("exec %s \"$@\"\n"):format(command.line(words)))
  terminal:type("run() { sh " .. name .. ' "$@"; }; clear')
  terminal:expect "^ready%$ $"
  return terminal, "sh " .. name
end

local forever = "while :; do sleep 0.01; done"

local BEGUN = "run sh -c 'echo begun; exec sleep 100'"

-- Ctrl-C, once: a second one would take away what is typed after it.
local function interrupt(terminal)
  terminal:expect "\nbegun%s"
  terminal:press "C-c"
  terminal:expect "%^C%s+ready%$ $"
end

describe("In a terminal zklock run", function()
  before_each(support.start)
  after_each(support.finish)

  it("gives the terminal to the command, and takes it back", function()
    local terminal = open(support.path())
    terminal:type "run sh -c 'echo begun; cat'"
    terminal:expect "\nbegun%s"
    terminal:type "hello"
    terminal:expect "hello\nhello%s"
    terminal:press "C-d"
    terminal:expect "hello\nhello\nready%$ $"
  end)

  it("lets an interactive shell have job control of its own", function()
    local terminal = open(support.path())
    terminal:type "run env PS1='inner> ' bash --norc --noprofile -i"
    terminal:expect "\ninner> $"
    terminal:type "set -o | grep monitor"
    terminal:expect "monitor +%s*on\ninner> $"
    -- (A key that comes before the command runs is the shell's, and takes with
    -- it what was typed and has not been read.)
    terminal:type "sh -c 'echo begun; exec cat'"
    terminal:expect "\nbegun%s"
    terminal:press "C-z"
    terminal:expect "Stopped[^\n]+exec cat'\ninner> $"
    terminal:type "fg"
    terminal:expect "fg\nsh [^\n]*exec cat'%s" -- the shell reads no more
    terminal:type "still here"
    terminal:expect "\nstill here\nstill here%s"
    terminal:press "C-c"
    terminal:expect "%^C\ninner> $"
    terminal:type "exit 5"
    terminal:expect "ready%$ $"
    terminal:type "echo code $?"
    terminal:expect "code 5"
  end)

  it("ends with the command at Ctrl-C", function()
    local path = support.path()
    local terminal = open(path)
    terminal:type(BEGUN)
    interrupt(terminal)
    terminal:type "echo code $?"
    terminal:expect "code 130"
    support.wait_for_queue(path, 0)
  end)

  it("ends a script at Ctrl-C, as the command alone would", function()
    local path = support.path()
    local terminal, run = open(path)
    local script = write(BEGUN:gsub("^run", { run = run })
      .. "\necho the script goes on\n")
    terminal:type("bash " .. script)
    interrupt(terminal)
    assert.is_nil(terminal:screen():find "goes on")
  end)

  it("stops at Ctrl-Z, and goes on in the foreground", function()
    local path = support.path()
    local terminal = open(path)
    terminal:type "run sh -c 'echo pid $$; exec cat'"
    local pid = tonumber(terminal:expect "\npid (%d+)%s")
    terminal:press "C-z"
    terminal:expect "Stopped.*ready%$ $"
    assert.is_true(processes.is_stopped(pid))
    terminal:type "fg"
    terminal:expect "fg\nsh [^\n]*\"$@\"%s"
    terminal:type "hello"
    terminal:expect "hello\nhello%s"
    terminal:press "C-d"
    terminal:expect "hello\nhello\nready%$ $"
    terminal:type "echo code $?"
    terminal:expect "code 0"
  end)

  it("goes on in the background after Ctrl-Z", function()
    local path = support.path()
    local terminal = open(path)
    local name = write ""
    terminal:type(("run bash -c 'echo pid $$; while [ -e %s ]; do sleep 0.01; "
      .. "done; echo done'"):format(name))
    local pid = tonumber(terminal:expect "\npid (%d+)%s")
    terminal:press "C-z"
    terminal:expect "Stopped.*ready%$ $"
    assert.is_true(processes.is_stopped(pid))
    terminal:type("bg; rm " .. name)
    terminal:expect "%sdone%s"
    support.wait_for_queue(path, 0)
  end)

  it("stops in the background when the command reads the terminal", function()
    local path = support.path()
    local terminal = open(path)
    terminal:type "run sh -c 'read line; echo got $line' &"
    support.wait_until(function()
      terminal:press "Enter"
      return terminal:screen():find "Stopped"
    end, 10)
    terminal:type "fg"
    terminal:expect "fg\nrun [^\n]*%s"
    terminal:type "hello"
    terminal:expect "got hello\nready%$ $"
  end)

  it("that is stopped for longer than the lease ends the command", function()
    local path = support.path()
    local terminal = open(path, "--session-timeout", "4", "--grace", "0.5")
    terminal:type "run sh -c 'echo pid $$; exec sleep 100'"
    local pid = tonumber(terminal:expect "\npid (%d+)%s")
    local waiter = support.connect():mutex(path)
    terminal:press "C-z"
    terminal:expect "Stopped.*ready%$ $"
    assert.truthy(waiter:acquire(60))
    assert.is_false(processes.is_alive(pid))
    terminal:type "fg"
    terminal:expect "zklock: no server has answered for too long"
    terminal:expect "ready%$ $"
    terminal:type "echo code $?"
    terminal:expect "code 76"
  end)

  it("tells the command the window's size", function()
    local terminal = open(support.path())
    terminal:type("run bash -c 'trap \"stty size\" WINCH; echo begun; "
      .. forever .. "'")
    terminal:expect "\nbegun%s"
    terminal:resize(90, 20)
    terminal:expect "\n20 90%s"
    terminal:press "C-c"
  end)

  it("leaves the terminal to a pager behind it", function()
    local terminal = open(support.path())
    terminal:type "run seq 1 1000 | more"
    terminal:expect "\n20\n.*More"
    terminal:press "q"
    terminal:expect "ready%$ $"
  end)

  it("in front of a pipe gives the terminal to the command that reads it",
    function()
      local terminal = open(support.path())
      terminal:type "run sh -c 'echo begun; read line; echo got $line' | cat"
      terminal:expect "\nbegun%s"
      terminal:type "hello"
      terminal:expect "got hello\nready%$ $"
    end)

  it("in front of a pipe ends with the command at Ctrl-C, too", function()
    local path = support.path()
    local terminal = open(path)
    terminal:type(BEGUN .. " | cat")
    interrupt(terminal)
    support.wait_for_queue(path, 0)
  end)

  it("says who is before it while it waits, on a line that disappears",
    function()
      local path = support.path()
      local session = support.connect()
      local guard = session:mutex(path, { data = "the night job" }):acquire(10)
      local terminal = open(path)
      terminal:type "run echo done"
      terminal:expect(("zklock: waiting for %s: 1 ahead of us, "
        .. "held by \"the night job\", %%d+ s"):format(path:gsub("%-", "%%-")))
      guard:release()
      terminal:expect "run echo done\ndone\nready%$ $"
    end)

  it("says of the queue why it is not shown", function()
    local path = support.path()
    local guard = support.hold(path)
    local terminal = open(path)
    terminal:type "run echo done"
    terminal:expect "zklock: waiting for [^\n]*: 1 ahead of us, "
    local zk = support.zk()
    local before = zk:acl(path)
    zk:set_acl(path, { { perms = 30, scheme = "world", id = "anyone" } })
    terminal:expect "zklock: waiting for [^\n]*: an ACL hides the queue, "
    zk:set_acl(path, before)
    guard:release()
    terminal:expect "run echo done\ndone\nready%$ $"
  end)

  it("leaves the terminal one that blocks, though it has waited", function()
    local path = support.path()
    local guard = support.hold(path)
    local terminal = open(path)
    terminal:type "run grep flags /proc/self/fdinfo/0 /proc/self/fdinfo/2"
    terminal:expect "zklock: waiting for "
    guard:release()
    terminal:expect "fdinfo/0:flags:%s+%d+\n.*fdinfo/2:flags:%s+%d+\nready%$ $"
    local O_NONBLOCK = "[4-7]%d%d%d\n" -- in octal
    assert.is_nil(terminal:screen():find("flags:%s+%d+" .. O_NONBLOCK))
  end)

  it("leaves the line at Ctrl-C", function()
    local path = support.path()
    support.hold(path)
    local terminal = open(path)
    terminal:type "run echo never"
    terminal:expect "zklock: waiting for "
    terminal:press "C-c"
    terminal:expect "ready%$ $"
    assert.is_nil(terminal:screen():find "waiting for")
    terminal:type "echo code $?"
    terminal:expect "code 130"
    support.wait_for_queue(path, 1)
  end)

  it("stops at Ctrl-Z while it waits, too", function()
    local path = support.path()
    local guard = support.hold(path)
    local terminal = open(path)
    terminal:type "run echo granted"
    terminal:expect "zklock: waiting for "
    terminal:press "C-z"
    terminal:expect "Stopped"
    guard:release()
    terminal:type "fg"
    terminal:expect "\ngranted\nready%$ $"
  end)

  it("runs the command though the terminal has gone while it waited", function()
    local path = support.path()
    local guard = support.hold(path)
    local terminal = open(path)
    local name = write ""
    terminal:type("trap '' HUP; run sh -c 'echo granted >" .. name .. "' &")
    terminal:expect "zklock: waiting for "
    terminal:close()
    -- (The line is written every two seconds.)
    support.sleep(3)
    guard:release()
    support.wait_until(function()
      local file = io.open(name)
      local text = file:read "*a"
      file:close()
      return text == "granted\n"
    end, 30, "the command's start")
    support.wait_for_queue(path, 0)
  end)
end)
