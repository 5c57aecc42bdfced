--- Tables of documents that name what shows a thing: is it there?
--
--     `integration/guard_spec.lua` "fails with lost"   a test, by the beginning
--                                                      of its name, with the
--                                                      name of its group or not
--     sim: `lag`               a class of faults; also "simulated fault: "
--     mutant: `permit-too-many`     a mutant; also "deliberate bug: "
--     file: `spec/fuzz/names.c`
local files = require "support.files"

local proofs = {}

local root = (os.getenv "SPEC_ROOT" or ".") .. "/"

--- The text of a file of the project; nil if there is none.
function proofs.read(name)
  local is_there, text = pcall(files.read, root .. name)
  return is_there and text or nil
end
local read = proofs.read

-- What a proof names → is it there?
local kinds = {}

function kinds.sim(names)
  local faults = read "spec/sim/faults.h"
  for name in names:gmatch "`([^`]+)`" do
    if not faults:find(('"%s"'):format(name), 1, true) then
      return false, "the simulator knows no " .. name
    end
  end
  return names:find "`" ~= nil
end

function kinds.mutant(names)
  local name = names:match "`([^`]+)`"
  local table_of_mutants = "\n" .. read "spec/sim/mutants/table"
  return name and table_of_mutants:find("\n" .. name .. " | ", 1, true) ~= nil
end

kinds["simulated fault"], kinds["deliberate bug"] = kinds.sim, kinds.mutant

function kinds.file(names)
  return read(tostring(names:match "`([^`]+)`")) ~= nil
end

-- Is a test of this name in the source? The name can begin with that of a group
-- (`describe`), which the source then has, too.
local function has_test(source, title)
  if source:find('"' .. title, 1, true) then return true end
  for at in title:gmatch "() " do
    local group, rest = title:sub(1, at - 1), title:sub(at + 1)
    if rest:find " " and (source:find(('"%s"'):format(group), 1, true)
        or source:find(('"%s #stock"'):format(group), 1, true))
      and source:find('"' .. rest, 1, true) then
      return true
    end
  end
  return false
end

-- Tests in C are named by the comment that busted shows.
local function check_test(text)
  local name, title = text:match '^`([^`]+)` "([^"]+)"$'
  if not name then return false, "that is no test: " .. text end
  local source = read("spec/" .. name)
  if not source then return false, "there is no file " .. name end
  -- (A long name stands in two strings.)
  if not has_test((source:gsub('"%s*%.%.%s*"', "")), title) then
    return false, ("%s has no test %q"):format(name, title)
  end
  return true
end

--- True if what one proof names is there; false and why not.
function proofs.check(text)
  local kind, rest = text:match "^(%a[%a ]*): (.+)$"
  if not kind then return check_test(text) end
  if not kinds[kind] then return false, "what is that: " .. text end
  local ok, why = kinds[kind](rest)
  return ok, why or ("there is no %s"):format(text)
end

--- The rows of a table that begin with a letter and a number, as `{ number = }`
-- with the other cells in it.
function proofs.rows(name, letter)
  local list = {}
  for line in assert(read(name)):gmatch "[^\n]+" do
    local number, rest = line:match("^| " .. letter .. "(%d+) | (.+) |$")
    if number then
      local row = { number = tonumber(number) }
      for cell in (rest .. " | "):gmatch "(.-) | " do row[#row + 1] = cell end
      list[#list + 1] = row
    end
  end
  return list
end

--- What is wrong with the proofs of a table's cell, a sentence each, added to
-- `problems`; `row` names the row.
function proofs.check_cell(cell, row, problems)
  for text in (cell .. "<br>"):gmatch "(.-)<br>" do
    local ok, why = proofs.check(text)
    if not ok then problems[#problems + 1] = ("%s: %s"):format(row, why) end
  end
end

return proofs
