--- What links need to know of a page in Markdown: its headings' anchors, as
-- GitHub makes them, and its links.
local links = {}

-- Punctuation and symbols beyond ASCII, which anchors do not have: U+00A0 to
-- U+00BF, the signs for times and divided by, U+2000 to U+206F, arrows.
local SIGNS = { "\194[\160-\191]", "\195[\151\183]", "\226\128[\128-\191]",
  "\226\129[\128-\175]", "\226[\134\135][\128-\191]" }

--- The anchor of a heading's text, without markup.
function links.slug(text)
  for _, sign in ipairs(SIGNS) do text = text:gsub(sign, "") end
  return (text:lower():gsub("[^%w%s_\128-\255-]", ""):gsub("%s", "-"))
end

--- Numbers anchors that come again: the second `#x` of a page is `#x-1`.
function links.numbering()
  local seen = {}
  return function(slug)
    local count = seen[slug]
    seen[slug] = (count or 0) + 1
    return count and slug .. "-" .. count or slug
  end
end

-- Calls fn(line, number) for each line that is not code: not in a fence, not
-- indented after an empty line.
local function each_line(text, fn)
  local fence, code, blank, number = nil, false, true, 0
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
    number = number + 1
    local mark = line:match "^%s*(```+)" or line:match "^%s*(~~~+)"
    local empty = not line:find "%S"
    code = line:find "^    " ~= nil and (blank or code) or empty and code
    if fence then
      if mark and mark:sub(1, #fence) == fence then fence = nil end
    elseif mark then
      fence = mark
    elseif not code then
      fn(line, number)
    end
    blank = empty
  end
end

local function without_code(line)
  return (line:gsub("(`+)(.-)%1", function(ticks, inside)
    return (" "):rep(2 * #ticks + #inside)
  end))
end

-- A heading as it is read: `code`, [links](to) and *stress* without marks.
local function plain(heading)
  return (heading:gsub("%s+#*%s*$", ""):gsub("!?%[(.-)%]%(.-%)", "%1")
    :gsub("[`*]", ""):gsub("<[^>]*>", ""))
end

--- The anchors of a page, as a set.
function links.anchors(text)
  local anchors, numbered = {}, links.numbering()
  each_line(text, function(line)
    local heading = line:match "^ ? ? ?#+%s+(.*)$"
    if heading then
      anchors[numbered(links.slug(plain(heading)))] = true
    end
    for name in line:gmatch '<%w+[^>]- id="([^"]+)"' do anchors[name] = true end
    for name in line:gmatch '<a name="([^"]+)"' do anchors[name] = true end
  end)
  return anchors
end

--- The links and pictures of a page, in order: { target =, line = }.
function links.of(text)
  local found = {}
  each_line(text, function(line, number)
    local function add(target)
      found[#found + 1] = { target = target, line = number }
    end
    line = without_code(line)
    for inside in line:gmatch "%](%b())" do
      local target = inside:match "^%(<?([^%s>]+)>?%s*%)$"
        or inside:match '^%(<?([^%s>]+)>?%s+".*"%)$'
      if target then add(target) end
    end
    for tag in line:gmatch "<%a[^>]*>" do
      for name, target in tag:gmatch '(%a+)="([^"]*)"' do
        if name == "href" or name == "src" or name == "srcset" then
          add(target)
        end
      end
    end
    local defined = line:match "^ ? ? ?%[[^%]]+%]:%s*(%S+)"
    if defined then add(defined) end
  end)
  return found
end

--- `path` as seen from the file `from`, both from the root; nil if it leads out
-- of the tree.
function links.resolve(from, path)
  local parts = {}
  local whole = path:match "^/(.*)$" or (from:match "^(.*/)" or "") .. path
  for part in whole:gmatch "[^/]+" do
    if part == ".." then
      if #parts == 0 then return nil end
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

return links
