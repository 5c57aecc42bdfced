-- The same seed gives the same trace, byte for byte, though addresses, the hash
-- seeds of Lua and process numbers differ from process to process.
local support = require "support"

local STORY = (os.getenv "SPEC_ROOT" or ".") .. "/spec/virtual/story.lua"

local function read_file(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function trace_of(seed)
  local name = os.tmpname()
  os.remove(name)
  local pipe = io.popen(("%s '%s' %d %s 2>&1; echo status $?"):format(
    support.lua, STORY, seed, name))
  local output = pipe:read "*a"
  pipe:close()
  assert.equal("status 0\n", output)
  local text = read_file(name)
  os.remove(name)
  return text
end

-- Of two long texts only the first line that differs is worth a message.
local function first_difference(one, other)
  if one == other then return nil end
  local lines, n = other:gmatch "[^\n]*", 0
  for line in one:gmatch "[^\n]*" do
    n = n + 1
    local counterpart = lines()
    if line ~= counterpart then
      return ("line %d: %s | %s"):format(n, line, tostring(counterpart))
    end
  end
  return "one is longer"
end

describe("A run in virtual time", function()
  it("has the same trace each time, for the same seed", function()
    for seed = 1, 3 do
      local first = trace_of(seed)
      assert.is_true(#first > 100000)
      for _ = 1, 5 do
        assert.is_nil(first_difference(first, trace_of(seed)))
      end
    end
  end)

  it("has another trace for another seed", function()
    assert.are_not.equal(trace_of(1), trace_of(2))
  end)
end)
