-- No code runs that lies in the current directory, which may be anyone's.
local command = require "support.command"
local quote = command.quote
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

-- What the command loads, and what a library may look for by itself.
local modules = { "argparse", "cjson", "dkjson", "jit/p", "luarocks/loader",
  "luv", "lfs", "posix", "socket", "zklock", "zklock/core", "zklock/guardian",
  "zklock/loader", "zklock/plain", "zklock/cli", "zklock/cli/main",
  "zklock/cli/exit", "zklock/cli/ls", "zklock/loop/luv" }

-- A module that leaves a mark, and one in C that cannot be loaded at all.
local POISON = [[
local mark = io.open(%q, "a")
mark:write((...) or "a program", "\n")
mark:close()
error "poison"
]]

describe("A current directory that is full of modules", function()
  local directory, mark

  local function write(name, text)
    os.execute(("mkdir -p %s"):format(quote(name:match "^(.*)/")))
    local file = assert(io.open(name, "w"))
    file:write(text)
    file:close()
  end

  before_each(function()
    support.start()
    local pipe = io.popen "mktemp -d"
    directory = pipe:read "*l"
    pipe:close()
    mark = directory .. "/mark"
    for _, module in ipairs(modules) do
      local text = POISON:format(mark)
      write(directory .. "/" .. module .. ".lua", text)
      write(directory .. "/" .. module .. "/init.lua", text)
      write(directory .. "/" .. module .. ".so", "poison")
    end
  end)
  after_each(function()
    os.execute("rm -rf " .. quote(directory))
    support.finish()
  end)

  local function marks()
    local file = io.open(mark)
    if not file then return "" end
    local text = file:read "*a"
    file:close()
    return text
  end

  -- Elements that are not absolute stand in front of those that are needed.
  local function poisoned(variable, file)
    return ("./?.%s;?.%s;?/init.%s;%s;;"):format(file, file, file,
      os.getenv(variable) or "")
  end

  local function run(words, env)
    local all = {
      LUA_PATH = poisoned("LUA_PATH", "lua"),
      LUA_CPATH = poisoned("LUA_CPATH", "so"),
    }
    for name, value in pairs(env or {}) do all[name] = value end
    local said = command.run(words, { cwd = directory, env = all })
    assert.equal("", marks(), said.err)
    return said
  end

  it("gives no code to any command", function()
    local path = support.path()
    for _, words in ipairs { { "--help" }, { "--version" },
        { "run", path, "--", "true" }, { "run", "--help" },
        { "ls", path }, { "ls", "-R", "--json", path },
        { "revoke", path }, { "check", "--json", path } } do
      local said = run(words)
      assert.equal(0, said.code, table.concat(words, " ") .. ": " .. said.err)
    end
    assert.equal(1, run { "evict", "-y", path, "aB3xQ1-lock-0000000007" }.code)
    assert.equal(64, run({ "nosuch" }).code)
  end)

  it("gives none to a watch", function()
    local path = support.path()
    local guard = support.hold(path)
    local it = command.start({ "watch", "--json", path }, { cwd = directory,
      env = { LUA_PATH = poisoned("LUA_PATH", "lua"),
        LUA_CPATH = poisoned("LUA_CPATH", "so") } })
    it:expect "granted"
    it:signal "TERM"
    assert.equal(143, it:wait())
    assert.equal("", marks())
    guard:release()
  end)

  it("gives none to completion", function()
    for _, words in ipairs { { "l" }, { "ls", "/" }, { "evict", "/a", "" } } do
      local all = { "complete", "bash", tostring(#words), "zklock" }
      for _, word in ipairs(words) do all[#all + 1] = word end
      assert.equal(0, run(all).code)
    end
    local said = run { "complete", "bash", "1", "zklock", "l" }
    assert.matches("ls\t", said.out)
  end)

  it("gives none where the paths are the interpreter's own", function()
    -- What is absolute comes from where the program lies.
    local said = run({ "--version" }, { LUA_PATH = ";;", LUA_CPATH = ";;" })
    assert.matches("^zklock %d", said.out)
    said = run({ "--version" }, { LUA_PATH = false, LUA_CPATH = false })
    assert.matches("^zklock %d", said.out)
  end)

  it("gives none to the file that a shell runs", function()
    local pipe = io.popen(("cd %s && unset LUA_PATH; PATH=%s %s --version 2>&1")
      :format(quote(directory), quote(command.only_lua(directory .. "/path")),
      quote(root .. "/bin/zklock")))
    assert.matches("^zklock %d", pipe:read "*a")
    pipe:close()
    assert.equal("", marks())
  end)

  it("gives none to a shell's completion of what lies in it", function()
    write(directory .. "/bin/zklock", "#!/bin/sh\necho >" .. mark .. "\n")
    os.execute(("chmod 755 %s/bin/zklock"):format(quote(directory)))
    for _, name in ipairs { "./bin/zklock", "bin/zklock" } do
      local pipe = io.popen(("cd %s && bash --norc -c %s 2>&1"):format(
        quote(directory), quote(([[
          source '%s/completion/zklock.bash'
          COMP_WORDS=(%s l)
          COMP_CWORD=1
          _zklock
        ]]):format(root, name))))
      pipe:read "*a"
      pipe:close()
      assert.equal("", marks())
    end
  end)
end)
