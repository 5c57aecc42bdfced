-- doc/failures.md names a test for each published failure of other libraries.
-- Is every row there, and is what it names there as well?
local function read(name)
  local file = io.open(name)
  if not file then return nil end
  local text = file:read "*a"
  file:close()
  return text
end

local root = (os.getenv "SPEC_ROOT" or ".") .. "/"
local FIRST, LAST = 1, 61

local function rows()
  local list = {}
  for line in assert(read(root .. "doc/failures.md")):gmatch "[^\n]+" do
    local number, elsewhere, here = line:match "^| T(%d+) | (.+) | (.+) |$"
    if number then
      list[#list + 1] = { number = tonumber(number), elsewhere = elsewhere,
        here = here }
    end
  end
  return list
end

-- What a row names → is it there?
local kinds = {}

function kinds.sim(names)
  local faults = read(root .. "spec/sim/faults.h")
  for name in names:gmatch "`([^`]+)`" do
    if not faults:find(('"%s")'):format(name), 1, true) then
      return false, "the simulator knows no " .. name
    end
  end
  return names:find "`" ~= nil
end

function kinds.mutant(names)
  local name = names:match "`([^`]+)`"
  return read(root .. "spec/sim/mutants/" .. tostring(name) .. ".patch") ~= nil
end

function kinds.file(names)
  return read(root .. tostring(names:match "`([^`]+)`")) ~= nil
end

local function check_test(text)
  local name, title = text:match '^`([^`]+_spec%.lua)` "([^"]+)"$'
  if not name then return false, "that is no test: " .. text end
  local source = read(root .. "spec/" .. name)
  if not source then return false, "there is no file " .. name end
  if not source:find('"' .. title, 1, true) then
    return false, ("%s has no test %q"):format(name, title)
  end
  return true
end

local function check(text)
  local kind, rest = text:match "^(%a+): (.+)$"
  if not kind then return check_test(text) end
  if not kinds[kind] then return false, "what is that: " .. text end
  local ok, why = kinds[kind](rest)
  return ok, why or ("there is no %s"):format(text)
end

describe("The table of failures", function()
  it("has every row, once, in order", function()
    local numbers, wanted = {}, {}
    for i, row in ipairs(rows()) do numbers[i] = row.number end
    for i = FIRST, LAST do wanted[#wanted + 1] = i end
    assert.same(wanted, numbers)
  end)

  it("says what went wrong, and names what is there", function()
    local problems = {}
    for _, row in ipairs(rows()) do
      if #row.elsewhere < 20 then
        problems[#problems + 1] = ("T%d says nothing"):format(row.number)
      end
      for text in (row.here .. "<br>"):gmatch "(.-)<br>" do
        local ok, why = check(text)
        if not ok then
          problems[#problems + 1] = ("T%d: %s"):format(row.number, why)
        end
      end
    end
    assert.equal("", table.concat(problems, "\n"))
  end)

  it("would notice a test that is gone", function()
    assert.is_false((check '`unit/hosts_spec.lua` "no such test"'))
    assert.is_true((check '`unit/failures_spec.lua` "would notice a test"'))
    assert.is_false((check '`unit/no_spec.lua` "would notice a test"'))
    assert.is_false((check "sim: `sunshine`"))
    assert.is_false((check "mutant: `none`"))
    assert.is_false((check "file: `spec/none.c`"))
    assert.is_false((check "hope: `the best`"))
  end)
end)
