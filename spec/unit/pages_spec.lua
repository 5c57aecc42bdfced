-- What a page promises before anybody reads it: its links lead somewhere, and
-- README is short.  (What its blocks do is looked at by spec/documents.)
local lfs = require "lfs"
local read = require "support.files".read

local root = os.getenv "SPEC_ROOT" or "."

-- The pages of a folder and, but for the root, of what is in it.  (What is in a
-- `make` becomes a page elsewhere.)
local function pages_of(folder, found)
  local prefix = folder == "" and "" or folder .. "/"
  for name in lfs.dir(root .. "/" .. folder) do
    local path = prefix .. name
    local mode = lfs.attributes(root .. "/" .. path, "mode")
    if name:find "%.md$" then
      found[#found + 1] = path
    elseif mode == "directory" and not name:find "^%.+$" and name ~= "make"
      and folder ~= "" then
      pages_of(path, found)
    end
  end
  return found
end

local function all_pages()
  local found = pages_of("", {})
  for _, folder in ipairs { "bench", "doc", "examples" } do
    pages_of(folder, found)
  end
  table.sort(found)
  return found
end

-- A page without its blocks, whose brackets are no links.
local function prose(path)
  local lines, inside = {}, false
  for line in (read(root .. "/" .. path) .. "\n"):gmatch "(.-)\n" do
    if line:find "^%s*```" then inside = not inside
    elseif not inside then lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n")
end

-- The anchors that a forge makes of a page's headings.
local function anchors_of(path)
  local anchors = {}
  for heading in ("\n" .. prose(path)):gmatch "\n#+ ([^\n]+)" do
    local name = heading:gsub("%[(.-)%]%b()", "%1"):lower()
      :gsub("[%c!-,./:-@%[-^`{-~]", ""):gsub(" ", "-")
    for _, mark in ipairs { "…", "–", "→", "«", "»" } do
      name = name:gsub(mark, "")
    end
    local again, n = name, 0
    while anchors[again] do
      n = n + 1
      again = name .. "-" .. n
    end
    anchors[again] = true
  end
  return anchors
end

-- `doc/x.md`, `../src` -> `src`
local function resolve(page, target)
  local parts = {}
  for part in ((page:match "^(.*)/" or "") .. "/" .. target):gmatch "[^/]+" do
    if part ~= ".." then
      parts[#parts + 1] = part
    elseif #parts == 0 then
      return nil
    else
      parts[#parts] = nil
    end
  end
  return table.concat(parts, "/")
end

-- What is wrong with a link; nil if it leads somewhere.
local function fault_of(page, link)
  if link:find "^%a+:" then return nil end
  local target, anchor = link:match "^([^#]*)#?(.*)$"
  local path = target == "" and page or resolve(page, target)
  if not path or not lfs.attributes(root .. "/" .. path) then
    return "is not there"
  end
  if anchor ~= "" and not anchors_of(path)[anchor] then
    return "has no such heading"
  end
end

describe("The pages #layer #once #stock", function()
  it("lead where they say", function()
    local faults, n = {}, 0
    for _, page in ipairs(all_pages()) do
      for link in prose(page):gmatch "%]%(([^%s()]+)%)" do
        n = n + 1
        local fault = fault_of(page, link)
        if fault then
          faults[#faults + 1] = ("%s: %s %s"):format(page, link, fault)
        end
      end
    end
    assert.is_true(n > 100, n)
    assert.equal("", table.concat(faults, "\n"))
  end)

  it("would say if they did not", function()
    assert.is_nil(fault_of("README.md", "doc/loops.md#the-adapter"))
    assert.is_nil(fault_of("doc/loops.md", "../SECURITY.md"))
    assert.is_nil(fault_of("doc/loops.md", "#which-loop-is-taken"))
    assert.equal("is not there", fault_of("doc/loops.md", "SECURITY.md"))
    assert.equal("is not there", fault_of("README.md", "../README.md"))
    assert.equal("has no such heading", fault_of("README.md", "doc/loops.md#x"))
  end)

  it("begin with a README of two hundred lines", function()
    local n, long = 0, {}
    for line in read(root .. "/README.md"):gmatch "([^\n]*)\n" do
      n = n + 1
      local characters = select(2, line:gsub("[^\128-\191]", ""))
      if characters > 140 then long[#long + 1] = n end
    end
    assert.is_true(n > 100 and n <= 200, n)
    assert.same({}, long)
  end)
end)
