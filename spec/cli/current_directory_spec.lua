-- No code runs that lies in the current directory, which may be anyone's.
local command = require "support.command"
local files = require "support.files"
local quote = command.quote
local shell = require "support.shell"
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

-- Elements that are not absolute stand in front of those that are needed.
local function poisoned(variable, file)
  return ("./?.%s;?.%s;?/init.%s;%s;;"):format(file, file, file,
    os.getenv(variable) or "")
end
local POISONED = { LUA_PATH = poisoned("LUA_PATH", "lua"),
  LUA_CPATH = poisoned("LUA_CPATH", "so") }

describe("A current directory that is full of modules", function()
  local directory

  local function write(name, text)
    name = directory .. "/" .. name
    os.execute(("mkdir -p %s"):format(quote(name:match "^(.*)/")))
    files.write(name, text, "755")
  end

  before_each(function()
    directory = command.directory()
    for _, module in ipairs(modules) do
      local text = POISON:format(directory .. "/mark")
      write(module .. ".lua", text)
      write(module .. "/init.lua", text)
      write(module .. ".so", "poison")
    end
  end)

  local function check_no_mark(said)
    local file = io.open(directory .. "/mark")
    assert.is_nil(file and file:read "*a", said)
  end

  local function run(words, env)
    local said = command.run(words, { cwd = directory, env = env or POISONED })
    check_no_mark(said.err)
    return said
  end

  it("gives no code to any command", function()
    local path = support.path()
    for _, words in ipairs { { "--help" }, { "--version" },
        { "run", path, "--", "true" }, { "run", "--help" },
        { "ls", path }, { "ls", "-R", "--json", path },
        { "revoke", path }, { "check", "--json", path },
        { "completion", "bash" } } do
      local said = run(words)
      assert.equal(0, said.code, table.concat(words, " ") .. ": " .. said.err)
    end
    assert.equal(1, run({ "evict", "-y", path, "aB3xQ1-lock-0000000007" }).code)
    assert.equal(64, run({ "nosuch" }).code)
    support.hold(path)
    local it = command.start({ "watch", "--json", path }, { cwd = directory,
      env = POISONED })
    it:expect "granted"
    it:signal "TERM"
    assert.equal(143, it:wait())
    check_no_mark(it:err())
  end)

  it("gives no code to the file that a shell runs, nor with the "
    .. "interpreter's own paths", function()
    for _, path in ipairs { ";;", false } do
      local said = run({ "--version" }, { LUA_PATH = path, LUA_CPATH = path })
      assert.matches("^zklock %d", said.out)
    end
    assert.matches("^zklock %d", shell.must(
      ("cd %s && unset LUA_PATH; PATH=%s %s --version"):format(
        quote(directory), quote(command.only_lua(directory .. "/path")),
        quote(root .. "/bin/zklock"))))
    check_no_mark()
  end)
end)
