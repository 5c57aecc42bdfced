-- Signals to `zklock run`: while it waits they end it, and its place in the
-- queue; while the command runs they are the command's.
local command = require "support.command"
local each = require "support.each"
local processes = require "support.processes"
local read = require "support.files".read
local runs = require "cli.runs"
local start_proxy = require "support.proxy".start
local support = require "support"

local numbers = { HUP = 1, INT = 2, QUIT = 3, TERM = 15 }

describe("A signal while zklock run waits", function()
  it("ends zklock run and deletes its node", function()
    each(numbers, function(number, name)
      local path = support.path()
      support.hold(path)
      local it = runs.start(path, "echo never")
      support.wait_for_queue(path, 2)
      it:signal(name)
      assert.equal(128 + number, it:wait())
      assert.equal("", it:out() .. it:err())
      support.wait_for_queue(path, 1)
    end)
  end)

  it("runs nothing, though the lock is granted at the same time", function()
    local path = support.path()
    local guard = support.hold(path)
    local it = runs.start(path, "echo never")
    support.wait_for_queue(path, 2)
    runs.stop(it)
    it:signal "TERM"
    guard:release { wait = true }
    it:signal "CONT"
    assert.equal(143, it:wait())
    assert.equal("", it:out() .. it:err())
    support.wait_for_queue(path, 0)
  end)

  it("ends it while it connects", function()
    local proxy = start_proxy()
    proxy:freeze()
    local it = runs.start("/p", "true", {},
      { env = { ZKLOCK_HOSTS = proxy.hosts } })
    support.wait_until(function() return processes.child_of(it.pid) end, 10,
      "its guardian")
    support.wait_until(function() -- (before it has handlers it dies of it)
      it:signal "TERM"
      return it:status()
    end, 10)
    assert.equal(143, it:status())
  end)

  it("(SIGINT) ends it while it loads #stock", function()
    local said = runs.run(support.path(), "echo never", {},
      { env = { LUA_INIT = "package.preload.luv = function() "
        .. "io.popen('kill -INT $PPID'):close() end" } })
    assert.same({ code = 130, out = "", err = "" }, said)
  end)

  it("stays ignored if it was", function()
    local path, name = support.path(), command.file ""
    local guard = support.hold(path)
    local pipe = io.popen(("trap '' HUP; echo $$ >%s; exec %s"):format(name,
      command.line(runs.words(path, "kill -HUP $$; echo alive"))))
    support.wait_for_queue(path, 2)
    processes.signal("HUP", tonumber(read(name)))
    guard:release()
    assert.equal("alive\n", pipe:read "*a")
    pipe:close()
  end)
end)

-- A script that exits with 7 at this signal.
local function trap(name)
  return ("trap 'echo got %s; exit 7' %s; "):format(name, name) .. runs.forever
end

describe("A signal while the command runs", function()
  it("reaches the command", function()
    local rows = {}
    for _, name in ipairs { "HUP", "INT", "QUIT", "TERM", "USR1", "USR2",
        "WINCH" } do
      rows[#rows + 1] = { "SIG" .. name, script = trap(name), by = name,
        code = 7, out = "got " .. name .. "\n" }
    end
    runs.check(rows)
  end)

  it("reaches the command's children, and does not pass them by", function()
    local child = [[
      sh -c 'trap "%s" TERM; echo pid $$; while :; do sleep 0.01; done' &
      wait]]
    runs.check {
      { "reaches the command's children", by = "TERM", code = 143,
        script = child:format "echo child; exit", out = "child\n" },
      { "releases the lock after the command's children have ended",
        script = child:format "sleep 0.5; echo ended; exit",
        by = function(it, path, pid)
          it:signal "TERM"
          support.wait_for_queue(path, 0)
          assert.is_false(processes.is_alive(pid))
        end,
        code = 143, out = "ended\n" },
      { "kills after the grace what the command has left", by = "TERM",
        script = child:format "", words = { "--grace", "0.5" }, code = 143,
        err = "zklock: the command did not end in time: it is killed\n" },
    }
  end)

  it("does not end it, if it does not end the command", function()
    local path = support.path()
    local it = runs.start(path, [[
      trap 'echo got TERM' TERM
      echo begun
      while ! [ -e /nonexistent ]; do sleep 0.01; done
    ]])
    it:expect "begun"
    for n = 1, 3 do
      it:signal "TERM"
      it:expect(("got TERM\n"):rep(n))
    end
    assert.is_nil(it:status())
    assert.equal(1, support.count_contenders(path))
    runs.kill(it, path)
  end)
end)
