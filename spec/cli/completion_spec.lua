-- What the shells offer when somebody presses the tabulator.
local bash_words = require "zklock.cli.bash_words"
local command = require "support.command"
local completion = require "zklock.cli.completion"
local socket = require "socket"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

local function names(found)
  local list = {}
  for i, candidate in ipairs(found[1]) do list[i] = candidate[1] end
  return table.concat(list, " ")
end

describe("Completion #layer", function()
  local function offered(...)
    local words = { ... }
    return completion.find(words, #words)
  end

  it("knows the commands, and their options", function()
    assert.equal("run revoke", names(offered "r"))
    assert.equal("--timeout --tick-time", names(offered("run", "--ti")))
    assert.equal("", names(offered("ls", "--timeo")))
    assert.equal("--version --verbose", names(offered "--v"))
    assert.equal("run revoke", names(offered("--chroot", "/x", "-v", "r")))
  end)

  it("knows what an option may be", function()
    assert.equal("creator", names(offered("ls", "--acl", "c")))
    assert.equal("--acl=creator", names(offered("ls", "--acl=c")))
    assert.equal("", names(offered("ls", "-H", "")))
    assert.equal("files", offered("ls", "--auth-file", "x").kind)
  end)

  it("knows where a path is, and who says where it is looked for", function()
    local found = offered("run", "-H", "h", "-x", "--chroot=/c", "-t", "5",
      "/l")
    assert.equal("paths", found.kind)
    assert.equal("/l", found.word)
    assert.same({ hosts = "h", chroot = "/c", timeout = "5" }, found.request)
    assert.is_nil(offered("ls", "/l", ""))
    assert.equal("/l", offered("evict", "/l", "").path)
  end)

  it("leaves what stands behind -- to the command's own", function()
    assert.same({ kind = "command", at = 4 }, offered("run", "/l", "--", ""))
    assert.same({ kind = "command", at = 4 },
      offered("run", "/l", "--", "ls", "-x", "--", ""))
    assert.is_nil(offered("ls", "/l", "--", ""))
    assert.is_nil(offered("nosuch", ""))
  end)

  it("undoes how bash breaks words", function()
    local function undo(...)
      local words, number, front, original = bash_words({ ... },
        select("#", ...))
      return table.concat(words, "|"), number, front, original(number)
    end
    assert.same({ "ls|-H|a:1,b:2|/x", 4, "", 8 },
      { undo("ls", "-H", "a", ":", "1,b", ":", "2", "/x") })
    assert.same({ "ls|--acl=c", 2, "--acl=", 2 },
      { undo("ls", "--acl", "=", "c") })
    assert.same({ "ls|/a:", 2, "/a:", 2 }, { undo("ls", "/a", ":") })
    assert.same({ "ls|/a b", 2, "", 2 }, { undo("ls", "'/a b'") })
    assert.same({ "ls|/a b", 2, "", 2 }, { undo("ls", "/a\\ b") })
  end)
end)

describe("In a shell", function()
  local directory

  before_each(function()
    support.start()
    directory = os.tmpname()
    os.remove(directory)
    assert(os.execute(("mkdir '%s'"):format(directory)))
    local file = assert(io.open(directory .. "/zklock", "w"))
    file:write("#!/bin/sh\nexec ", command.line {}, ' "$@"\n')
    file:close()
    os.execute(("chmod 755 '%s/zklock'"):format(directory))
  end)
  after_each(function()
    os.execute("rm -rf '" .. directory .. "'")
    support.finish()
  end)

  local function shell(interpreter, script)
    local name = directory .. "/script"
    local file = assert(io.open(name, "w"))
    file:write(script)
    file:close()
    local pipe = io.popen(("PATH='%s':$PATH %s '%s' 2>&1"):format(directory,
      interpreter, name))
    local said = pipe:read "*a"
    pipe:close()
    return said
  end

  local function quote_all(...)
    local words = {}
    for i, word in ipairs { "zklock", ... } do
      words[i] = command.quote(word)
    end
    return words
  end

  -- The words as bash breaks them, before and up to the cursor.
  local function bash(...)
    local words = quote_all(...)
    return (shell("bash --norc", ([[
      source '%s/completion/zklock.bash'
      COMP_WORDS=(%s)
      COMP_CWORD=%d
      _zklock
      printf '<%%s>' "${COMPREPLY[@]}"
    ]]):format(root, table.concat(words, " "), #words - 1)))
  end

  -- With what the completion system offers, in short.
  local function zsh(...)
    local words = quote_all(...)
    return shell("zsh -f", ([[
      compadd() {
        local -a list=("${(@P)@[-1]}")
        print -rn -- "<${(j:><:)list}>"
      }
      _files() { print -n files }
      _normal() { print -rn -- "normal $CURRENT ${(j:|:)words}" }
      words=(%s)
      CURRENT=%d
      source '%s/completion/_zklock'
    ]]):format(table.concat(words, " "), #words, root))
  end

  -- What a server says: on a busy machine it is not always in time.
  local function wait_for(complete, ...)
    local words, count = { ... }, select("#", ...)
    return support.wait_until(function()
      local said = complete((unpack or table.unpack)(words, 1, count))
      return said ~= "" and said ~= "<>" and said
    end, 10, "an offer")
  end

  for name, complete in pairs { bash = bash, zsh = zsh } do
    it(name .. " offers commands, options and their values", function()
      assert.equal("<run><revoke>", complete "r")
      assert.equal("<--session-timeout>", complete("ls", "--ses"))
      assert.equal("<creator>", complete("ls", "--acl", "c"))
    end)

    it(name .. " offers paths that are there, and contenders", function()
      local path = support.path()
      local parent, own = path:match "^(.*/)([^/]*)$"
      support.zk():make(path .. "/b c")
      support.hold(path .. "/b$(false)")
      local node = support.zk():queue(path .. "/b$(false)")[1]
      local there = wait_for(complete, "ls", path .. "/")
      if name == "bash" then there = there:gsub("\\(.)", "%1") end
      assert.equal(("<%s/b c><%s/b$(false)>"):format(path, path), there)
      assert.equal("<" .. path .. ">",
        wait_for(complete, "ls", parent .. own:sub(1, -2)))
      assert.equal("<" .. node .. ">", wait_for(complete, "evict",
        path .. "/b$(false)", node:sub(1, 3)))
      assert.equal("<" .. path .. ">", wait_for(complete, "run", "-n", path))
    end)

    it(name .. " offers paths that begin at the root", function()
      local top = support.path():match "^/[^/]*"
      support.zk():make(top)
      assert.equal("<" .. top .. ">", wait_for(complete, "ls", top))
    end)

    it(name .. " offers paths below the chroot", function()
      local path = support.path()
      support.zk():make(path .. "/one")
      assert.equal("</one>", wait_for(complete, "ls", "--chroot", path, "/"))
      assert.matches("^<?>?$", complete("ls", "--chroot", path .. "/two", "/"))
      assert.is_false(support.zk():exists(path .. "/two"))
    end)

    it(name .. " offers nothing, and says nothing, without a server", function()
      local silent = support.closing(assert(socket.bind("127.0.0.1", 0)))
      local _, port = silent:getsockname()
      for _, hosts in ipairs { "127.0.0.1:" .. port, "127.0.0.1:1", "," } do
        assert.matches("^<?>?$", complete("ls", "--hosts", hosts, "/a"))
      end
      assert.matches("^<?>?$", complete("ls", "--auth-file", "/nosuch", "/a"))
    end)
  end

  it("bash takes nobody's name for a part of a program", function()
    local path = support.path()
    for _, name in ipairs { "$(touch x)", "`x`", "a;b", "a'b", "a b" } do
      support.zk():make(path .. "/" .. name)
    end
    local there = wait_for(bash, "ls", path .. "/")
    local said = shell("bash --norc", "printf '<%s>' "
      .. there:gsub("^<", ""):gsub(">$", ""):gsub("><", " "))
    assert.equal(("<%s/$(touch x)><%s/`x`><%s/a b><%s/a'b><%s/a;b>"):gsub(
      "%%s", path), said)
    assert.equal("<>", bash("ls", "'" .. path .. "/"))
  end)

  it("bash offers hosts' paths though it breaks words at colons", function()
    local path = support.path()
    support.zk():make(path)
    local host, port = support.hosts:match "^([^,]+):(%d+)"
    assert.equal("<" .. path .. ">",
      wait_for(bash, "ls", "-H", host, ":", port, path))
    assert.equal("<open>", bash("ls", "--acl", "=", "o"))
  end)

  it("bash completes the command behind -- as its own", function()
    assert.matches("<grep>", bash("run", "/a", "--", "gre"))
    assert.equal("<" .. directory .. "/zklock>",
      bash("run", "/a", "--", "grep", directory .. "/zk"))
    assert.equal("<" .. directory .. "/zklock>",
      bash("run", "--auth-file", directory .. "/zk"))
  end)

  it("zsh completes the command behind -- as its own", function()
    assert.equal("normal 2 grep|x", zsh("run", "/a", "--", "grep", "x"))
    assert.equal("normal 1 gre", zsh("run", "--acl=open", "/a", "--", "gre"))
    assert.equal("files", zsh("run", "--auth-file", "x"))
  end)
end)
