--- C programs that embed the Lua that runs this spec.
local execute = require "support.shell".run
local support = require "support"

local host = {}

-- Where Lua's headers and library are, in Debian and Ubuntu.
local function flags()
  local incdir = os.getenv "LUA_INCDIR"
  if rawget(_G, "jit") then
    return "-I" .. (incdir or "/usr/include/luajit-2.1"), "-lluajit-5.1"
  end
  local version = _VERSION:sub(5)
  return "-I" .. (incdir or "/usr/include/lua" .. version), "-llua" .. version
end

--- Compiles a C file, with the sanitizers that the specs run under: the path
-- of a program, which is removed when the test is over.
function host.build(source)
  local include, library = flags()
  local program = os.tmpname()
  support.closing({}, function() os.remove(program) end)
  local root = os.getenv "SPEC_ROOT" or "."
  local ok, text = execute(table.concat({
    os.getenv "CC" or "cc", "-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror",
    os.getenv "CFLAGS" or "-O2 -g", include, "-I" .. root .. "/src",
    root .. "/" .. source, "-o", program, library,
    "-lpthread -ldl -lm", os.getenv "LDFLAGS" or "",
  }, " "))
  assert(ok, text)
  return program
end

-- The thread sanitizer of older compilers wants addresses that are not random.
local function prefix()
  if not (os.getenv "TSAN_OPTIONS") then return "" end
  local arch = "setarch $(uname -m) -R "
  return execute(arch .. "true") and arch or ""
end

--- Runs it: did it end well, and what did it write?
function host.run(program, ...)
  return execute(prefix() .. table.concat({ program, ... }, " "))
end

return host
