-- Texts are compared by their bytes, never by `<`, which is the locale's.
local bytes = require "zklock.bytes"
local files = require "support.files"

local root = os.getenv "SPEC_ROOT" or "."

-- What is called so is a text, whichever table it is in; and a list of numbers.
local TEXTS, NUMBERS = {}, { times = true }
for name in ("path name kind mode token node text key word hosts host chroot "
  .. "scheme layout data"):gmatch "%l+" do
  TEXTS[name] = true
end

-- "part.path", and not "#part.path".
local function is_text(operand)
  return TEXTS[operand:match "^[^#]*%f[%l_]([%l_]+)$"]
    or operand:find '"$' ~= nil
end

-- Does this line compare texts as the locale does?
local function compares(line)
  local list = line:match "table%.sort%(([^(),]*)%)"
  if list and not NUMBERS[list] then return true end
  for left, right in line:gmatch '([#%w_.:"]+) [<>]=? ([#%w_.:"]+)' do
    local number = tonumber(left) or tonumber(right)
      or (left .. right):find "#"
    if not number and (is_text(left) or is_text(right)) then return true end
  end
  return false
end

describe("Bytes", function()
  local texts = { "", "\0", "\0a", "-", "/", "0", "00", "A", "B", "Ba", "_",
    "a", "a\0", "a-b", "a/b", "aB", "aa", "b", "z", "\127", "\128", "\195\169",
    "\240\159\146\165", "\255", "\255\255" }

  it("are in one order, and no two texts are equal in it", function()
    for i, a in ipairs(texts) do
      for j, b in ipairs(texts) do
        assert.equal(i < j, bytes.less(a, b), ("%q %q"):format(a, b))
      end
    end
  end)

  it("sort a list", function()
    local list = { "b", "a/c", "", "B", "a-c", "\255" }
    bytes.sort(list)
    assert.same({ "", "B", "a-c", "a/c", "b", "\255" }, list)
  end)
end)

describe("The library", function()
  it("compares no texts as the locale does", function()
    local pipe = io.popen(("cd '%s' && find lua bin -type f ! -path '*/meta/*'")
      :format(root))
    local found, seen = {}, 0
    for name in pipe:lines() do
      local text, number = files.read(root .. "/" .. name), 0
      for line in (text .. "\n"):gmatch "(.-)\n" do
        number = number + 1
        local code = line:gsub("%-%-.*$", "")
        if name ~= "lua/zklock/bytes.lua" and compares(code) then
          found[#found + 1] = ("%s:%d: %s"):format(name, number, code)
        end
      end
      seen = seen + 1
    end
    pipe:close()
    assert.is_true(seen > 50)
    assert.equal("", table.concat(found, "\n"))
  end)
end)
