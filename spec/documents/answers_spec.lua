-- A loss is known when the lock is given back.  An answer that a handler has
-- sent before that cannot be taken back: so no page and no example has one.
local lfs = require "lfs"
local read = require "support.files".read

local root = os.getenv "SPEC_ROOT" or "."

local function each_file(folder, fn)
  for name in lfs.dir(root .. "/" .. folder) do
    local path = folder .. name
    local mode = lfs.attributes(root .. "/" .. path, "mode")
    if mode == "directory" and not name:find "^%." and folder ~= "" then
      each_file(path .. "/", fn)
    elseif name:find "%.md$" or name:find "%.lua$" or name:find "%.conf$" then
      fn(path, read(root .. "/" .. path))
    end
  end
end

-- What runs under a lock: the arguments of these calls, and a function that is
-- named there.
local function each_section(text, fn)
  for _, call in ipairs { "with_lock", ":once", ":run" } do
    for arguments in text:gmatch(call .. "%s*(%b())") do
      fn(arguments)
      for name in arguments:gmatch "[(,]%s*([%a_][%w_]*)%s*%f[,)]" do
        local head = "\n([ -]*)local function " .. name .. "%("
        local from, to = text:find(head .. "[^\n]* end\n")
        if not from then from, to = text:find(head .. ".-\n%1end\n") end
        if from then fn(text:sub(from, to)) end
      end
    end
  end
end

local function answers_in(text)
  local found = {}
  each_section(text, function(section)
    for answer in section:gmatch "ngx%.%l+" do
      if answer == "ngx.say" or answer == "ngx.print" or answer == "ngx.exit"
        or answer == "ngx.redirect" or answer == "ngx.header" then
        found[#found + 1] = answer .. " in " .. section
      end
    end
  end)
  return found
end

describe("What a handler answers", function()
  it("is sent when the lock was given back, in all pages and examples",
  function()
    local n = 0
    for _, folder in ipairs { "", "doc/", "doc/dev/", "examples/",
      "lua/zklock/meta/", "bench/", "package/" } do
      each_file(folder, function(path, text)
        each_section(text, function() n = n + 1 end)
        assert.same({}, answers_in(text), path)
      end)
    end
    assert.is_true(n > 50, n)
  end)

  it("is seen by this spec where it is sent before", function()
    assert.equal(2, #answers_in [[
      mutex:with_lock(function(guard) ngx.say(guard:token()) end)
      local ok = mutex:with_lock(function() end)
      ngx.say(ok)

  local function work()
    ngx.print "done"
  end
  mutex:with_lock(30, work)]])
  end)
end)
