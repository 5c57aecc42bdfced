-- spec/floors, on houses of a few lines.
local floors = require "support.floors"

describe("The check of the floors", function()
  local tree

  before_each(function()
    tree = os.tmpname()
    os.remove(tree)
    assert(os.execute(("mkdir -p '%s'/src/protocol '%s'/src/io '%s'/lua/zklock")
      :format(tree, tree, tree)))
  end)
  after_each(function() os.execute("rm -rf '" .. tree .. "'") end)

  -- What it says of these files, with the spaces of its columns taken out.
  local function said(files)
    for path, text in pairs(files) do
      local file = assert(io.open(tree .. "/" .. path, "w"))
      file:write(text)
      file:close()
    end
    return (table.concat((floors.check(tree)), "\n"):gsub("%s+", " "))
  end

  it("is content with arrows that go down", function()
    assert.equal("", said {
      ["src/protocol/name.h"] = "int name_size(const char *name);\n",
      ["src/protocol/name.c"] = '#include "name.h"\n#include <string.h>\n'
        .. "int name_size(const char *name) {\n"
        .. "  return (int)strlen(name);\n}\n",
      ["src/io/core.c"] = '#include "protocol/name.h"\n'
        .. 'int core_size(void) {\n  return name_size("core");\n}\n' })
  end)

  it("finds a file that looks up to a higher floor", function()
    assert.equal("src/protocol/name.c:1: src/io/core.h is not below: "
      .. "#include io/core.h", said {
        ["src/io/core.h"] = "int core_time(void);\n",
        ["src/protocol/name.c"] = '#include "io/core.h"\n' })
  end)

  it("finds a circle of includes, of calls, of modules", function()
    local text = said { ["src/io/a.h"] = '#include "b.h"\n',
      ["src/io/b.h"] = '#include "a.h"\n' }
    assert.match("a circle of 2 files: src/io/a, src/io/b", text, 1, true)
    assert.match("io/b → io/a src/io/b.h:1: #include a.h", text, 1, true)
    assert.match("io/a → io/b src/io/a.c:2: b_size", said {
      ["src/io/a.h"] = "int b_size(void);\n",
      ["src/io/a.c"] = "int a_size(void) {\n  return b_size();\n}\n",
      ["src/io/b.h"] = "",
      ["src/io/b.c"] = '#include "a.h"\n\nint b_size(void) {\n  return 1;\n}\n'
    }, 1, true)
    assert.match("lua/zklock/b.lua:2: require \"zklock.a\"", said {
      ["lua/zklock/a.lua"] = 'local b = require "zklock.b"\n',
      ["lua/zklock/b.lua"] = "-- b\nlocal a = require('zklock.a')\n"
    }, 1, true)
  end)

  it("finds a circle through a third file", function()
    local files = {}
    for from, to in pairs { a = "b", b = "c", c = "a" } do
      files["src/io/" .. from .. ".c"] = ("int %s_size(void) {\n"
        .. "  return %s_size();\n}\n"):format(from, to)
    end
    assert.match("a circle of 3 files: src/io/a, src/io/b, src/io/c",
      said(files), 1, true)
  end)

  it("takes a function that is handed down, or the file's own, for no arrow",
  function()
    assert.equal("", said {
      ["src/io/a.h"] = "struct a {\n  void (*b_tell)(void);\n};\n"
        .. "void a_run(struct a *a);\n",
      ["src/io/a.c"] = '#include "a.h"\nvoid a_run(struct a *a) {\n'
        .. "  a->b_tell(); // b_tell()\n}\n",
      ["src/io/b.c"] = '#include "a.h"\nvoid b_tell(void) {\n}\n'
        .. "void b_run(void) {\n  struct a a = {.b_tell = b_tell};\n"
        .. "  a_run(&a);\n}\n" })
    assert.equal("", said {
      ["src/io/a.h"] = "",
      ["src/io/a.c"] = "static int size(void) {\n  return 1;\n}\n"
        .. "int a_size(void) {\n  return size();\n}\n",
      ["src/io/b.c"] = "static int size(void) {\n  return a_size();\n}\n"
        .. "int b_size(void) {\n  return size();\n}\n" })
  end)

  it("takes a module that is named at run time for no arrow", function()
    assert.equal("", said {
      ["lua/zklock/a.lua"] = "local function load(name)\n"
        .. '  return require("zklock." .. name)\nend\n',
      ["lua/zklock/b.lua"] = 'local a = require "zklock.a"\n' })
  end)

  it("finds headers that are none of a floor's business", function()
    assert.equal("src/io/core.c:1: not on this floor: "
      .. "#include zookeeper/zookeeper.h src/protocol/name.c:1: "
      .. "not on this floor: #include pthread.h", said {
        ["src/protocol/name.c"] = "#include <pthread.h>\n",
        ["src/io/core.c"] = "#include <zookeeper/zookeeper.h>\n" })
  end)

  it("finds no fault with an empty house but that it is empty", function()
    local lines, files = floors.check(tree)
    assert.same({}, lines)
    assert.equal(0, files)
  end)
end)
