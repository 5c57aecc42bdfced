-- What a file includes, requires, defines and uses, read from its text.  (C is
-- read as clang-format lays it out.)
local arrows = {}

local function blank(text) return (text:gsub("[^\n]", " ")) end

-- Without comments, strings and characters; lines stay where they are.
local function strip(text)
  return (text:gsub("/%*.-%*/", blank):gsub("//[^\n]*", "")
    :gsub("\\[^\n]", "  "):gsub('"[^"\n]*"', blank):gsub("'[^'\n]*'", blank))
end

-- The line of a place in a text, of which the first is `line`, for places that
-- go on and on.
local function counter(text, line)
  local at = 1
  return function(place)
    line = line + select(2, text:sub(at, place - 1):gsub("\n", ""))
    at = place
    return line
  end
end

local function read_includes(text)
  local includes, line_of = {}, counter(text, 1)
  for place, mark, name in text:gmatch '()#%s*include%s*([<"])([^>"]+)' do
    includes[#includes + 1] =
      { name = name, line = line_of(place), system = mark == "<" }
  end
  return includes
end

local hidden = { static = true, extern = true, typedef = true }

-- Functions and variables of a file that others can see.
local function read_definitions(text)
  local names = {}
  for head, name in text:gmatch "\n([%a_][%w_ %*]-)([%a_][%w_]*)%b()%s*{" do
    if not head:find "%f[%w_]static%f[^%w_]" then names[name] = true end
  end
  for head, name in text:gmatch
      "\n([%a_][%w_ %*]*[ %*])([%a_][%w_]*)%[?[%w_]*%]? ?[=;]" do
    local word, rest = head:match "^(%l*) ?(.*)$"
    local is_tag = rest == "" and (word == "struct" or word == "enum")
    if not is_tag and not hidden[word] then names[name] = true end
  end
  return names
end

-- The names in functions, initializers and macros, but for fields and members.
local function read_uses(text)
  local uses, line_of = {}, counter(text, 0)
  local function note(place, code)
    for before, at, name in (" " .. code):gmatch "([^%w_]?)()([%a_][%w_]*)" do
      if before ~= "." and before ~= ">" and not uses[name] then
        uses[name] = place + at - 2
      end
    end
  end
  for place, code in text:gmatch "[%)=]%s*()(%b{})" do note(place, code) end
  for place, code in text:gsub("\\\n", "\\\r"):gmatch
      "\n#%s*define%s+[%w_]+()([^\n]*)" do
    note(place, code)
  end
  local names = {}
  for name in pairs(uses) do names[#names + 1] = name end
  table.sort(names, function(a, b) return uses[a] < uses[b] end)
  for _, name in ipairs(names) do uses[name] = line_of(uses[name]) end
  return uses
end

function arrows.read_c(text)
  local code = "\n" .. strip(text)
  return { includes = read_includes(text), defines = read_definitions(code),
    uses = read_uses(code) }
end

-- Lua: names that are put together at run time are no arrows. Whoever asks for
-- an adapter by its name does not know it.
function arrows.read_lua(text)
  local file, line = { requires = {} }, 0
  for content in (text .. "\n"):gmatch "(.-)\n" do
    line = line + 1
    local code = content:gsub("%-%-.*", "")
    for name, stop in code:gmatch "require[%s(,]*[\"']([%w_.]+)[\"']()" do
      if not code:find("^%s*%.%.", stop) then
        file.requires[#file.requires + 1] = { name = name, line = line }
      end
    end
  end
  return file
end

return arrows
