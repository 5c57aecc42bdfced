-- Where the command's settings come from.
local command = require "support.command"
local config = require "zklock.cli.config"
local support = require "support"
require "luv" -- whose loop stays

-- Nobody listens there, and the message says where that is.
local NOWHERE = "127.0.0.1:%d"

describe("The command's settings #layer", function()
  local home, ports

  before_each(function()
    support.start()
    local pipe = io.popen "mktemp -d"
    home = pipe:read "*l"
    pipe:close()
    assert(os.execute(("mkdir '%s/.config'"):format(home)))
    ports = {}
    for i = 1, 3 do ports[i] = NOWHERE:format(support.free_port()) end
  end)
  after_each(function()
    os.execute("rm -rf '" .. home .. "'")
    support.finish()
  end)

  local function write(name, text, mode)
    local file = assert(io.open(home .. "/" .. name, "wb"))
    file:write(text)
    file:close()
    os.execute(("chmod %s '%s/%s'"):format(mode or "600", home, name))
    return home .. "/" .. name
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
  local function looks_at(host, words, env)
    local said = ask(words, env)
    assert.equal(69, said.code, said.err)
    assert.truthy(said.err:find(host, 1, true), said.err)
  end

  local function refuses(code, pattern, words, env)
    local said = ask(words, env)
    assert.equal(code, said.code, said.err)
    assert.equal("", said.out)
    assert.matches("^zklock: [^\n]+\n$", said.err)
    assert.matches(pattern, said.err)
  end

  local BRIEF = "connect_timeout = 0.2\n"

  it("are an option's before the environment's, and a file's last", function()
    write(".config/zklock", BRIEF .. "hosts = " .. ports[3] .. "\n")
    looks_at(ports[3])
    looks_at(ports[2], {}, { ZKLOCK_HOSTS = ports[2] })
    looks_at(ports[1], { "-H", ports[1] }, { ZKLOCK_HOSTS = ports[2] })
    looks_at(ports[1], { "--hosts=" .. ports[1] })
  end)

  it("are each by itself", function()
    write(".config/zklock", BRIEF .. "chroot = /one\nsession_timeout = 7\n")
    local said = ask({ "-v", "--session-timeout", "1m" },
      { ZKLOCK_HOSTS = ports[1], ZKLOCK_CHROOT = "/two" })
    for _, line in ipairs { "hosts = " .. ports[1] .. " ($ZKLOCK_HOSTS)",
        "chroot = /two ($ZKLOCK_CHROOT)",
        "session_timeout = 60 (--session-timeout)",
        "connect_timeout = 0.2 (" .. home .. "/.config/zklock:1)" } do
      assert.truthy(said.err:find("zklock: " .. line .. "\n", 1, true),
        said.err)
    end
  end)

  it("are not said by a variable that is empty", function()
    write(".config/zklock", BRIEF .. "hosts = " .. ports[3])
    looks_at(ports[3], {}, { ZKLOCK_HOSTS = "", ZKLOCK_CHROOT = "",
      ZKLOCK_AUTH_FILE = "", ZKLOCK_SESSION_TIMEOUT = "",
      XDG_CONFIG_HOME = "" })
  end)

  it("are in $XDG_CONFIG_HOME, if that is absolute", function()
    assert(os.execute(("mkdir '%s/other'"):format(home)))
    write("other/zklock", BRIEF .. "hosts = " .. ports[1])
    write(".config/zklock", BRIEF .. "hosts = " .. ports[2])
    looks_at(ports[1], {}, { XDG_CONFIG_HOME = home .. "/other" })
    looks_at(ports[2], {}, { XDG_CONFIG_HOME = "other" })
  end)

  it("are at last those of all users", function()
    local system = config.system_file
    config.system_file = write("system", "tick_time = 1\nacl = open\n")
    local ok, found = pcall(config.find, { acl = "read" })
    config.system_file = system
    assert.is_true(ok, tostring(found))
    assert.equal("/etc/zklock.conf", system)
    assert.equal(1, found.tick_time.value)
    assert.equal(home .. "/system:1", found.tick_time.where)
    assert.equal("read", found.acl.value)
  end)

  it("are read as lines with comments and white space", function()
    write(".config/zklock", "# ours\r\n\n  hosts\t=  " .. ports[3]
      .. "  # here\r\n" .. BRIEF .. "#hosts = x")
    looks_at(ports[3])
  end)

  local mistakes = {
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
    ["chroot = /x,b/x"] = ":2: chroot: \"/x,b/x\" is not behind the last host",
    ["chroot = /x y"] = ":2: chroot: \"/x y\" has a blank",
    ["hosts = a/b\nchroot = /c"] = ":2: the hosts have a chroot already",
  }
  for text, pattern in pairs(mistakes) do
    it("say where they are mistaken: " .. text:gsub("\n", "; "), function()
      local name = write(".config/zklock", "# first\n" .. text .. "\n")
      refuses(78, "^zklock: " .. name:gsub("%p", "%%%0") .. pattern)
    end)
  end

  it("say which variable is mistaken", function()
    refuses(78, "%$ZKLOCK_SESSION_TIMEOUT: \"x\" is no time", {},
      { ZKLOCK_SESSION_TIMEOUT = "x" })
    refuses(78, "%$ZKLOCK_HOSTS: it has an empty element", {},
      { ZKLOCK_HOSTS = "a,,b" })
    refuses(78, "%$ZKLOCK_HOSTS: it has a blank or a line break", {},
      { ZKLOCK_HOSTS = "a\n" })
    refuses(78, "%$ZKLOCK_CHROOT: \"/x%%20y\" has a '%%'", {},
      { ZKLOCK_CHROOT = "/x%20y" })
    refuses(78, "^zklock: %$ZKLOCK_HOSTS: the hosts have a chroot already", {},
      { ZKLOCK_HOSTS = "h/a", ZKLOCK_CHROOT = "/b" })
  end)

  it("are misuse where an option is mistaken", function()
    refuses(64, "%-%-hosts: it has a port that is no number", { "-H", "a:b" })
    refuses(64, "%-%-session%-timeout: \"x\"", { "--session-timeout", "x" })
    refuses(64, "%-%-acl: \"x\" is none", { "--acl", "x" })
    refuses(64, "%-%-chroot: the hosts have a chroot already, /a %(%-%-hosts%)",
      { "-H", "h/a", "--chroot", "/b" })
    refuses(64, "%-%-chroot: the hosts .* %(%$ZKLOCK_HOSTS%)",
      { "--chroot", "/b" }, { ZKLOCK_HOSTS = "h/a" })
    refuses(64, "%-%-tick%-time: the tick time 6", { "--session-timeout", "10",
      "--tick-time", "6" })
  end)

  it("are refused where a file cannot be read", function()
    assert(os.execute(("mkdir '%s/.config/zklock'"):format(home)))
    refuses(78, "/zklock is no regular file")
  end)

  local user = io.popen "id -u"
  local it_as_root = user:read "*l" == "0" and it or pending
  user:close()

  -- A file of another user's: of nobody, whom root alone can give a file to.
  local function give_away(name)
    assert(os.execute(("chown 65534 '%s'"):format(name)))
  end

  -- The command as another user runs it: of a tree that all may read.
  local function run_as_nobody(words, env)
    local tree = home .. "-tree"
    local built = os.getenv "LUA_CPATH":match "^([^;]*)/%?%.so"
    local below = built:match "/[^/]+/[^/]+$"
    assert(os.execute(([[
      umask 022 && mkdir -p '%s/build%s' && cp -R '%s/lua' '%s' &&
      cp -R '%s/.' '%s/build%s'
    ]]):format(tree, below, os.getenv "SPEC_ROOT", tree, built, tree, below)))
    local given = { HOME = home, XDG_CONFIG_HOME = false, LUA_PATH = false,
      ZKLOCK_HOSTS = false, LUA_CPATH = false }
    for name, value in pairs(env or {}) do given[name] = value end
    local said = command.run(words, { env = given, cwd = "/",
      program = tree .. "/lua/zklock/cli/main.lua",
      before = "setpriv --reuid=65534 --regid=65534 --clear-groups" })
    os.execute("rm -rf '" .. tree .. "'")
    return said
  end

  it("are refused if others may write them", function()
    for _, mode in ipairs { "620", "602", "666", "664" } do
      local name = write(".config/zklock", "hosts = " .. ports[1], mode)
      refuses(78, name:gsub("%p", "%%%0") .. " may be written by others "
        .. "%(mode " .. mode .. "%): chmod go%-w '" , {},
        { ZKLOCK_HOSTS = ports[2] })
    end
    write(".config/zklock", BRIEF .. "hosts = " .. ports[3], "644")
    looks_at(ports[3])
  end)

  it_as_root("are refused if they are another user's", function()
    local name = write(".config/zklock", "hosts = " .. ports[1])
    give_away(name)
    refuses(78, "^zklock: " .. name:gsub("%p", "%%%0") .. " belongs to user "
      .. "65534: zklock runs as user %d+, and trusts only that user's files "
      .. "and root's %(under sudo, 'sudo %-H' looks for root's%)")
    refuses(78, "belongs to user 65534", { "-H", ports[2] })
  end)

  it("are refused if they are no file", function()
    assert(os.execute(("mkfifo -m 600 '%s/.config/zklock'"):format(home)))
    refuses(78, "/zklock is no regular file")
  end)

  it("of all users are refused for the same reasons", function()
    local system = config.system_file
    config.system_file = write("system", "acl = open\n", "666")
    local ok, refusal = pcall(config.find, {})
    config.system_file = system
    assert.is_false(ok)
    assert.equal(78, refusal.code)
    assert.matches("/system may be written by others %(mode 666%)",
      tostring(refusal))
  end)

  it_as_root("are looked for below root's by a user who may enter there",
  function()
    -- (What HOME says is left as it was where a daemon gives up root.)
    assert(os.execute(("chmod 755 '%s' '%s/.config'"):format(home, home)))
    write(".config/zklock", BRIEF .. "hosts = " .. ports[1], "644")
    local said = run_as_nobody { "revoke", "/a" }
    assert.equal(69, said.code, said.err)
    assert.truthy(said.err:find(ports[1], 1, true), said.err)
  end)

  describe("in a directory of root's that nobody else may enter", function()
    local function ask_there(words, env)
      local all = { "revoke", support.path() }
      for _, word in ipairs(words) do all[#all + 1] = word end
      return run_as_nobody(all, env)
    end

    before_each(function()
      write(".config/zklock", "hosts = " .. ports[1])
      assert(os.execute(("chmod 700 '%s'"):format(home)))
    end)

    it_as_root("are not needed if the hosts are named", function()
      local said = ask_there { "-H", support.hosts }
      assert.equal(0, said.code, said.err)
      said = ask_there({}, { ZKLOCK_HOSTS = support.hosts })
      assert.equal(0, said.code, said.err)
    end)

    it_as_root("are missing if the directory is the user's own", function()
      assert(os.execute(([[chown -R 65534 '%s' && chmod 711 '%s' &&
        chmod 000 '%s/.config']]):format(home, home, home)))
      local said = ask_there { "-H", support.hosts }
      assert.equal(78, said.code, said.err)
      assert.matches("/%.config/zklock cannot be opened: EACCES: ", said.err)
    end)

    it_as_root("are missing if nothing else names the hosts", function()
      local said = ask_there {}
      assert.equal(78, said.code, said.err)
      assert.matches("/%.config/zklock cannot be opened: EACCES: .*name the "
        .. "hosts by %-%-hosts", said.err)
    end)

    it_as_root("are no one's need in completion", function()
      -- (What the servers do not answer in time is not offered.)
      support.wait_until(function()
        local said = run_as_nobody({ "complete", "bash", "2", "zklock", "ls",
          "/" }, { ZKLOCK_HOSTS = support.hosts })
        assert.equal(0, said.code)
        return said.out:find "^paths\n"
      end, 60, "an offer")
    end)
  end)

  it("put the chroot behind the hosts, and / is none", function()
    local path, inner = support.path(), "/inner"
    local guard = support.hold(path .. inner)
    local function count(words)
      local all = { "revoke", inner, "-H", support.hosts }
      for _, word in ipairs(words) do all[#all + 1] = word end
      local said = command.run(all)
      assert.equal(0, said.code, said.err)
      return said.out:match "%d+"
    end
    assert.equal("1", count { "--chroot", path })
    guard:release { wait = true }
    write(".config/zklock", BRIEF .. "chroot = /x")
    local said = ask({ "-v", "-H", ports[1] .. "/y", "--chroot", "/" })
    assert.equal(69, said.code, said.err)
  end)

  describe("with credentials", function()
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
      assert.matches("^zklock: credentials: " .. name:gsub("%p", "%%%0")
        .. pattern, said.err)
    end

    it("are who they say", function()
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
      local name = home .. "/pipe"
      assert(os.execute(("mkfifo -m 600 '%s'"):format(name)))
      refuses(78, "/pipe is no regular file", { "--auth-file", name })
      refuses(78, " is no regular file", { "--auth-file", home })
      refuses(78, "/nosuch cannot be opened: ENOENT",
        { "--auth-file", home .. "/nosuch" })
      refuses(78, "/nosuch cannot be opened: ENOENT", {},
        { ZKLOCK_AUTH_FILE = home .. "/nosuch" })
    end)

    it("may stand beside the file that names them", function()
      write(".config/mine", LINE)
      write(".config/zklock", BRIEF .. "auth_file = mine\nacl = read\nhosts = "
        .. ports[1])
      looks_at(ports[1])
      local said = says_no_secret(ask { "-v" })
      assert.truthy(said.err:find("auth_file = " .. home .. "/.config/mine (",
        1, true), said.err)
    end)
  end)
end)
