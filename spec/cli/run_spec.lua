-- `zklock run`: what it runs, under which lock, and how it ends.
local command = require "support.command"
local start_proxy = require "support.proxy".start
local support = require "support"

local unpack = unpack or table.unpack

local function run(path, words, ...)
  local all = { "run", ... }
  all[#all + 1] = path
  all[#all + 1] = "--"
  for _, word in ipairs(words) do all[#all + 1] = word end
  return command.run(all)
end

local function run_words(options, ...)
  local words = { "run" }
  for _, word in ipairs(options) do words[#words + 1] = word end
  for _, word in ipairs { ... } do words[#words + 1] = word end
  return words
end

local function write_script(text, mode)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write(text)
  file:close()
  os.execute(("chmod %s %s"):format(mode, name))
  support.closing(name, os.remove)
  return name
end

before_each(support.start)
after_each(support.finish)

describe("zklock run", function()
  it("runs a command, and gives the lock back", function()
    local path = support.path()
    local said = run(path, { "echo", "hello" })
    assert.same({ code = 0, out = "hello\n", err = "" }, said)
    assert.equal(0, support.count_contenders(path))
  end)

  it("holds the lock meanwhile", function()
    local path = support.path()
    local it = command.start { "run", path, "--", "sh", "-c",
      "echo begun; exec sleep 100" }
    it:expect "begun"
    local session = support.connect()
    local guard, _, code = session:mutex(path):try_acquire()
    assert.is_nil(guard)
    assert.equal("busy", code)
    it:signal "TERM"
    assert.equal(143, it:wait())
    assert.truthy(session:mutex(path):acquire(10))
  end)

  it("tells the command whose lock it has", function()
    local path = support.path()
    local said = run(path, { "sh", "-c",
      "echo $ZKLOCK_PATH $ZKLOCK_TOKEN $ZKLOCK_HOLDER" }, "--data", "night job")
    local where, token, holder = said.out:match "^(%S+) (%S+) (.*)\n$"
    assert.equal(path, where)
    assert.truthy(token:find "^%d+$")
    assert.equal(19, #token)
    assert.equal("night job", holder)
  end)

  it("says in its node what runs, and where", function()
    local path = support.path()
    local it = command.start { "run", path, "--", "sh", "-c",
      "echo $ZKLOCK_HOLDER; exec sleep 100" }
    local holder = it:expect "(.-)\n"
    assert.truthy(holder:find("^%S+:" .. it.pid .. " sh$"), holder)
    assert.equal(holder, support.connect():contenders(path)[1].data)
    it:signal "TERM"
    it:wait()
  end)

  it("gives a token that grows", function()
    local path, last = support.path(), ""
    for _ = 1, 3 do
      local token = run(path, { "sh", "-c", "echo $ZKLOCK_TOKEN" }).out
      assert.is_true(token > last)
      last = token
    end
  end)

  it("uses no shell", function()
    local said = run(support.path(), { "printf", "%s\n", "$HOME", "a  b", "*",
      "", "--", "-x" })
    assert.equal("$HOME\na  b\n*\n\n--\n-x\n", said.out)
  end)

  it("passes standard input, output and error through", function()
    local said = command.run({ "run", support.path(), "--", "sh", "-c",
      "cat; echo error >&2" }, { stdin = "one\ntwo\n" })
    assert.same({ code = 0, out = "one\ntwo\n", err = "error\n" }, said)
  end)

  it("leaves other descriptors to the command, and none of its own", function()
    local script = "echo three >&3; ls /proc/self/fd"
    local words = command.line { "run", support.path(), "--", "sh", "-c",
      script }
    local name = os.tmpname()
    support.closing(name, os.remove)
    local pipe = io.popen(([[
      exec 3>%s; sh -c '%s' >%s.expected; %s >%s.found
      cat %s; diff %s.expected %s.found && echo the same
    ]]):format(name, script, name, words, name, name, name,
      name))
    assert.equal("three\nthree\nthe same\n", pipe:read "*a")
    pipe:close()
    os.remove(name .. ".expected")
    os.remove(name .. ".found")
  end)

  for closed, open in pairs { ["<&-"] = "12", [">&-"] = "02", ["2>&-"] = "01",
      ["<&- >&-"] = "2", ["<&- >&- 2>&-"] = "" } do
    it("runs with closed descriptors: " .. closed, function()
      local name = os.tmpname()
      support.closing(name, os.remove)
      local path = support.path()
      local words = command.line { "run", "-v", path, "--", "sh", "-c",
        ("for n in 0 1 2; do [ -e /proc/$$/fd/$n ] && printf $n >>%s; done; "
          .. "exit 5"):format(name) }
      os.execute(("{ %s; } %s; echo \" $?\" >>%s"):format(words, closed,
        name))
      assert.equal(open .. " 5\n", require "support.files".read(name))
      assert.equal(0, support.count_contenders(path))
    end)
  end

  it("ends quietly when nobody reads what the command writes", function()
    local words = command.line({ "run", support.path(), "--", "sh", "-c",
      "trap '' PIPE; exec yes" })
    local pipe = io.popen(("{ %s; echo $? >&2; } 2>&1 | head -n 1 2>&1")
      :format(words))
    assert.equal("y\n", pipe:read "*a")
    pipe:close()
  end)

  it("dies of the pipe like the command, if that does", function()
    local words = command.line({ "run", support.path(), "--", "yes" })
    local pipe = io.popen(("{ { %s; echo $? >&3; } | head -n 1 >/dev/null; }"
      .. " 3>&1 2>/dev/null"):format(words))
    assert.equal("141\n", pipe:read "*a")
    pipe:close()
  end)

  for _, code in ipairs { 0, 1, 3, 64, 75, 125, 255 } do
    it(("keeps the command's exit code %d"):format(code), function()
      local said = run(support.path(), { "sh", "-c", "exit " .. code })
      assert.same({ code = code, out = "", err = "" }, said)
    end)
  end

  for name, number in pairs { HUP = 1, INT = 2, KILL = 9, TERM = 15 } do
    it(("exits with %d when SIG%s has ended the command"):format(128 + number,
        name), function()
      local said = run(support.path(), { "sh", "-c", ("kill -%s $$")
        :format(name) })
      assert.equal(128 + number, said.code)
    end)
  end

  it("exits with 127 when there is no such command", function()
    local path = support.path()
    local said = run(path, { "/no/such/command" })
    assert.equal(127, said.code)
    assert.equal("zklock: /no/such/command: No such file or directory\n",
      said.err)
    assert.equal(0, support.count_contenders(path))
    assert.equal(127, run(path, { "no-such-command-anywhere" }).code)
    assert.equal(127, run(path, { "" }).code)
  end)

  it("exits with 126 when it cannot be executed", function()
    local path = support.path()
    for _, name in ipairs {
      write_script("#!/bin/sh\n", "644"),
      write_script("#!/no/such/interpreter\n", "755"),
      "/",
    } do
      local said = run(path, { name })
      assert.equal(126, said.code)
      assert.truthy(said.err:find("zklock: " .. name .. ": ", 1, true))
    end
  end)

  it("exits with 75 when the lock is not granted in time", function()
    local path = support.path()
    support.hold(path)
    local said = run(path, { "echo", "never" }, "--timeout", "3")
    assert.equal(75, said.code)
    assert.equal("", said.out)
    assert.matches("^zklock: timed out after [%d.]+ s waiting for ", said.err)
    assert.equal(1, support.count_contenders(path))
  end)

  it("exits with 75 at once with --try", function()
    local path = support.path()
    support.hold(path)
    local said = run(path, { "echo", "never" }, "--try")
    assert.equal(75, said.code)
    assert.equal("", said.out)
    assert.truthy(said.err:find("zklock: " .. path, 1, true), said.err)
  end)

  it("exits with 69 when no server answers", function()
    local said = command.run({ "run", "--connect-timeout", "0.3", "/p", "--",
      "echo", "never" }, { env = { ZKLOCK_HOSTS = "127.0.0.1:1" } })
    assert.equal(69, said.code)
    assert.equal("", said.out)
    assert.truthy(said.err:find "^zklock: no server of 127%.0%.0%.1:1 answered")
  end)

  it("waits for a server no longer than for the lock", function()
    local begun = support.now()
    local said = command.run({ "run", "--timeout", "0.2", "/p", "--", "true" },
      { env = { ZKLOCK_HOSTS = "127.0.0.1:1" } })
    assert.equal(69, said.code)
    assert.truthy(said.err:find "within 0%.2 s", said.err)
    assert.is_true(support.now() - begun < 8 + support.slack)
  end)

  for _, how in ipairs { { "--timeout", "0" }, { "--try" } } do
    local words = table.concat(how, " ")

    it("waits for a connection with " .. words .. ", and takes a free lock",
    function()
      local path, proxy = support.path(), start_proxy()
      proxy:refuse()
      local it = command.start(run_words(how, "--verbose", path, "--", "echo",
        "done"), { env = { ZKLOCK_HOSTS = proxy.hosts } })
      it:expect("no connection to", "err")
      proxy:heal()
      assert.equal(0, it:wait())
      assert.equal("done\n", it:out())
    end)

    it("waits with " .. words .. " as long as --connect-timeout says",
    function()
      local said = command.run(run_words(how, "--connect-timeout", "0.3",
        "/p", "--", "true"), { env = { ZKLOCK_HOSTS = "127.0.0.1:1" } })
      assert.equal(69, said.code)
      assert.truthy(said.err:find "within 0%.3 s", said.err)
    end)
  end

  it("exits with 64 when it is not understood", function()
    local function refuses(pattern, words)
      local said = command.run(words)
      assert.equal(64, said.code)
      assert.equal("", said.out)
      assert.truthy(said.err:find("^zklock: .*" .. pattern), said.err)
    end
    refuses("what is to be run", { "run", "/p" })
    refuses("what is to be run", { "run", "/p", "--" })
    refuses("PATH", { "run", "--", "true" })
    refuses("PATH must be absolute", { "run", "p", "--", "true" })
    refuses("PATH must not", { "run", "/a//b", "--", "true" })
    refuses("can not be used together",
      { "run", "--exclusive", "--shared", "/p", "--", "true" })
    refuses("can not be used together",
      { "run", "--try", "--timeout", "1", "/p", "--", "true" })
    refuses('"x" is no time', { "run", "--grace", "x", "/p", "--", "true" })
    refuses('"0" is no whole number', { "run", "-p", "0", "/p", "--", "true" })
    refuses("unknown option '%-%-nonsense'",
      { "run", "--nonsense", "/p", "--", "true" })
    refuses("unknown command 'walk'", { "walk", "/p" })
    refuses("'%-%-' goes with 'zklock run'", { "ls", "/p", "--", "true" })
  end)

  it("keeps two commands apart, and in order", function()
    local path = support.path()
    local script = "echo begin; sleep 0.2; echo end"
    local log = os.tmpname()
    support.closing(log, os.remove)
    local all = {}
    for i = 1, 5 do
      all[i] = command.start { "run", path, "--", "sh", "-c",
        ("{ echo begin; sleep 0.05; echo end; } >>%s"):format(log, script) }
    end
    for i = 1, 5 do assert.equal(0, all[i]:wait()) end
    assert.equal(("begin\nend\n"):rep(5), require "support.files".read(log))
  end)
end)

describe("zklock run's lock", function()
  local function start(path, ...)
    local words = { "run", ... }
    for _, word in ipairs { path, "--", "sh", "-c",
        "echo begun; exec sleep 100" } do
      words[#words + 1] = word
    end
    local it = command.start(words)
    it:expect "begun"
    return it
  end

  local function end_all(...)
    for _, it in ipairs { ... } do
      it:signal "TERM"
      assert.equal(143, it:wait())
    end
  end

  it("is the mutex of the path", function()
    local path = support.path()
    local it = start(path)
    assert.equal("mutex", support.connect():contenders(path)[1].mode)
    end_all(it)
  end)

  it("is with --shared the read side of its rwlock, with others", function()
    local path = support.path()
    local first, second = start(path, "--shared"), start(path, "-s")
    local lock = support.connect():rwlock(path)
    assert.equal("busy", select(3, lock.write:try_acquire()))
    assert.truthy(lock.read:try_acquire()):release()
    end_all(first, second)
  end)

  it("is with --exclusive the write side", function()
    local path = support.path()
    local it = start(path, "--exclusive")
    assert.equal("busy",
      select(3, support.connect():rwlock(path).read:try_acquire()))
    assert.equal("write", support.connect():contenders(path)[1].mode)
    end_all(it)
  end)

  it("is with --permits one of so many", function()
    local path = support.path()
    local first, second = start(path, "-p", "2"), start(path, "--permits", "2")
    assert.equal(75, run(path, { "true" }, "-p", "2", "--try").code)
    end_all(first)
    assert.equal(0, run(path, { "true" }, "-p", "2", "-t", "20").code)
    end_all(second)
  end)

  it("is refused with 75 beside one of another kind, unless it shares the path",
    function()
      local ways = {
        { kind = "a mutex" },
        { "-x", kind = "a readers-writer lock" },
        { "-s", kind = "a readers-writer lock" },
        { "-p", "2", kind = "a semaphore" },
      }
      for _, first in ipairs(ways) do
        local path = support.path()
        local it = start(path, unpack(first))
        for _, second in ipairs(ways) do
          if second.kind ~= first.kind then
            local said = run(path, { "echo", "run" }, unpack(second))
            assert.equal(75, said.code)
            assert.equal("", said.out)
            assert.truthy(said.err:find(("zklock: %s is in use as %s (by \"")
              :format(path, first.kind), 1, true), said.err)
            said = run(path, { "echo", "run" }, "--share-path", unpack(second))
            assert.equal(0, said.code)
            assert.equal("run\n", said.out)
          end
        end
        end_all(it)
        assert.equal(0, run(path, { "true" }, "-t", "20").code)
      end
    end)
end)

describe("zklock run, asked to let go", function()
  it("asks the command, by SIGTERM", function()
    local path = support.path()
    local it = command.start { "run", path, "--", "sh", "-c",
      "trap 'echo done; exit 7' TERM; echo begun; "
        .. "while :; do sleep 0.01; done" }
    it:expect "begun"
    assert.equal(1, support.connect():revoke(path))
    assert.equal(7, it:wait())
    assert.equal("begun\ndone\n", it:out())
    assert.equal(("zklock: another client asks for %s: the command is sent "
      .. "SIGTERM\n"):format(path),
      (it:err():gsub("Terminated\n", ""))) -- (sh's)
  end)
end)

describe("zklock run -v", function()
  it("says where the time went", function()
    local said = run(support.path(), { "true" }, "-v")
    assert.equal(0, said.code)
    for _, word in ipairs { "connected in", "granted in", "started in",
        "ended after", "released in" } do
      assert.truthy(said.err:find("zklock: " .. word .. " [%d.]+ ms"), word)
    end
  end)
end)

describe("zklock run --once-per", function()
  local function once(path, period, words)
    return run(path, words or { "echo", "ran" }, "--once-per", period)
  end

  it("runs once in a period", function()
    local path = support.path()
    assert.same({ code = 0, out = "ran\n", err = "" }, once(path, "1h"))
    assert.same({ code = 0, out = "", err = "" }, once(path, "1h"))
    assert.same({ code = 0, out = "", err = "" }, once(path, "2d"))
    local stat = support.zk():exists(path .. ".once")
    assert.equal("0x", stat.owner) -- persistent
  end)

  it("runs again when the period is over", function()
    local path = support.path()
    assert.equal("ran\n", once(path, "0.2s").out)
    support.sleep(0.25)
    assert.equal("ran\n", once(path, "0.2s").out)
    assert.equal("", once(path, "1m").out)
  end)

  it("counts no run that has failed", function()
    local path = support.path()
    assert.equal(3, once(path, "1h", { "sh", "-c", "exit 3" }).code)
    assert.is_false(support.zk():exists(path .. ".once"))
    assert.equal("ran\n", once(path, "1h").out)
  end)

  it("lets one of many run", function()
    local path, all, ran = support.path(), {}, ""
    for i = 1, 6 do
      all[i] = command.start { "run", "--once-per", "1h", path, "--", "sh",
        "-c", "sleep 0.1; echo ran" }
    end
    for i = 1, 6 do
      assert.equal(0, all[i]:wait())
      ran = ran .. all[i]:out()
    end
    assert.equal("ran\n", ran)
  end)

  it("takes turns with session:once", function()
    local path, session = support.path(), support.connect()
    assert.is_true(session:once(path, { per = 3600 }, function() end))
    assert.equal("", once(path, "1h").out)
    support.zk():delete(path .. ".once")
    assert.equal("ran\n", once(path, "1h").out)
    assert.is_false(session:once(path, { per = 3600 }, error))
  end)

  it("says with -v that it does not run", function()
    local path = support.path()
    once(path, "1h")
    local said = run(path, { "true" }, "--once-per", "1h", "-v")
    assert.truthy(said.err:find "zklock: not due: ", said.err)
  end)
end)
