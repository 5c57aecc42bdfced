-- What a user hears who requires a zklock that cannot be loaded.  The modules
-- here are real ones that the real loader refuses.
local files = require "support.files"
local shell = require "support.shell"

local root = assert(os.getenv "SPEC_ROOT")
local lua = assert(os.getenv "SPEC_LUA")
local is_jit = rawget(_G, "jit")
local this, version = is_jit and "LuaJIT" or _VERSION, _VERSION:match "%d.*"

local function run(command) return shell.output(command .. " 2>&1") end

describe("A zklock that cannot be loaded", function()
  local dir

  before_each(function()
    dir = run "mktemp -d":match "%S+"
    run("mkdir " .. dir .. "/zklock")
  end)

  after_each(function() run("rm -rf '" .. dir .. "'") end)

  -- Compiles a C module whose only function returns `expression`.
  local function compile(expression, flags)
    local source = ("int %s(); int luaopen_zklock_core(void *L) { return %s; }")
      :format(expression:match "[%w_]+", expression)
    assert.equal("", run(("cd %s && echo '%s' | cc -w -std=gnu11 -shared -fPIC "
      .. "-x c - -o zklock/core.so %s"):format(dir, source, flags or "")))
  end

  -- What requiring `name` says, with only `dir` to find C modules in.
  local function require_it(name)
    local text = run(("LUA_PATH='%s/lua/?.lua;%s/lua/?/init.lua' "
      .. "LUA_CPATH='%s/?.so' %s -e 'print(select(2, pcall(require, \"%s\")))'")
      :format(root, root, dir, lua, name))
    local sentence, behind = text:match "^(zklock: [^\n]+)\n(.+)"
    assert.is_truthy(sentence, text)
    return sentence, behind
  end

  it("says that the C module is not installed", function()
    local sentence, behind = require_it "zklock"
    assert.equal(("zklock: the C module is not where %s looks for it: 'make "
      .. "install LUA_VERSION=%s' installs it, LUA_CPATH says where it is")
      :format(this, version), sentence)
    assert.matches("module 'zklock.core' not found", behind, 1, true)
  end)

  -- `lacks`: what this Lua lacks; `behind`: what the loader says.
  local function is_for_another(lacks, behind)
    local sentence, rest = require_it "zklock"
    assert.equal(("zklock: %s/zklock/core.so was built for another Lua: this "
      .. "is %s%s; 'make LUA_VERSION=%s' or 'luarocks --lua-version=%s' builds "
      .. "it for this one"):format(dir, this, lacks, version, version),
      sentence)
    assert.matches(behind, rest, 1, true)
  end

  it("says that the C module was built for another Lua", function()
    -- 5.1 has not the one, 5.2 and later have not the other.
    local symbol = version == "5.1" and "lua_rawlen" or "lua_objlen"
    compile(symbol .. "(L, 1)")
    is_for_another(", and has no " .. symbol,
      "error loading module 'zklock.core'")
  end)

  it("says so of a module that another Lua can link", function()
    if version == "5.1" then return end -- it has no such check
    compile "luaL_checkversion_(L, 1.0, 136)"
    is_for_another("", "version mismatch")
  end)

  local function needs(library, what)
    assert.equal("", run(("cd %s && echo 'int zoo(void) { return 0; }' | cc "
      .. "-shared -fPIC -x c - -o %s -Wl,-soname,%s"):format(dir, library,
        library)))
    compile("zoo()", "-x none " .. library)
    run(("rm %s/%s"):format(dir, library))
    local sentence = require_it "zklock"
    assert.equal(("zklock: %s/zklock/core.so needs %s, which is not there: "
      .. "install %s, or name its directory in LD_LIBRARY_PATH"):format(dir,
      library, what), sentence)
  end

  it("says that ZooKeeper's client, or libmd, is not there", function()
    needs("libzookeeper_st.so.99", "ZooKeeper's C client")
    needs("libmd.so.99", "libmd")
  end)

  it("says what the loader says, where nobody knows better", function()
    files.write(dir .. "/zklock/core.so", "no library")
    local text = run(("LUA_PATH='%s/lua/?.lua;%s/lua/?/init.lua' "
      .. "LUA_CPATH='%s/?.so' %s -e 'require \"zklock\"'"):format(root, root,
        dir, lua))
    assert.matches("error loading module 'zklock.core'", text, 1, true)
    assert.is_nil(text:find("zklock: the C module", 1, true))
  end)
end)
