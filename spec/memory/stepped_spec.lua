-- Every short example, with a collection after every few instructions.
local support = require "support"

describe("A collection after every few instructions", function()
  local root, lua = os.getenv "SPEC_ROOT", os.getenv "SPEC_LUA"

  for name in io.popen("ls '" .. root .. "/examples'"):lines() do
    if name:find "%.lua$" then
      it("does not disturb examples/" .. name, function()
        local pipe = io.popen(("cd '%s' && "
          .. "LUA_INIT=@spec/memory/stepped.lua %s 'examples/%s' "
          .. "'%s/stepped' 2>&1 && echo fine"):format(root, lua, name,
          support.hosts))
        local output = pipe:read "*a"
        pipe:close()
        assert.is_truthy(output:find "fine\n$", output)
      end)
    end
  end
end)
