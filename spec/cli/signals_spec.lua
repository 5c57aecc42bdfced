-- Signals to `zklock run`: while it waits they end it, and its place in the
-- queue; while the command runs they are the command's.
local command = require "support.command"
local processes = require "support.processes"
local support = require "support"

local numbers = { HUP = 1, INT = 2, QUIT = 3, TERM = 15 }

local function in_shell(path, script, ...)
  local words = { "run", ... }
  for _, word in ipairs { path, "--", "sh", "-c", script } do
    words[#words + 1] = word
  end
  return command.start(words)
end

before_each(support.start)
after_each(support.finish)

describe("A signal while zklock run waits", function()
  for name, number in pairs(numbers) do
    it("ends it, and its node: SIG" .. name, function()
      local path = support.path()
      support.hold(path)
      local it = in_shell(path, "echo never")
      support.wait_for_queue(path, 2)
      it:signal(name)
      assert.equal(128 + number, it:wait())
      assert.equal("", it:out() .. it:err())
      support.wait_for_queue(path, 1)
    end)
  end

  it("ends it though no server answers", function()
    local proxy = require "support.proxy".start()
    local path = support.path()
    support.hold(path)
    local it = command.start({ "run", path, "--", "true" },
      { env = { ZKLOCK_HOSTS = proxy.hosts } })
    support.wait_for_queue(path, 2)
    proxy:freeze()
    it:signal "TERM"
    assert.equal(143, it:wait(10))
    proxy:heal()
    support.wait_for_queue(path, 1)
  end)

  it("ends it while it connects", function()
    local proxy = require "support.proxy".start()
    proxy:freeze()
    local it = command.start({ "run", "/p", "--", "true" },
      { env = { ZKLOCK_HOSTS = proxy.hosts } })
    support.wait_until(function() return processes.child_of(it.pid) end, 10,
      "its guardian")
    local begun = support.now()
    support.wait_until(function() -- (before it has handlers it dies of it)
      it:signal "TERM"
      return it:status()
    end, 10)
    assert.equal(143, it:status())
    assert.is_true(support.now() - begun < 6 + support.slack)
  end)

  it("(SIGINT) ends it while it loads #stock", function()
    local said = command.run({ "run", support.path(), "--", "echo", "never" },
      { env = { LUA_INIT = "package.preload.luv = function() "
        .. "io.popen('kill -INT $PPID'):close() end" } })
    assert.same({ code = 130, out = "", err = "" }, said)
  end)

  it("stays ignored if it was", function()
    local path = support.path()
    local guard = support.hold(path)
    local words = command.line { "run", path, "--", "sh", "-c",
      "kill -HUP $$; echo alive" }
    local name = os.tmpname()
    support.closing(name, os.remove)
    local pipe = io.popen(("trap '' HUP; echo $$ >%s; exec %s"):format(name,
      words))
    support.wait_for_queue(path, 2)
    processes.signal("HUP", tonumber(require "support.files".read(name)))
    guard:release()
    assert.equal("alive\n", pipe:read "*a")
    pipe:close()
  end)
end)

describe("A signal while the command runs", function()
  for name, number in pairs(numbers) do
    it("is the command's: SIG" .. name, function()
      local path = support.path()
      local it = in_shell(path, ([[
        trap 'echo got %s; exit 7' %s
        echo begun
        while :; do sleep 0.01; done
      ]]):format(name, name))
      it:expect "begun"
      it:signal(name)
      assert.equal(7, it:wait())
      assert.equal("begun\ngot " .. name .. "\n", it:out())
    end)

    it("ends it, if it ends the command: SIG" .. name, function()
      local path = support.path()
      local it = in_shell(path, "ulimit -c 0; echo begun; exec sleep 100")
      it:expect "begun"
      it:signal(name)
      assert.equal(128 + number, it:wait())
      assert.equal(0, support.count_contenders(path))
    end)
  end

  for _, name in ipairs { "USR1", "USR2", "WINCH" } do
    it("is the command's, too: SIG" .. name, function()
      local it = in_shell(support.path(), ([[
        trap 'echo got %s; exit 7' %s
        echo begun
        while :; do sleep 0.01; done
      ]]):format(name, name))
      it:expect "begun"
      it:signal(name)
      assert.equal(7, it:wait())
    end)
  end

  it("does not end it, if it does not end the command", function()
    local path = support.path()
    local it = in_shell(path, [[
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
    it:signal "KILL"
    it:wait()
    support.zk():delete(path .. "/" .. support.zk():queue(path)[1])
  end)

  it("reaches the command's children", function()
    local it = in_shell(support.path(), [[
      sh -c 'trap "echo child; exit" TERM; echo begun
             while :; do sleep 0.01; done' &
      wait
    ]])
    it:expect "begun"
    it:signal "TERM"
    assert.equal(143, it:wait())
    assert.equal("begun\nchild\n", it:out())
  end)

  it("lets the lock pass when the command's children have ended, too",
    function()
      local path = support.path()
      local it = in_shell(path, [[
        sh -c 'trap "sleep 0.5; echo ended; exit" TERM; echo $$
               while :; do sleep 0.01; done' &
        wait
      ]])
      local child = tonumber(it:expect "(%d+)\n")
      it:signal "TERM"
      support.wait_for_queue(path, 0)
      assert.is_false(processes.is_alive(child))
      assert.truthy(it:out():find "ended")
      assert.equal(143, it:wait())
    end)

  it("kills after the grace what the command has left", function()
    local path = support.path()
    local it = in_shell(path, [[
      sh -c 'trap "" TERM; echo $$; while :; do sleep 0.01; done' &
      wait
    ]], "--grace", "0.5")
    local child = tonumber(it:expect "(%d+)\n")
    it:signal "TERM"
    assert.equal(143, it:wait())
    assert.is_false(processes.is_alive(child))
    assert.equal("zklock: the command did not end in time: it is killed\n",
      it:err())
  end)
end)
