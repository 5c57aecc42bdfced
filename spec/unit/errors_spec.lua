-- doc/errors.md: is every code, reason and exit code there, and can
-- zklock say what it quotes?
local output = require "support.shell".output
local proofs = require "support.proofs"

local PAGE = "doc/errors.md"

-- The lines of a section, by its heading.
local function section(text, heading)
  local marks = heading:match "^#+"
  local from = assert(select(2, ("\n" .. text):find("\n" .. heading .. "\n", 1,
    true)), heading)
  local to = text:find("\n" .. ("#"):rep(2, "") .. "#? [^\n]", from)
  if #marks == 2 then to = text:find("\n## ", from, true) end
  return text:sub(from, to or #text)
end

-- The rows of a page's tables: their cells.
local function rows(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do
    if line:find "^| " and not line:find "^|%-" then
      local cells = {}
      for cell in line:gmatch "|%s*([^|]*)" do cells[#cells + 1] = cell end
      list[#list + 1] = cells
    end
  end
  return list
end

-- What is quoted in the column `message` or `sentence` of the tables.
local function quoted(text)
  local list, column = {}, nil
  for _, cells in ipairs(rows(text)) do
    local head
    for i, cell in ipairs(cells) do
      if cell:find "^message" or cell:find "^sentence" then head = i end
    end
    if head then
      column = head
    elseif cells[1]:find "^exit code" or cells[1]:find "^call"
        or cells[1]:find "^ZooKeeper's code" then
      column = nil
    elseif column then
      for said in cells[column]:gmatch "`([^`]+)`" do list[#list + 1] = said end
    end
  end
  return list
end

-- Parts in which the page fills in a value.
local filled = {
  ["is used as a mutex by this session"] = true,
  ["not as a semaphore of 2 permits"] = true,
  ["this worker has 32 sessions by zklock"] = true,
  ["There is no zookeeper"] = true,
  ["a process of the command runs as another user and cannot be sent SIGTERM"]
    = true,
}

-- The sources, with what stands in several strings as one text.
local function sources()
  local list = {}
  for name in output(("cd '%s' && find lua src Makefile -type f"):format(
    os.getenv "SPEC_ROOT" or ".")):gmatch "[^\n]+" do
    list[#list + 1] = proofs.read(name):gsub('"%s*%.?%.?%s*"', "")
      :gsub("\\?%s+", " ")
  end
  return table.concat(list)
end

-- The words of a message that stand between its places and marks. One word says
-- little.
local function parts(said)
  local list = {}
  for words in said:gsub("<[^>]*>", "\0"):gmatch "[%w '=-]+" do
    local part = words:match "^%s*(.-)%s*$"
    if part:find "%a %a" then list[#list + 1] = part end
  end
  return list
end

describe("The page of errors", function()
  local text = assert(proofs.read(PAGE))

  it("has an entry for each code", function()
    local found = {}
    for word in section(text, "## Codes"):gmatch "\n### (%l+)\n" do
      found[word] = true
      assert.is_true(#rows(section(text, "### " .. word)) > 1, word)
    end
    local codes = {}
    for word in pairs(require "zklock.errors".codes) do codes[word] = true end
    assert.same(codes, found)
  end)

  it("has an entry for each reason of a loss, and its sentence", function()
    local found = {}
    for _, cells in ipairs(rows(section(text, "## Why a hold was lost"))) do
      local word = cells[1]:match "^`([%l_]+)`"
      if word then found[word] = cells[2]:match "^`([^`]+)`" end
    end
    assert.same(require "zklock.errors".losses, found)
  end)

  it("has an entry for each exit code", function()
    local found = {}
    for _, cells in ipairs(rows(section(text, "## The command"))) do
      local number = cells[1]:match "^(%d+)%s*$"
      if number then found[tonumber(number)] = true end
    end
    local codes = {}
    local source = proofs.read "lua/zklock/cli/exit.lua"
    for number in source:match "exit.codes = (%b{})":gmatch "= (%d+)," do
      codes[tonumber(number)] = true
    end
    assert.same(codes, found)
  end)

  it("quotes what zklock can say", function()
    local all, wrong, said = sources(), {}, quoted(text)
    for _, one in ipairs(said) do
      for _, part in ipairs(parts(one)) do
        if not filled[part] and not all:find(part, 1, true) then
          wrong[#wrong + 1] = part
        end
      end
    end
    assert.is_true(#said > 90, #said)
    assert.equal("", table.concat(wrong, "\n"))
  end)
end)
