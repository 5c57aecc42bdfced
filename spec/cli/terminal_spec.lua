-- `zklock run` in a terminal: job control, Ctrl-C, Ctrl-S, the window's size,
-- and the line that says that it waits.
local command = require "support.command"
local processes = require "support.processes"
local runs = require "cli.runs"
local support = require "support"
local Terminal = require "support.terminal"

-- (What is typed before the shell has given the terminal's modes to the command
-- may never be a line to that: whoever types waits for a word of it.)

-- (A shell that starts programs by vfork, as dash does, does not stop where a
-- child of its own does before it is a program: who is to stop is none.)

-- A terminal in which `run` stands for `zklock run PATH`, with these options.
local function open(path, ...)
  local words = runs.words(path, {}, { ... })
  local terminal = Terminal.open()
  local name = command.file(("exec %s \"$@\"\n"):format(command.line(words)))
  terminal:type("run() { sh " .. name .. ' "$@"; }; clear')
  terminal:expect "^ready%$ $"
  return terminal, "sh " .. name
end

local BEGUN = "run sh -c 'echo begun; exec sleep 100'"
local READY = "ready%$ $"

-- Types, presses (a key in parentheses), and waits for patterns, in turn.
local function talk(terminal, ...)
  for i, word in ipairs { ... } do
    if i % 2 == 0 then
      terminal:expect(word)
    elseif word:find "^%(" then
      terminal:press(word:sub(2, -2))
    else
      terminal:type(word)
    end
  end
end

-- Runs this in a terminal, and stops it; its process.
local function run_and_stop(terminal, script)
  talk(terminal, "run " .. script, "\npid %d+%s")
  local pid = tonumber(terminal:screen():match "\npid (%d+)%s")
  talk(terminal, "(C-z)", "Stopped.*" .. READY)
  return pid
end

describe("In a terminal zklock run", function()
  it("gives the terminal to the command, and takes it back", function()
    local terminal = open(support.path())
    talk(terminal, "run sh -c 'echo begun; cat'", "\nbegun%s",
      "hello", "hello\nhello%s", "(C-d)", "hello\nhello\n" .. READY)
    -- In front of a pipe, too.
    talk(terminal, "clear", "^" .. READY,
      "run sh -c 'echo begun; read line; echo got $line' | cat", "\nbegun%s",
      "hello", "got hello\n" .. READY)
  end)

  it("lets an interactive shell have job control of its own", function()
    local terminal = open(support.path())
    talk(terminal, "run env PS1='inner> ' bash --norc --noprofile -i",
      "\ninner> $", "set -o | grep monitor", "monitor +%s*on\ninner> $",
      -- (A key that comes before the command runs is the shell's, and takes
      -- with it what was typed and has not been read.)
      "sh -c 'echo begun; exec cat'", "\nbegun%s",
      "(C-z)", "Stopped[^\n]+exec cat'\ninner> $",
      "fg", "fg\nsh [^\n]*exec cat'%s", -- the shell reads no more
      "still here", "\nstill here\nstill here%s", "(C-c)", "%^C\ninner> $",
      "exit 5", READY, "echo code $?", "code 5")
  end)

  it("ends with the command at Ctrl-C, in front of a pipe, too", function()
    local path = support.path()
    local terminal = open(path)
    -- (Ctrl-C, once: a second one would take away what is typed after it.)
    talk(terminal, BEGUN, "\nbegun%s", "(C-c)", "%^C%s+" .. READY,
      "echo code $?", "code 130")
    support.wait_for_queue(path, 0)
    talk(terminal, "clear", "^" .. READY, BEGUN .. " | cat", "\nbegun%s",
      "(C-c)", "%^C%s+" .. READY)
    support.wait_for_queue(path, 0)
  end)

  it("ends a script at Ctrl-C, as the command alone would", function()
    local terminal, run = open(support.path())
    local script = command.file(BEGUN:gsub("^run", { run = run })
      .. "\necho the script goes on\n")
    talk(terminal, "bash " .. script, "\nbegun%s", "(C-c)", "%^C%s+" .. READY)
    assert.is_nil(terminal:screen():find "goes on")
  end)

  it("stops at Ctrl-Z, and goes on in the foreground, or the background",
  function()
    local path, name = support.path(), command.file ""
    local terminal = open(path)
    local pid = run_and_stop(terminal, "sh -c 'echo pid $$; exec cat'")
    assert.is_true(processes.is_stopped(pid))
    talk(terminal, "fg", "fg\nsh [^\n]*\"$@\"%s", "hello", "hello\nhello%s",
      "(C-d)", "hello\nhello\n" .. READY, "echo code $?", "code 0",
      "clear", "^" .. READY)
    pid = run_and_stop(terminal, ("bash -c 'echo pid $$; "
      .. "while [ -e %s ]; do sleep 0.01; done; echo done'"):format(name))
    assert.is_true(processes.is_stopped(pid))
    talk(terminal, "bg; rm " .. name, "%sdone%s")
    support.wait_for_queue(path, 0)
  end)

  it("stops in the background when the command reads the terminal", function()
    local terminal = open(support.path())
    terminal:type "run sh -c 'read line; echo got $line' &"
    support.wait_until(function()
      terminal:press "Enter"
      return terminal:screen():find "Stopped"
    end, 10)
    talk(terminal, "fg", "fg\nrun [^\n]*%s", "hello", "got hello\n" .. READY)
  end)

  it("tells the command the window's size, and leaves the terminal to a pager "
    .. "behind it", function()
    local terminal = open(support.path())
    talk(terminal, "run bash -c 'trap \"stty size\" WINCH; " .. runs.forever
      :gsub("%$%$", "begun") .. "'", "\npid begun%s")
    terminal:resize(90, 20)
    terminal:expect "\n20 90%s"
    terminal:press "C-c"
    terminal = open(support.path())
    talk(terminal, "run seq 1 1000 | more", "\n20\n.*More", "(q)", READY)
  end)

  it("is not stopped by its own message, if the terminal stops what writes in "
    .. "the background", function()
    local path = support.path()
    local terminal = open(path)
    talk(terminal, "stty tostop; " .. BEGUN, "\nbegun%s")
    runs.delete_node(path)
    terminal:expect "zklock: [^\n]+ was lost"
    terminal:expect(READY)
    talk(terminal, "echo code $?", "code 76")
  end)
end)

