-- `zklock watch`, and what asks on a terminal: with pipes, and on a terminal of
-- tmux's.
local command = require "support.command"
local each = require "support.each"
local json = require "dkjson"
local support = require "support"
local Terminal = require "support.terminal"

-- A terminal in which zklock runs, behind other output, and its exit code is
-- said.  (Ctrl-C is sent to the shell as well.)
local function open(...)
  local terminal = Terminal.open(100, 20)
  terminal:type("clear; sh " .. command.file(
    ("trap : INT; echo before; %s; echo code $?"):format(
      command.line { ... })))
  return terminal
end

local function first_node(path) return support.zk():queue(path)[1] end

describe("zklock watch into a pipe", function()
  it("writes a line for each change", function()
    local path = support.path()
    local it = command.start { "watch", "-i", "0.05", path }
    local guard = support.hold(path)
    it:expect "Z granted mutex "
    local session, second = support.connect(), nil
    session:mutex(path):acquire_async(function(got) second = got end)
    it:expect "Z waits   mutex "
    guard:release()
    support.step_until(session, function() return second end, 10)
    it:expect("granted mutex.-\n.-left    mutex.-\n.-granted mutex "
      .. second.node:match("[^/]+$"):gsub("%-", "%%-"))
    second:release()
    it:signal "TERM"
    assert.equal(143, it:wait())
  end)

  it("writes the same as JSON", function()
    local path = support.path()
    local guard = support.hold(path)
    local it = command.start { "watch", "--json", path }
    local row = json.decode(it:expect "^([^\n]+)\n")
    assert.same({ "granted", guard:token(), path },
      { row.change, row.token, row.path })
    it:signal "INT"
    assert.equal(130, it:wait())
  end)

  it("ends quietly at the next change after its reader has gone", function()
    local path = support.path()
    local guard = support.hold(path)
    local said = io.popen(("exec 3>&1; { %s; echo code $? >&3; } 2>&3 "
      .. "| head -n 1"):format(command.line { "watch", path }))
    assert.matches("granted mutex", said:read "*l")
    guard:release()
    assert.equal("code 141\n", said:read "*a")
    said:close()
  end)

  it("survives the loss of its connection, and says so", function()
    local server = require "support.server".start()
    local path = support.path()
    local it = command.start({ "watch", "-i", "0.05", path },
      { env = { ZKLOCK_HOSTS = server.hosts } })
    local _, session = support.hold(path, { hosts = server.hosts })
    it:expect "granted mutex"
    server:kill()
    it:expect("no connection", "err")
    server:restart()
    it:expect("connected again", "err")
    it:signal "TERM"
    assert.equal(143, it:wait())
    session:close()
  end)
end)

it("zklock watch on a terminal prints lines that fit into it", function()
  local path = support.path()
  support.hold(path)
  local on = open("watch", path)
  on:expect "before\n%S+Z granted mutex [^\n]+…"
  on:press "C-c"
  on:expect "code 130"
end)

describe("zklock evict on a terminal", function()
  it("asks, and does what it is told", function()
    each({ no = { "n", "code 1%s" }, ["Ctrl-C"] = { "C-c", "code 130" },
      yes = { "y", "code 0" } }, function(row, name)
        local path = support.path()
        local guard = support.hold(path)
        local on = open("evict", path, first_node(path))
        on:expect "%[y/N%]"
        on:press(row[1])
        if name ~= "Ctrl-C" then on:press "Enter" end
        on:expect(row[2])
        assert.equal(name == "yes" and 0 or 1, support.count_contenders(path))
        assert.equal(name ~= "yes", (guard:verify() or false))
      end)
  end)

  it("deletes no later contender that came by the same name", function()
    local path = support.path()
    local lock = support.connect():mutex(path, { fair = false })
    local guard = assert(lock:acquire(30))
    local on = open("evict", path, "holder")
    on:expect "%[y/N%]"
    local token = guard:token()
    guard:release { wait = true }
    guard = assert(lock:acquire(30))
    on:type "y"
    on:expect "code 1%s"
    local said = "nothing was deleted: the contender holder of " .. path
      .. " with the token " .. token .. " is gone"
    assert.truthy(on:screen():gsub("%s", ""):find((said:gsub("%s", "")), 1,
      true), on:screen())
    assert.is_true(guard:verify())
    guard:release()
  end)
end)
