-- What every command has in common: how it is called, and how it ends.
local arguments = require "zklock.cli.arguments"
local command = require "support.command"
local output = require "support.shell".output
local runs = require "cli.runs"
local support = require "support"

local function words_of(line)
  local words = {}
  for word in line:gmatch "%S+" do words[#words + 1] = word end
  return words
end

-- What comes of a line that is refused: by a process only if its arguments can
-- be read.
local function refusal(line)
  local ok, failure = pcall(arguments.read, words_of(line))
  if ok then return command.run(words_of(line)) end
  return { code = failure.code, out = "",
    err = "zklock: " .. failure.message .. "\n" }
end

describe("The command", function()
  it("says its version, and nothing else", function()
    local said = command.run { "--version" }
    assert.same({ 0, "" }, { said.code, said.err })
    assert.matches("^zklock %S+\n$", said.out)
  end)

  it("says that a command is missing if none is named, with 64", function()
    local what = "a command is required: see 'zklock --help'"
    for _, words in ipairs { {}, { "-v" }, { "--hosts", "h" } } do
      assert.same({ code = 64, out = "", err = "zklock: " .. what .. "\n" },
        command.run(words))
    end
  end)

  local ROOT = "/ is not the path of a lock: 'zklock ls -R /' shows every lock"

  local DIVIDE = "put -- before the command: zklock run PATH -- COMMAND"

  local advice = {
    ["run /a echo hi"] = DIVIDE,
    ["run -t 5 /a ls -l"] = DIVIDE,
    ["--chroot /x run /a true"] = DIVIDE,
    ["run /a git log -n -- file"] = DIVIDE, -- this -- is git's
    ["run /a"] = "say what is to be run: zklock run PATH -- COMMAND",
    ["run /a --"] = "say what is to be run: zklock run PATH -- COMMAND",
    ["run -- true"] = "missing argument 'PATH': see 'zklock run --help'",
    ["bogus --all /a"] = "unknown command 'bogus': see 'zklock --help'",
    ["lss /a"] = "unknown command 'lss': did you mean 'ls'?",
    ["ls --nosuch /"] = "unknown option '--nosuch': see 'zklock ls --help'",
    ["ls --recursve /"] = "unknown option '--recursve': did you mean "
      .. "'--recursive'?",
    ["ls"] = "missing argument 'PATH': see 'zklock ls --help'",
    ["ls /a /b"] = "too many arguments: see 'zklock ls --help'",
    ["ls --acl all /a"] = "argument for option '--acl' must be one of 'open', "
      .. "'creator', 'read': see 'zklock ls --help'",
    ["ls /"] = ROOT,
    ["run / -- true"] = ROOT,
  }

  it("says what to type, with 64", function()
    for line, what in pairs(advice) do
      assert.same({ code = 64, out = "", err = "zklock: " .. what .. "\n" },
        refusal(line), line)
    end
  end)

  it("says what is wrong with its arguments, with 64", function()
    for line, what in pairs {
      ["run p -- true"] = "PATH must be absolute",
      ["ls locks"] = "PATH must be absolute",
      ["run /a//b -- true"] = "PATH must not",
      ["run --exclusive --shared /p -- true"] = "can not be used together",
      ["run -t 1 -n /a -- true"] = "can not be used together",
      ["run --once-per 1h --shared /p -- true"] = "--once-per takes a lock of "
        .. "one holder: it does not go with --shared",
      ["run --once-per 1h --permits=2 /p -- true"] = "--once-per takes a lock "
        .. "of one holder: it does not go with --permits",
      ["run --grace x /p -- true"] = '"x" is no time',
      ["run -p 0 /p -- true"] = '"0" is no whole number',
      ["run --nonsense /p -- true"] = "unknown option '--nonsense'",
      ["ls /p -- true"] = "'--' goes with 'zklock run'",
    } do
      local said = refusal(line)
      assert.same({ 64, "" }, { said.code, said.out }, line)
      assert.matches("^zklock: [^\n]+\n$", said.err)
      assert.matches(what, said.err, 1, true)
    end
  end)

  it("takes the options of every command before it, too", function()
    local path = support.path()
    support.hold(path)
    local before = command.run({ "-H", support.hosts, "--connect-timeout=9",
      "-v", "ls", path }, { env = { ZKLOCK_HOSTS = "127.0.0.1:1" } })
    assert.equal(0, before.code, before.err)
    assert.matches("holds", before.out)
    assert.matches("connect_timeout = 9 %(%-%-connect%-timeout%)", before.err)
  end)

  it("says that its hosts are the default if no setting names others",
  function()
    local function ask(...)
      return command.run({ "ls", "/a", "--connect-timeout", "0.1", ... },
        { env = { ZKLOCK_HOSTS = false, HOME = "/nonexistent" } })
    end
    local named = ask("-H", "127.0.0.1:1")
    assert.equal(69, named.code)
    assert.is_nil(named.err:find("default", 1, true))
    local said = ask()
    if said.code ~= 0 then -- (a server may be there)
      assert.equal(69, said.code, said.err)
      assert.matches("127%.0%.0%.1:2181 .*; these hosts are the default: name "
        .. "yours by %-%-hosts, %$ZKLOCK_HOSTS or hosts in "
        .. "~/%.config/zklock\n$", said.err)
    end
  end)

  it("says from a checkout that it is not built, with 69, and runs from "
    .. "wherever it is called", function()
    local directory = command.directory()
    local root = os.getenv "SPEC_ROOT" or "."
    assert(os.execute(("cp -R '%s/lua' '%s/bin' '%s' && ln -s bin/zklock "
      .. "'%s/link'"):format(root, root, directory, directory)))
    command.only_lua(directory .. "/path")
    local function shell(script)
      return output(("cd / && unset LUA_PATH LUA_CPATH; D='%s'; "
        .. "PATH=$D/path; { %s; } 2>&1; echo $?"):format(directory, script))
    end
    for _, script in ipairs { '"$D"/bin/zklock ls /a', 'cd "$D"; bin/zklock',
        'cd "$D"/bin && ./zklock --version', '"$D"/link' } do
      local said, status = shell(script):match "^(.*\n)(%d+)\n$"
      assert.matches("^zklock: this checkout is not built for Lua (%S+): "
        .. "run 'make LUA_VERSION=%1' in /%S+ first\n$", said)
      assert.truthy(said:find(directory, 1, true), said)
      assert.equal("69", status)
    end
    local build = os.getenv "LUA_CPATH":match "^([^;]*)/[^/]+/[^/]+/%?%.so"
    assert(os.execute(("ln -s '%s' '%s/build'"):format(build, directory)))
    for _, script in ipairs { '"$D"/bin/zklock', 'cd "$D"; bin/zklock',
        'cd "$D"; ./link' } do
      assert.matches("^zklock %S+\n0\n$", shell(script .. " --version"))
    end
  end)

  it("says that standard output is full, or closed, with 74", function()
    local path = support.path()
    support.hold(path)
    -- (The first ones by each way of writing, to what is closed, too.)
    for i, words in ipairs { { "--help" }, { "ls", path }, { "watch", path },
        { "--version" }, { "ls", "--help" }, { "completion", "bash" },
        { "ls", "--json", path }, { "ls", "-R", path }, { "check", path },
        { "check", "--json", path }, { "revoke", path } } do
      for _, where in ipairs { ">/dev/full", i < 4 and ">&-" or nil } do
        local said = output(("%s 2>&1 %s; echo $?"):format(
          command.line(words), where))
        assert.matches("74\n$", said, nil, nil, table.concat(words, " "))
        assert.matches("^zklock: cannot write: [^\n]+\n", said)
      end
    end
  end)

  it("takes a time of 100 years and more", function()
    for _, time in ipairs { ("9"):rep(30), ("9"):rep(400),
      "9000000000000000000d" } do
      local path = support.path()
      local said = runs.run(path, { "true" },
        { "-t", time, "-m", time, "-g", time, "--once-per", time })
      assert.equal(0, said.code, said.err)
      support.hold(path)
      for _, words in ipairs { { "watch", "-i" }, { "revoke", "-w" } } do
        local it = command.start { words[1], words[2], time, path }
        it:expect(words[1] == "watch" and "granted" or "asked")
        it:signal "TERM"
        assert.equal(143, it:wait())
        assert.equal("", it:err())
      end
    end
  end)
end)
