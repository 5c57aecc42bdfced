-- Every short example, with a collection after every few instructions.
local examples = require "support.examples"
local support = require "support"

support.is_bare = true -- the examples are other processes

describe("A collection after every few instructions", function()
  local root, lua = os.getenv "SPEC_ROOT", os.getenv "SPEC_LUA"

  it("disturbs no example", function()
    for _, example in ipairs(examples.all()) do
      if examples.is_there(example) then
        local pipe = io.popen(("cd '%s' && "
          .. "LUA_INIT=@spec/memory/stepped.lua %s 'examples/%s.lua' "
          .. "'%s/stepped' 2>&1 && echo fine"):format(root, lua, example.name,
          support.hosts))
        local output = pipe:read "*a"
        pipe:close()
        assert.is_truthy(output:find "fine\n$", example.name .. ": " .. output)
      end
    end
  end)
end)
