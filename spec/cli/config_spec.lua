-- Where the command's settings come from.
local command = require "support.command"
local config = require "zklock.cli.config"
local files = require "support.files"
local quote = command.quote
local shell = require "support.shell"
local support = require "support"
require "luv" -- whose loop stays

-- Of a file that belongs to another user: root alone can give it away.
local it_as_root = shell.run "[ $(id -u) = 0 ]" and it or pending

-- A pattern that matches this text.
local function plain(text) return (text:gsub("%p", "%%%0")) end

local BRIEF = "connect_timeout = 0.2\n"

describe("The command's settings", function()
  local home, ports

  before_each(function()
    home = command.directory()
    shell.must(("mkdir %s/.config %s/other"):format(home, home))
    ports = {} -- nobody listens there, and the message says where that is
    for i = 1, 3 do ports[i] = "127.0.0.1:" .. support.free_port() end
  end)

  local function write(name, text, mode)
    return files.write(home .. "/" .. name, text, mode or "600")
  end

  -- The user's file.
  local function settle(text, mode)
    return write(".config/zklock", text, mode)
  end

  -- A question with only these settings.
  local function ask(words, env)
    local given = { HOME = home, XDG_CONFIG_HOME = false, ZKLOCK_HOSTS = false }
    for name, value in pairs(env or {}) do given[name] = value end
    local all = { "revoke", "/a" }
    for _, word in ipairs(words or {}) do all[#all + 1] = word end
    return command.run(all, { env = given })
  end

  -- It looks for a server there, in vain.
  local function looks_at(host, ...)
    local said = ask(...)
    assert.equal(69, said.code, said.err)
    assert.matches(host, said.err, 1, true)
  end

  local function refuses(code, pattern, ...)
    local said = ask(...)
    assert.same({ code, "" }, { said.code, said.out }, said.err)
    assert.matches("^zklock: [^\n]+\n$", said.err)
    assert.matches(pattern, said.err)
  end

  it("are an option's before the environment's, and a file's last", function()
    settle(BRIEF .. "hosts = " .. ports[3] .. "\n")
    looks_at(ports[3])
    looks_at(ports[2], {}, { ZKLOCK_HOSTS = ports[2] })
    looks_at(ports[1], { "-H", ports[1] }, { ZKLOCK_HOSTS = ports[2] })
    looks_at(ports[1], { "--hosts=" .. ports[1] })
    -- A variable that is empty says nothing.
    looks_at(ports[3], {}, { ZKLOCK_HOSTS = "", ZKLOCK_CHROOT = "",
      ZKLOCK_AUTH_FILE = "", ZKLOCK_SESSION_TIMEOUT = "",
      XDG_CONFIG_HOME = "" })
    -- Another directory is meant only if it is absolute.
    write("other/zklock", BRIEF .. "hosts = " .. ports[1])
    looks_at(ports[1], {}, { XDG_CONFIG_HOME = home .. "/other" })
    looks_at(ports[3], {}, { XDG_CONFIG_HOME = "other" })
  end)

  it("are each by itself", function()
    settle(BRIEF .. "chroot = /one\nsession_timeout = 7\n")
    local said = ask({ "-v", "--session-timeout", "1m" },
      { ZKLOCK_HOSTS = ports[1], ZKLOCK_CHROOT = "/two" })
    for _, line in ipairs { "hosts = " .. ports[1] .. " ($ZKLOCK_HOSTS)",
        "chroot = /two ($ZKLOCK_CHROOT)",
        "session_timeout = 60 (--session-timeout)",
        "connect_timeout = 0.2 (" .. home .. "/.config/zklock:1)" } do
      assert.matches("zklock: " .. line .. "\n", said.err, 1, true)
    end
  end)

  -- What is found where this is the file of all users.
  local function find_with_system(name, ...)
    local system = config.system_file
    assert.equal("/etc/zklock.conf", system)
    config.system_file = name
    local ok, found = pcall(config.find, ...)
    config.system_file = system
    return ok, found
  end

  it("are at last those of all users, refused for the same reasons", function()
    local ok, found = find_with_system(
      write("system", "tick_time = 1\nacl = open\n"), { acl = "read" })
    assert.is_true(ok, tostring(found))
    assert.equal(1, found.tick_time.value)
    assert.equal(home .. "/system:1", found.tick_time.where)
    assert.equal("read", found.acl.value)
    ok, found = find_with_system(write("system", "acl = open\n", "666"), {})
    assert.is_false(ok)
    assert.equal(78, found.code)
    assert.matches("/system may be written by others %(mode 666%)",
      tostring(found))
  end)

  it("are read as lines with comments and white space", function()
    settle("# ours\r\n\n  hosts\t=  " .. ports[3] .. "  # here\r\n" .. BRIEF
      .. "#hosts = x")
    looks_at(ports[3])
  end)

  -- Each is the file of all users in turn, in one process.
  local FIND = [[
    local config = require "zklock.cli.config"
    for _, name in ipairs(arg) do
      config.system_file = name
      local ok, failure = pcall(config.read, {})
      print(ok and "found" or failure.code .. " " .. failure.message)
    end
  ]]

  it("say where they are mistaken", function()
    local names, patterns = {}, {}
    for text, pattern in pairs {
      ["host = a"] = ":2: there is no setting \"host\"; there are acl, auth",
      ["hosts"] = ":2: this is no line 'key = value'",
      ["= 1"] = ":2: there is no setting \"\"",
      ["hosts ="] = ":2: hosts has no value",
      ["hosts = a:b"] = ":2: hosts: it has a port that is no number",
      ["chroot = app"] = ":2: chroot: \"app\" must be absolute",
      ["session_timeout = soon"] = ":2: session_timeout: \"soon\" is no time",
      ["connect_timeout = -1"] = ":2: connect_timeout: \"%-1\" is no time",
      ["session_timeout = 0.01"] = ":2: session_timeout: .* is not between",
      ["acl = all"] = ":2: acl: \"all\" is none of open, creator and read",
      ["acl = creator"] = ":2: the ACL creator needs credentials",
      ["tick_time = 20"] = ":2: the tick time 20 must be at most half",
      ["hosts = a\nhosts = b"] = ":3: hosts is set in .*:2, too",
      ["hosts = \"a\""] = ":2: hosts: it has a quote",
      ["hosts = a, b"] = ":2: hosts: it has a blank",
      ["hosts = a/x,b/x"] = ":2: hosts: it has a chroot that is not behind",
      ["chroot = /x,b/x"] = ":2: chroot: \"/x,b/x\" is not behind the last "
        .. "host",
      ["chroot = /x y"] = ":2: chroot: \"/x y\" has a blank",
      ["hosts = a/b\nchroot = /c"] = ":2: the hosts have a chroot already",
    } do
      local n = #names + 1
      names[n] = write("mistaken" .. n, "# first\n" .. text .. "\n")
      patterns[n] = "^78 " .. plain(names[n]) .. pattern
    end
    local said = command.run(names, { program = command.file(FIND),
      env = { HOME = home, XDG_CONFIG_HOME = false, ZKLOCK_HOSTS = false } })
    local n = 0
    for line in said.out:gmatch "[^\n]+" do
      n = n + 1
      assert.matches(patterns[n], line)
    end
    assert.equal(#names, n, said.err)
    -- It is what the command says.
    refuses(78, "^zklock: " .. plain(settle "hosts") .. ":1: this is no line")
  end)

  it("say which variable or option is mistaken", function()
    for _, row in ipairs {
      { "%$ZKLOCK_SESSION_TIMEOUT: \"x\" is no time",
        { ZKLOCK_SESSION_TIMEOUT = "x" } },
      { "%$ZKLOCK_HOSTS: it has an empty element", { ZKLOCK_HOSTS = "a,,b" } },
      { "%$ZKLOCK_HOSTS: it has a blank or a line break",
        { ZKLOCK_HOSTS = "a\n" } },
      { "%$ZKLOCK_CHROOT: \"/x%%20y\" has a '%%'",
        { ZKLOCK_CHROOT = "/x%20y" } },
      { "^zklock: %$ZKLOCK_HOSTS: the hosts have a chroot already",
        { ZKLOCK_HOSTS = "h/a", ZKLOCK_CHROOT = "/b" } },
    } do
      refuses(78, row[1], {}, row[2])
    end
    for _, row in ipairs {
      { "%-%-hosts: it has a port that is no number", "-H", "a:b" },
      { "%-%-session%-timeout: \"x\"", "--session-timeout", "x" },
      { "%-%-chroot: the hosts have a chroot already, /a %(%-%-hosts%)",
        "-H", "h/a", "--chroot", "/b" },
      { "%-%-chroot: the hosts .* %(%$ZKLOCK_HOSTS%)", "--chroot", "/b",
        env = { ZKLOCK_HOSTS = "h/a" } },
      { "%-%-tick%-time: the tick time 6", "--session-timeout", "10",
        "--tick-time", "6" },
    } do
      refuses(64, table.remove(row, 1), row, row.env)
    end
  end)

  it("are refused if they are no file", function()
    shell.must(("mkdir '%s/.config/zklock'"):format(home))
    refuses(78, "/zklock is no regular file")
    shell.must(("cd '%s/.config' && rmdir zklock && mkfifo -m 600 zklock")
      :format(home))
    refuses(78, "/zklock is no regular file")
  end)

  it("are refused if others may write them", function()
    for _, mode in ipairs { "620", "602", "666", "664" } do
      local name = settle("hosts = " .. ports[1], mode)
      refuses(78, plain(name) .. " may be written by others "
        .. "%(mode " .. mode .. "%): chmod go%-w '" , {},
        { ZKLOCK_HOSTS = ports[2] })
    end
    settle(BRIEF .. "hosts = " .. ports[3], "644")
    looks_at(ports[3])
  end)

  it_as_root("are refused if they are another user's", function()
    local name = settle("hosts = " .. ports[1])
    shell.must(("chown 65534 '%s'"):format(name))
    refuses(78, "^zklock: " .. plain(name) .. " belongs to user "
      .. "65534: zklock runs as user %d+, and trusts only that user's files "
      .. "and root's %(under sudo, 'sudo %-H' looks for root's%)")
    refuses(78, "belongs to user 65534", { "-H", ports[2] })
  end)

  describe("of root, looked for by another user,", function()
    -- The command as nobody runs it: of a tree that all may read.
    local function run_as_nobody(words, env)
      local tree = home .. "-tree"
      local built = os.getenv "LUA_CPATH":match "^([^;]*)/%?%.so"
      local below = built:match "/[^/]+/[^/]+$"
      shell.must(([[
        umask 022 && mkdir -p '%s/build%s' && cp -R '%s/lua' '%s' &&
        cp -R '%s/.' '%s/build%s'
      ]]):format(tree, below, os.getenv "SPEC_ROOT", tree, built, tree, below))
      local given = { HOME = home, XDG_CONFIG_HOME = false, LUA_PATH = false,
        ZKLOCK_HOSTS = false, LUA_CPATH = false }
      for name, value in pairs(env or {}) do given[name] = value end
      local said = command.run(words, { env = given, cwd = "/",
        program = tree .. "/lua/zklock/cli/main.lua",
        before = "setpriv --reuid=65534 --regid=65534 --clear-groups" })
      os.execute("rm -rf " .. quote(tree))
      return said
    end

    -- What it is told where the files' directory has this mode.
    local function ask_below(mode, words, env)
      settle(BRIEF .. "hosts = " .. ports[1], "644")
      shell.must(("cd '%s' && chmod %s . && chmod 755 .config"):format(home,
        mode))
      local all = { "revoke", support.path() }
      for _, word in ipairs(words or {}) do all[#all + 1] = word end
      return run_as_nobody(all, env)
    end

    it_as_root("are read where that user may enter", function()
      -- (What HOME says is left as it was where a daemon gives up root.)
      local said = ask_below "755"
      assert.equal(69, said.code, said.err)
      assert.matches(ports[1], said.err, 1, true)
    end)

    it_as_root("are not needed if the hosts are named", function()
      for words, env in pairs { [{ "-H", support.hosts }] = {},
          [{}] = { ZKLOCK_HOSTS = support.hosts } } do
        local said = ask_below("700", words, env)
        assert.equal(0, said.code, said.err)
      end
    end)

    it_as_root("are missing if nothing else names the hosts", function()
      local said = ask_below "700"
      assert.equal(78, said.code, said.err)
      assert.matches("/%.config/zklock cannot be opened: EACCES: .*name the "
        .. "hosts by %-%-hosts", said.err)
    end)
  end)

  it("put the chroot behind the hosts, and / is none", function()
    local path, inner = support.path(), "/inner"
    support.hold(path .. inner)
    local said = command.run { "revoke", inner, "-H", support.hosts, "--chroot",
      path }
    assert.equal(0, said.code, said.err)
    assert.equal("1", said.out:match "%d+")
    settle(BRIEF .. "chroot = /x")
    looks_at(ports[1], { "-v", "-H", ports[1] .. "/y", "--chroot", "/" })
  end)

  describe("in a file of credentials", function()
    local SECRET = "s3cr3t-W0rt"
    local LINE = "digest:ann:" .. SECRET

    local function says_no_secret(said)
      assert.is_nil((said.out .. said.err):find(SECRET, 1, true))
      return said
    end

    local function refuses_file(pattern, text, mode)
      local name = write("credentials", text, mode)
      local said = says_no_secret(ask { "--auth-file", name, "-v" })
      assert.equal(78, said.code, said.err)
      assert.matches("^zklock: credentials: " .. plain(name) .. pattern,
        said.err)
    end

    it("name the user of the session", function()
      local path = support.path()
      local name = write("credentials", "# ours\n\n" .. LINE .. "\r\n")
      local it = command.start { "run", path, "-v", "--auth-file", name,
        "--acl", "read", "--", "sleep", "60" }
      support.wait_for_queue(path, 1)
      local function try_as(credential)
        local session = support.connect { auth = { scheme = "digest",
          credential = credential } }
        return (select(3, session:mutex(path):try_acquire()))
      end
      assert.equal("denied", try_as "bob:other")
      assert.equal("busy", try_as("ann:" .. SECRET))
      it:signal "TERM"
      assert.equal(143, it:wait())
      says_no_secret { out = it:out(), err = it:err() }
    end)

    it("are refused if others may read or write them", function()
      for _, mode in ipairs { "640", "604", "620", "601", "644" } do
        refuses_file(" may be used by others %(mode " .. mode
          .. "%): chmod 600 '", LINE, mode)
      end
    end)

    it("are refused without showing them", function()
      refuses_file(" has no credentials in it", "# nothing\n")
      refuses_file(":2 is no line SCHEME:CREDENTIAL", "\n" .. SECRET)
      refuses_file(":1 is no line digest:USER:PASSWORD", "digest:" .. SECRET)
      refuses_file(":1 is no line digest:USER:PASSWORD", "digest::" .. SECRET)
      refuses_file(":1 has a NUL byte", LINE .. "\0")
      refuses_file(" is larger than 64 KiB", LINE .. ("x"):rep(65536))
    end)

    it("are refused if they are no file", function()
      refuses(78, " is no regular file", { "--auth-file", home })
      refuses(78, "/nosuch cannot be opened: ENOENT", {},
        { ZKLOCK_AUTH_FILE = home .. "/nosuch" })
    end)

    it("may stand beside the file that names them", function()
      write(".config/mine", LINE)
      settle(BRIEF .. "auth_file = mine\nacl = read\nhosts = " .. ports[1])
      looks_at(ports[1])
      local said = says_no_secret(ask { "-v" })
      assert.matches("auth_file = " .. home .. "/.config/mine (", said.err, 1,
        true)
    end)
  end)
end)
