-- `zklock watch`, and what asks on a terminal: with pipes, and on a terminal of
-- tmux's.
local command = require "support.command"
local json = require "dkjson"
local support = require "support"

local WIDTH, HEIGHT = 100, 20

local function output_of(line)
  local pipe = io.popen(line)
  local text = pipe:read "*a"
  pipe:close()
  return text
end

-- A terminal: `type`, `screen`, `ask`, `resize`; closed with the test.
local function terminal(words)
  assert(output_of "command -v tmux" ~= "",
    "these specs need tmux, which is not installed")
  local name = "zklock-" .. support.path():gsub("%W", "-")
  local function tmux(rest)
    return output_of(("tmux -L %s -f /dev/null %s 2>&1"):format(name, rest))
  end
  local self = {}
  function self.close() tmux "kill-server" end
  function self.type(keys) tmux("send-keys " .. keys) end
  function self.screen() return tmux "capture-pane -p" end
  function self.ask(what) return tmux("display -p '" .. what .. "'") end
  function self.resize(width, height)
    tmux(("resize-window -x %d -y %d"):format(width, height))
  end
  function self.await(pattern)
    local shown
    local ok = pcall(support.wait_until, function()
      shown = self.screen()
      return shown:find(pattern)
    end, 15)
    if not ok then error(("no %q on:\n%s"):format(pattern, shown), 2) end
    return shown
  end
  support.closing(self)
  -- The shell is tmux's, and does not have our environment.  Ctrl-C is sent to
  -- it as well, and may come before it waits for what it has begun.
  local script = ("trap : INT; echo before; %s; echo code $?; exec cat"):format(
    command.line(words, { env = { LUA_PATH = os.getenv "LUA_PATH",
      LUA_CPATH = os.getenv "LUA_CPATH" } }))
  -- What is on the screen stays there, whatever ends.
  tmux(("new-session -d -x %d -y %d %s ';' set-option remain-on-exit on")
    :format(WIDTH, HEIGHT, command.quote(script)))
  return self
end

local function first_node(path) return support.zk():queue(path)[1] end

before_each(support.start)
after_each(support.finish)

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
    guard:release()
    it:signal "INT"
    assert.equal(130, it:wait())
  end)

  it("ends quietly when its reader goes, though nothing changes", function()
    local path = support.path()
    local guard = support.hold(path)
    local line = command.line { "watch", path }
    local said = output_of(("exec 3>&1; { %s; echo code $? >&3; } 2>&3 "
      .. "| head -n 1"):format(line))
    assert.truthy(said:find "granted mutex")
    local _, lines = said:gsub("\n", "")
    assert.equal(2, lines)
    assert.truthy(said:find "code 141")
    guard:release()
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

describe("zklock watch on a terminal", function()
  it("draws the queue anew, and gives the screen back", function()
    local path = support.path()
    local guard = support.hold(path)
    local on = terminal { "watch", "-i", "0.05", path }
    local screen = on.await "1 holding, 0 waiting"
    assert.is_nil(screen:find "before")
    assert.truthy(screen:find(first_node(path), 1, true))
    assert.equal("0 1\n", on.ask "#{cursor_flag} #{alternate_on}")
    guard:release()
    on.await "0 holding, 0 waiting"
    on.type "C-c"
    screen = on.await "code 130"
    assert.truthy(screen:find "before")
    assert.equal("1 0\n", on.ask "#{cursor_flag} #{alternate_on}")
  end)

  it("fits into a terminal that becomes smaller", function()
    local path = support.path()
    local guard = support.hold(path)
    local on = terminal { "watch", "-i", "1h", path }
    on.await "1 holding"
    on.resize(40, 10)
    on.await "…\n"
    local _, tables = on.screen():gsub("PLACE", "")
    assert.equal(1, tables)
    guard:release()
    on.type "C-c"
    on.await "code 130"
  end)
end)

describe("zklock evict on a terminal", function()
  it("asks, and does what it is told", function()
    local path = support.path()
    local guard = support.hold(path)
    local no = terminal { "evict", path, first_node(path) }
    no.await "%[y/N%]"
    no.type "n Enter"
    no.await "code 1%s"
    assert.is_true(guard:is_held())
    no.close()
    local yes = terminal { "evict", path, first_node(path) }
    yes.await "%[y/N%]"
    yes.type "y Enter"
    yes.await "code 0"
    assert.equal(0, support.count_contenders(path))
    guard:release()
  end)

  it("deletes no later contender that came by the same name", function()
    local path = support.path()
    local lock = support.connect():mutex(path, { fair = false })
    local guard = assert(lock:acquire(30))
    local on = terminal { "evict", path, "holder" }
    on.await "%[y/N%]"
    local token = guard:token()
    guard:release { wait = true }
    guard = assert(lock:acquire(30))
    on.type "y Enter"
    local screen = on.await "code 1%s"
    local said = "nothing was deleted: the contender holder of " .. path
      .. " with the token " .. token .. " is gone"
    assert.truthy(screen:gsub("%s", ""):find((said:gsub("%s", "")), 1, true),
      screen)
    assert.is_true(guard:verify())
    guard:release()
  end)

  it("ends at Ctrl-C while it asks", function()
    local path = support.path()
    local guard = support.hold(path)
    local on = terminal { "evict", path, first_node(path) }
    on.await "%[y/N%]"
    on.type "C-c"
    on.await "code 130"
    assert.is_true(guard:is_held())
    guard:release()
  end)
end)
