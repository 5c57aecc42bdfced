-- spec/floors, on houses of a few lines.
local floors = require "support.floors"

describe("The check of the floors #once #layer", function()
  local tree

  before_each(function()
    tree = os.tmpname()
    os.remove(tree)
    assert(os.execute(("mkdir -p '%s'/src/protocol '%s'/src/io '%s'/lua/zklock")
      :format(tree, tree, tree)))
  end)
  after_each(function() os.execute("rm -rf '" .. tree .. "'") end)

  local function write(path, text)
    local file = assert(io.open(tree .. "/" .. path, "w"))
    file:write(text)
    file:close()
  end

  -- What it says, with the spaces of its columns taken out.
  local function said()
    return (table.concat((floors.check(tree)), "\n"):gsub("%s+", " "))
  end

  it("is content with arrows that go down", function()
    write("src/protocol/name.h", "int name_size(const char *name);\n")
    write("src/protocol/name.c", '#include "name.h"\n#include <string.h>\n'
      .. "int name_size(const char *name) {\n  return (int)strlen(name);\n}\n")
    write("src/io/core.c", '#include "protocol/name.h"\n'
      .. 'int core_size(void) {\n  return name_size("core");\n}\n')
    assert.equal("", said())
  end)

  it("finds a file that looks up to a higher floor", function()
    write("src/io/core.h", "int core_time(void);\n")
    write("src/protocol/name.c", '#include "io/core.h"\n')
    assert.equal("src/protocol/name.c:1: src/io/core.h is not below: "
      .. "#include io/core.h", said())
  end)

  it("finds a circle of includes", function()
    write("src/io/a.h", '#include "b.h"\n')
    write("src/io/b.h", '#include "a.h"\n')
    local text = said()
    assert.match("a circle of 2 files: src/io/a, src/io/b", text, 1, true)
    assert.match("io/b → io/a src/io/b.h:1: #include a.h", text, 1, true)
  end)

  it("finds a circle of calls that no include shows", function()
    write("src/io/a.h", "int b_size(void);\n")
    write("src/io/a.c", "int a_size(void) {\n  return b_size();\n}\n")
    write("src/io/b.c", '#include "a.h"\n\nint b_size(void) {\n'
      .. "  return 1;\n}\n")
    assert.match("io/a → io/b src/io/a.c:2: b_size", said(), 1, true)
  end)

  it("finds a circle through a third file", function()
    for from, to in pairs { a = "b", b = "c", c = "a" } do
      write("src/io/" .. from .. ".c", ("int %s_size(void) {\n"
        .. "  return %s_size();\n}\n"):format(from, to))
    end
    assert.match("a circle of 3 files: src/io/a, src/io/b, src/io/c", said(), 1,
      true)
  end)

  it("takes a function that is handed down for no arrow", function()
    write("src/io/a.h", "struct a {\n  void (*b_tell)(void);\n};\n"
      .. "void a_run(struct a *a);\n")
    write("src/io/a.c", '#include "a.h"\nvoid a_run(struct a *a) {\n'
      .. "  a->b_tell(); // b_tell()\n}\n")
    write("src/io/b.c", '#include "a.h"\nvoid b_tell(void) {\n}\n'
      .. "void b_run(void) {\n  struct a a = {.b_tell = b_tell};\n"
      .. "  a_run(&a);\n}\n")
    assert.equal("", said())
  end)

  it("takes a function of the file itself for no arrow", function()
    write("src/io/a.c", "static int size(void) {\n  return 1;\n}\n"
      .. "int a_size(void) {\n  return size();\n}\n")
    write("src/io/b.c", "static int size(void) {\n  return a_size();\n}\n"
      .. "int b_size(void) {\n  return size();\n}\n")
    assert.equal("", said())
  end)

  it("finds headers that are none of a floor's business", function()
    write("src/protocol/name.c", "#include <pthread.h>\n")
    write("src/io/core.c", "#include <zookeeper/zookeeper.h>\n")
    assert.equal("src/io/core.c:1: not on this floor: "
      .. "#include zookeeper/zookeeper.h src/protocol/name.c:1: "
      .. "not on this floor: #include pthread.h", said())
  end)

  it("finds a circle of modules", function()
    write("lua/zklock/a.lua", 'local b = require "zklock.b"\n')
    write("lua/zklock/b.lua", "-- b\nlocal a = require('zklock.a')\n")
    assert.match("lua/zklock/b.lua:2: require \"zklock.a\"", said(), 1, true)
  end)

  it("takes a module that is named at run time for no arrow", function()
    write("lua/zklock/a.lua", 'local function load(name)\n'
      .. '  return require("zklock." .. name)\nend\n')
    write("lua/zklock/b.lua", 'local a = require "zklock.a"\n')
    assert.equal("", said())
  end)

  it("finds no fault with an empty house but that it is empty", function()
    local lines, files = floors.check(tree)
    assert.same({}, lines)
    assert.equal(0, files)
  end)
end)
