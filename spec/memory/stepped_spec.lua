-- Every short example, with a collection after every few instructions.
local support = require "support"

describe("A collection after every few instructions", function()
  local root = os.getenv "SPEC_ROOT"
  -- (A hook does not see what a compiler of machine code has compiled.)
  local lua = os.getenv "SPEC_LUA" .. (jit and " -joff" or "")

  for name in io.popen("ls '" .. root .. "/examples'"):lines() do
    if name:find "%.lua$" then
      it("does not disturb examples/" .. name, function()
        local pipe = io.popen(("cd '%s' && %s spec/memory/stepped.lua "
          .. "'examples/%s' '%s/stepped' 2>&1 && echo fine"):format(root, lua,
          name, support.hosts))
        local output = pipe:read "*a"
        pipe:close()
        assert.is_truthy(output:find "fine\n$", output)
      end)
    end
  end
end)
