-- Do the links of the pages lead somewhere: to files, and to headings of
-- pages? (What is elsewhere in the world is not asked.)
package.path = "./doc/make/?.lua;" .. package.path
local exists = require "lfs".attributes
local links = require "links"
local output = require "support.shell".output
local read = require "support.files".find

-- Of what git would commit: not what was built, or installed. What stands in
-- doc/make becomes a part of a page.
local function pages()
  local list = {}
  for name in output("git ls-files -co --exclude-standard '*.md' 2>/dev/null "
    .. "|| find . -name '*.md' -not -path './build/*'"):gmatch "[^\n]+" do
    local path = name:gsub("^%./", "")
    if not path:find "^doc/make/" then list[#list + 1] = path end
  end
  return list
end

-- What is wrong with a link of the page `from`, or nil.
local function fault(from, target)
  if target:find "^%a[%w+.-]*:" then return nil end
  local path, anchor = target:match "^([^#]*)#?(.*)$"
  local file = path == "" and from or links.resolve(from, path)
  if not file then return "leads out of the tree" end
  if not exists(file == "" and "." or file) then return "is not there" end
  if anchor == "" then return nil end
  local text = read(file)
  if not file:find "%.md$" then
    return not anchor:find "^L%d+" and "is a file without headings" or nil
  end
  return not links.anchors(text)[anchor] and "has no such heading" or nil
end

describe("The links of the pages", function()
  it("lead to what is there", function()
    local problems, count = {}, 0
    for _, page in ipairs(pages()) do
      for _, link in ipairs(links.of(read(page))) do
        count = count + 1
        local what = fault(page, link.target)
        if what then
          problems[#problems + 1] = ("%s:%d: %s %s"):format(page, link.line,
            link.target, what)
        end
      end
    end
    assert.equal("", table.concat(problems, "\n"))
    assert.is_true(count > 100, "there are fewer links than we know of")
  end)

  it("lead from doc/README.md to every page of doc/", function()
    local index, listed, missing = "doc/README.md", {}, {}
    for _, link in ipairs(links.of(read(index))) do
      local path = link.target:match "^[^#]*"
      listed[links.resolve(index, path) or ""] = true
    end
    for _, page in ipairs(pages()) do
      local is_page = page:find "^doc/[^/]+%.md$" or page:find "^doc/dev/"
      if is_page and page ~= index and not listed[page] then
        missing[#missing + 1] = page
      end
    end
    assert.equal("", table.concat(missing, "\n"))
    assert.is_true(listed["doc/api.md"])
  end)
end)
