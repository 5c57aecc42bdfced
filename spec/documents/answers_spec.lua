-- A loss is known when the lock is given back.  An answer that a handler has
-- sent before that cannot be taken back: so no page and no example has one.
local output = require "support.shell".output
local read = require "support.files".read

local root = os.getenv "SPEC_ROOT" or "."

-- What runs under a lock: the arguments of these calls.
local function each_section(text, fn)
  for _, call in ipairs { "with_lock", ":once", ":run" } do
    for arguments in text:gmatch(call .. "%s*(%b())") do fn(arguments) end
  end
end

describe("What a handler answers", function()
  it("is sent when the lock was given back, in all pages and examples",
  function()
    local n = 0
    for path in output(("cd '%s' && ls *.md && find doc examples bench "
      .. "package lua/zklock/meta -name '*.md' -o -name '*.lua' "
      .. "-o -name '*.conf'"):format(root)):gmatch "[^\n]+" do
      each_section(read(root .. "/" .. path), function(section)
        n = n + 1
        for _, name in ipairs { "say", "print", "exit", "redirect", "header" }
        do
          assert.is_nil(section:find("ngx." .. name, 1, true),
            path .. ": " .. section)
        end
      end)
    end
    assert.is_true(n > 50, n)
  end)
end)
