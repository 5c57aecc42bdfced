-- What the shells offer when somebody presses the tabulator.
local bash_words = require "zklock.cli.bash_words"
local command = require "support.command"
local completion = require "zklock.cli.completion"
local each = require "support.each"
local files = require "support.files"
local output = require "support.shell".output
local socket = require "socket"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

describe("Completion", function()
  local function offered(...)
    local words = { ... }
    return completion.find(words, #words)
  end

  local function names(...)
    local list = {}
    for i, candidate in ipairs(offered(...)[1]) do list[i] = candidate[1] end
    return table.concat(list, " ")
  end

  it("knows the commands, their options, and what these may be", function()
    assert.equal("run revoke", names "r")
    assert.equal("--timeout --tick-time", names("run", "--ti"))
    assert.equal("", names("ls", "--timeo"))
    assert.equal("--version --verbose", names "--v")
    assert.equal("run revoke", names("--chroot", "/x", "-v", "r"))
    assert.equal("creator", names("ls", "--acl", "c"))
    assert.equal("--acl=creator", names("ls", "--acl=c"))
    assert.equal("", names("ls", "-H", ""))
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
    directory = command.directory()
    files.write(directory .. "/zklock",
      "#!/bin/sh\nexec " .. command.line {} .. ' "$@"\n', "755")
  end)

  -- What such a shell says to a script, `%s` of which are the words after
  -- `zklock`, quoted, and the place of the last.
  local function shell(interpreter, script, ...)
    local words = { "zklock", ... }
    local quoted = {}
    for i, word in ipairs(words) do quoted[i] = command.quote(word) end
    local name = command.file(script:format(table.concat(quoted, " "),
      #words))
    return output(("PATH='%s':$PATH ROOT='%s' %s '%s' 2>&1"):format(
      directory, root, interpreter, name))
  end

  local shells = {}

  -- The words as bash breaks them, before and up to the cursor.
  function shells.bash(...)
    return (shell("bash --norc", [[
      source "$ROOT/completion/zklock.bash"
      COMP_WORDS=(%s)
      COMP_CWORD=$((%d - 1))
      _zklock
      printf '<%%s>' "${COMPREPLY[@]}"
    ]], ...))
  end

  -- With what the completion system offers, in short.
  function shells.zsh(...)
    return shell("zsh -f", [[
      compadd() {
        local -a list=("${(@P)@[-1]}")
        print -rn -- "<${(j:><:)list}>"
      }
      _files() { print -n files }
      _normal() { print -rn -- "normal $CURRENT ${(j:|:)words}" }
      words=(%s)
      CURRENT=%d
      source "$ROOT/completion/_zklock"
    ]], ...)
  end

  -- What a server says: on a busy machine it is not always in time.
  local function wait_for(complete, ...)
    local words = { ... }
    return support.wait_until(function()
      local said = complete((unpack or table.unpack)(words))
      return said ~= "" and said ~= "<>" and said
    end, 10, "an offer")
  end

  it("commands are offered, options and their values", function()
    each(shells, function(complete)
      assert.equal("<run><revoke>", complete "r")
      assert.equal("<--session-timeout>", complete("ls", "--ses"))
      assert.equal("<creator>", complete("ls", "--acl", "c"))
    end, true)
  end)

  it("paths are offered that are there, and contenders", function()
    each(shells, function(complete, name)
      local path, zk = support.path(name), support.zk()
      local parent, top, own = path:match "^((/[^/]*).*/)([^/]*)$"
      zk:make(path .. "/b c")
      support.hold(path .. "/b$(false)")
      local node = zk:queue(path .. "/b$(false)")[1]
      local there = wait_for(complete, "ls", path .. "/")
      if name == "bash" then there = there:gsub("\\(.)", "%1") end
      assert.equal(("<%s/b c><%s/b$(false)>"):format(path, path), there)
      assert.equal("<" .. path .. ">",
        wait_for(complete, "ls", parent .. own:sub(1, -2)))
      assert.equal("<" .. node .. ">", wait_for(complete, "evict",
        path .. "/b$(false)", node:sub(1, 3)))
      assert.equal("<" .. path .. ">", wait_for(complete, "run", "-n", path))
      if name == "bash" then -- which breaks words at colons
        local host, port = support.hosts:match "^([^,]+):(%d+)"
        assert.equal("<" .. path .. ">",
          wait_for(complete, "ls", "-H", host, ":", port, path))
      end
      assert.equal("<" .. top .. ">", wait_for(complete, "ls", top))
      -- Below a chroot.
      assert.equal("</b c>", (wait_for(complete, "ls", "--chroot", path,
        "/b "):gsub("\\", "")))
      assert.matches("^<?>?$", complete("ls", "--chroot", path .. "/two", "/"))
      assert.is_false(zk:exists(path .. "/two"))
    end, true)
  end)

  it("nothing is offered, and nothing said, without a server", function()
    each(shells, function(complete)
      local silent = support.closing(assert(socket.bind("127.0.0.1", 0)))
      local _, port = silent:getsockname()
      for _, hosts in ipairs { "127.0.0.1:" .. port, "127.0.0.1:1", "," } do
        assert.matches("^<?>?$", complete("ls", "--hosts", hosts, "/a"))
      end
      assert.matches("^<?>?$", complete("ls", "--auth-file", "/nosuch", "/a"))
    end, true)
  end)

  it("bash takes nobody's name for a part of a program", function()
    local path, bash = support.path(), shells.bash
    for _, name in ipairs { "$(touch x)", "`x`", "a;b", "a'b", "a b" } do
      support.zk():make(path .. "/" .. name)
    end
    local there = wait_for(bash, "ls", path .. "/")
    local said = shell("bash --norc", "printf '<%%s>' "
      .. there:gsub("^<", ""):gsub(">$", ""):gsub("><", " "):gsub("%%", "%%%%"))
    assert.equal(("<%s/$(touch x)><%s/`x`><%s/a b><%s/a'b><%s/a;b>"):gsub(
      "%%s", path), said)
    assert.equal("<>", bash("ls", "'" .. path .. "/"))
  end)

  it("the command behind -- is completed as its own", function()
    local bash, zsh = shells.bash, shells.zsh
    assert.matches("<grep>", bash("run", "/a", "--", "gre"))
    assert.equal("<" .. directory .. "/zklock>",
      bash("run", "/a", "--", "grep", directory .. "/zk"))
    assert.equal("<" .. directory .. "/zklock>",
      bash("run", "--auth-file", directory .. "/zk"))
    assert.equal("normal 2 grep|x", zsh("run", "/a", "--", "grep", "x"))
    assert.equal("normal 1 gre", zsh("run", "--acl=open", "/a", "--", "gre"))
    assert.equal("files", zsh("run", "--auth-file", "x"))
  end)
end)
