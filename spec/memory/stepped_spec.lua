-- Every short example, with a collection after every few instructions.
local examples = require "support.examples"
local output_of = require "support.shell".output
local support = require "support"

describe("A collection after every few instructions", function()
  local root, lua = os.getenv "SPEC_ROOT", os.getenv "SPEC_LUA"

  -- To ask loads the example's library, which keeps descriptors: this is done
  -- before the test counts them.
  local there = {}
  for _, example in ipairs(examples.all()) do
    if examples.is_there(example) then there[#there + 1] = example end
  end

  it("disturbs no example", function()
    for _, example in ipairs(there) do
      local output = output_of(("cd '%s' && "
        .. "LUA_INIT=@spec/memory/stepped.lua %s 'examples/%s.lua' "
        .. "'%s/stepped' 2>&1 && echo fine"):format(root, lua, example.name,
        support.hosts))
      assert.is_truthy(output:find "fine\n$", example.name .. ": " .. output)
    end
  end)
end)