describe("In a terminal zklock run, while it waits,", function()
  local WAITS = "zklock: waiting for "

  -- A lock that is held, and what stands before it.
  local function wait(what, options)
    local path = support.path()
    local guard = support.connect():mutex(path, options):acquire(10)
    local terminal = open(path)
    talk(terminal, "run " .. what, WAITS)
    return terminal, guard, path
  end

  it("says who is before it, or why that is not shown, on a line that "
    .. "disappears", function()
    local terminal, guard, path = wait("echo done", { data = "the night job" })
    terminal:expect(("zklock: waiting for %s: 1 ahead, "
      .. "held by \"the night job\", %%d+ s"):format(path:gsub("%-", "%%-")))
    local zk = support.zk()
    local before = zk:acl(path)
    zk:set_acl(path, support.everybody(30))
    terminal:expect "zklock: waiting for [^\n]*: an ACL hides the queue, "
    zk:set_acl(path, before)
    guard:release()
    terminal:expect "run echo done\ndone\nready%$ $"
  end)

  it("leaves the terminal one that blocks", function()
    local terminal, guard = wait(
      "grep flags /proc/self/fdinfo/0 /proc/self/fdinfo/2")
    guard:release()
    terminal:expect "fdinfo/0:flags:%s+%d+\n.*fdinfo/2:flags:%s+%d+\nready%$ $"
    local O_NONBLOCK = "[4-7]%d%d%d\n" -- in octal
    assert.is_nil(terminal:screen():find("flags:%s+%d+" .. O_NONBLOCK))
  end)

  it("leaves the line at Ctrl-C", function()
    local terminal, guard, path = wait "echo never"
    talk(terminal, "(C-c)", READY)
    assert.is_nil(terminal:screen():find "waiting for")
    talk(terminal, "echo code $?", "code 130")
    support.wait_for_queue(path, 1)
    guard:release()
  end)

  it("stops at Ctrl-Z, too", function()
    local terminal, guard = wait "echo granted"
    talk(terminal, "(C-z)", "Stopped")
    guard:release()
    talk(terminal, "fg", "\ngranted\n" .. READY)
  end)

  it("runs the command though the terminal is stopped", function()
    local name = command.file ""
    local terminal, guard, path = wait("sh -c 'echo granted >" .. name .. "'")
    terminal:press "C-s"
    -- The line that is written every two seconds blocks meanwhile.
    local first = terminal:screen()
    support.sleep(3) -- in which two lines are due
    assert.equal(first, terminal:screen())
    guard:release()
    command.await_file(name, "^granted\n$")
    support.wait_for_queue(path, 0)
  end)

  it("runs the command though the terminal has gone", function()
    local name = command.file ""
    local path = support.path()
    local guard, terminal = support.hold(path), open(path)
    talk(terminal, "trap '' HUP; run sh -c 'echo granted >" .. name .. "' &",
      WAITS)
    terminal:close()
    support.sleep(3) -- (the line is written every two seconds)
    guard:release()
    command.await_file(name, "^granted\n$")
    support.wait_for_queue(path, 0)
  end)
end)
