-- `zklock run`: what it runs, under which lock, and how it ends.
local command = require "support.command"
local each = require "support.each"
local output = require "support.shell".output
local read = require "support.files".read
local runs = require "cli.runs"
local run = runs.run
local start_proxy = require "support.proxy".start
local support = require "support"

local unpack = unpack or table.unpack

local HOLD = "echo begun; exec sleep 100"

-- Nobody listens there.
local NOWHERE = { env = { ZKLOCK_HOSTS = "127.0.0.1:1" } }

local function start(path, ...)
  local it = runs.start(path, HOLD, { ... })
  it:expect "begun"
  return it
end

local function end_all(...)
  for _, it in ipairs { ... } do
    it:signal "TERM"
    assert.equal(143, it:wait())
  end
end

describe("zklock run", function()
  it("runs a command with standard input, output and error, and gives the lock "
    .. "back", function()
    local path = support.path()
    local said = run(path, "cat; echo error >&2", {}, { stdin = "one\ntwo\n" })
    assert.same({ code = 0, out = "one\ntwo\n", err = "error\n" }, said)
    assert.equal(0, support.count_contenders(path))
  end)

  it("tells the command whose lock it has, and by which token", function()
    local path, last = support.path(), ""
    for _ = 1, 3 do
      local said = run(path, "echo $ZKLOCK_PATH $ZKLOCK_TOKEN $ZKLOCK_HOLDER",
        { "--data", "night job" })
      local where, token, holder = said.out:match "^(%S+) (%d+) (.*)\n$"
      assert.same({ path, 19, "night job" }, { where, #token, holder })
      assert.is_true(token > last)
      last = token
    end
  end)

  it("says in its node what runs, and where; and with -v where the time went",
  function()
    local path = support.path()
    local it = runs.start(path, "echo $ZKLOCK_HOLDER; exec sleep 100", { "-v" })
    local holder = it:expect "(.-)\n"
    assert.truthy(holder:find("^%S+:" .. it.pid .. " sh$"), holder)
    assert.equal(holder, support.connect():contenders(path)[1].data)
    end_all(it)
    for _, word in ipairs { "connected in", "granted in", "started in",
        "ended after", "released in" } do
      assert.truthy(it:err():find("zklock: " .. word .. " [%d.]+ ms"), word)
    end
  end)

  it("starts the command without a shell", function()
    local said = run(support.path(), { "printf", "%s\n", "$HOME", "a  b", "*",
      "", "--", "-x" })
    assert.equal("$HOME\na  b\n*\n\n--\n-x\n", said.out)
  end)

  it("leaves other descriptors to the command, and none of its own", function()
    local script = "echo three >&3; ls /proc/self/fd"
    local words = command.line(runs.words(support.path(), script))
    local name = command.directory()
    assert.equal("three\nthree\nthe same\n", output(([[
      cd %s; exec 3>three; sh -c '%s' >expected; %s >found
      cat three; diff expected found && echo the same
    ]]):format(name, script, words)))
  end)

  it("runs with closed descriptors", function()
    each({ ["<&-"] = "12", [">&-"] = "02", ["2>&-"] = "01", ["<&- >&-"] = "2",
      ["<&- >&- 2>&-"] = "" }, function(open, closed)
        local path, name = support.path(), command.file ""
        local script = ("for n in 0 1 2; do [ -e /proc/$$/fd/$n ] && "
          .. "printf $n >>%s; done; exit 5"):format(name)
        os.execute(("{ %s; } %s; echo \" $?\" >>%s"):format(
          command.line(runs.words(path, script, { "-v" })), closed, name))
        assert.equal(open .. " 5\n", read(name))
        assert.equal(0, support.count_contenders(path))
      end)
  end)

  it("ends quietly when nobody reads what the command writes, and dies of the "
    .. "pipe if that does", function()
    local words = command.line(runs.words(support.path(),
      "trap '' PIPE; exec yes"))
    assert.equal("y\n", output(("{ %s; echo $? >&2; } 2>&1 | head -n 1 2>&1")
      :format(words)))
    words = command.line(runs.words(support.path(), { "yes" }))
    assert.equal("141\n", output(("{ { %s; echo $? >&3; } | head -n 1 "
      .. ">/dev/null; } 3>&1 2>/dev/null"):format(words)))
  end)

  it("keeps the command's exit code, and says by which signal it ended",
  function()
    local rows = { ["kill -HUP $$"] = 129, ["kill -INT $$"] = 130,
      ["ulimit -c 0; kill -QUIT $$"] = 131, ["kill -KILL $$"] = 137,
      ["kill -TERM $$"] = 143 }
    for _, code in ipairs { 0, 1, 75, 255 } do
      rows["exit " .. code] = code
    end
    each(rows, function(code, script)
      local said = run(support.path(), script)
      assert.same({ code, "" }, { said.code, said.out })
      if script:find "^exit" then assert.equal("", said.err) end
    end)
  end)

  it("exits with 127 when there is no such command, with 126 when it cannot be "
    .. "executed", function()
    local path = support.path()
    for name, code in pairs { ["/no/such/command"] = 127, ["nowhere"] = 127,
      [""] = 127, ["/"] = 126, [command.file("#!/bin/sh\n", "644")] = 126,
      [command.file("#!/no/such/interpreter\n", "755")] = 126 } do
      local said = run(path, { name })
      assert.equal(code, said.code, name)
      assert.matches("zklock: " .. name .. ": ", said.err, 1, true)
      assert.equal(0, support.count_contenders(path))
    end
    assert.equal("zklock: /no/such/command: No such file or directory\n",
      run(path, { "/no/such/command" }).err)
  end)

  it("exits with 75 when the lock is not granted in time", function()
    local path = support.path()
    support.hold(path)
    local said = run(path, { "echo", "never" }, { "--timeout", "3" })
    assert.same({ 75, "" }, { said.code, said.out })
    assert.matches("^zklock: timed out after [%d.]+ s waiting for ", said.err)
    said = run(path, { "echo", "never" }, { "--try" })
    assert.same({ 75, "" }, { said.code, said.out })
    assert.matches("zklock: " .. path, said.err, 1, true)
    assert.equal(1, support.count_contenders(path))
  end)

  it("exits with 69 when no server answers, and waits no longer than for the "
    .. "lock", function()
    for seconds, options in pairs {
      ["0.3"] = { "--connect-timeout", "0.3" },
      ["0.2"] = { "--timeout", "0.2" },
      ["0.4"] = { "--try", "--connect-timeout", "0.4" },
      ["0.5"] = { "--timeout", "0", "--connect-timeout", "0.5" },
    } do
      local said = run("/p", { "echo", "never" }, options, NOWHERE)
      assert.same({ 69, "" }, { said.code, said.out })
      assert.matches("^zklock: no server of 127%.0%.0%.1:1 answered", said.err)
      assert.matches("within " .. seconds .. " s", said.err, 1, true)
    end
  end)

  it("waits for a connection with --try, and takes a free lock", function()
    each({ { "--timeout", "0" }, { "--try" } }, function(words)
      local path, proxy = support.path(), start_proxy()
      proxy:refuse()
      words[#words + 1] = "--verbose"
      local it = runs.start(path, "echo done", words,
        { env = { ZKLOCK_HOSTS = proxy.hosts } })
      it:expect("no connection to", "err")
      proxy:heal()
      assert.equal(0, it:wait())
      assert.equal("done\n", it:out())
    end)
  end)

  it("exits with 77 where an ACL forbids it, and says that a run could not be "
    .. "noted", function()
    local path, zk = support.path(), support.zk()
    local only = support.everybody
    zk:make(path)
    zk:set_acl(path, only(17))
    local said = run(path, { "echo", "never" })
    assert.same({ 77, "" }, { said.code, said.out })
    assert.matches("^zklock: ZooKeeper refused .*" .. path:gsub("%p", "%%%0"),
      said.err)
    zk:set_acl(path, only(31))
    zk:create(path .. ".once", { acl = only(1) })
    said = run(path, { "echo", "ran" }, { "--once-per", "0.001" })
    assert.same({ 0, "ran\n" }, { said.code, said.out })
    assert.matches("^zklock: the run could not be noted, so the next one is "
      .. "not spared: ", said.err)
  end)

  it("asks the command by SIGTERM when it is asked to let go", function()
    runs.check { { "revoke", code = 7, out = "done\n",
      script = "trap 'echo done; exit 7' TERM; " .. runs.forever,
      by = function(_, path)
        assert.equal(1, support.connect():revoke(path))
      end,
      err = "zklock: another client asks for %s: the command is sent SIGTERM\n",
    } }
  end)
end)

describe("zklock run's lock", function()
  it("is the mutex of the path, or a side of its rwlock", function()
    local path, session = support.path(), support.connect()
    local lock = support.connect():rwlock(path)
    local it = start(path)
    assert.equal("mutex", session:contenders(path)[1].mode)
    assert.equal("busy", select(3, session:mutex(path):try_acquire()))
    end_all(it)
    assert.truthy(session:mutex(path):acquire(10)):release { wait = true }
    local first, second = start(path, "--shared"), start(path, "-s")
    assert.equal("busy", select(3, lock.write:try_acquire()))
    assert.truthy(lock.read:try_acquire()):release()
    end_all(first, second)
    it = start(path, "--exclusive")
    assert.equal("busy", select(3, lock.read:try_acquire()))
    assert.equal("write", session:contenders(path)[1].mode)
    end_all(it)
  end)

  it("is with --permits one of so many", function()
    local path = support.path()
    local first, second = start(path, "-p", "2"), start(path, "--permits", "2")
    assert.equal(75, run(path, { "true" }, { "-p", "2", "--try" }).code)
    end_all(first)
    assert.equal(0, run(path, { "true" }, { "-p", "2", "-t", "20" }).code)
    end_all(second)
  end)

  it("is refused with 75 beside one of another kind, unless it shares the path",
    function()
      for kind, options in pairs { ["a mutex"] = {},
        ["a readers-writer lock"] = { "-s" }, ["a semaphore"] = { "-p", "2" } }
      do
        local path = support.path()
        local it = start(path, unpack(options))
        local second = kind == "a mutex" and "-x" or nil
        local said = run(path, { "echo", "run" }, { second })
        assert.same({ 75, "" }, { said.code, said.out })
        assert.matches(("zklock: %s is in use as %s (by \""):format(path, kind),
          said.err, 1, true)
        said = run(path, { "echo", "run" }, { "--share-path", second })
        assert.same({ 0, "run\n" }, { said.code, said.out })
        end_all(it)
      end
    end)
end)
