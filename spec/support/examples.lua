--- The examples as texts: what stands in the head of each, what it is to print,
-- and whether something that was printed is that.
local files = require "support.files"
local shell = require "support.shell"
local support = require "support"

local examples = {}

local root = os.getenv "SPEC_ROOT" or "."

--- The names of all that stands in examples/.
function examples.entries()
  local names = {}
  for name in shell.output(("ls '%s/examples'"):format(root)):gmatch "%S+" do
    names[#names + 1] = name
  end
  return names
end

function examples.read(name) return files.read(root .. "/examples/" .. name) end

-- The library that an example needs beside zklock.
local function library_of(loop)
  return loop:match "^%a+$" and loop ~= "none" and loop or nil
end

-- An example's head and end, as its fields.
local function parse(name)
  local text = examples.read(name .. ".lua")
  local title, audience, lock, loop, run =
    text:match("^%-%-%- ([^\n]+)\n%-%-\n%-%- (For .-)\n"
      .. "%-%- Lock: ([^\n]-)%. Loop: ([^\n]-)%.\n%-%- Run: ([^\n]+)\n")
  assert(title, name .. " has no head, such as mutex.lua has")
  local order, output = text:match "\n%-%- Prints([^\n]*):\n(.*)$"
  assert(output, name .. " does not end with what it prints")
  return {
    name = name, title = title, audience = audience, lock = lock, loop = loop,
    run = run, library = library_of(loop),
    in_order = order == "", output = output:gsub("%-%-   ([^\n]*\n)", "%1"),
  }
end

--- All Lua programs among them, by their names.  (A spec is none.)
function examples.all()
  local all = {}
  for _, entry in ipairs(examples.entries()) do
    local name = entry:match "^(.*)%.lua$"
    if name and not name:find "_spec$" then all[#all + 1] = parse(name) end
  end
  assert(#all > 0)
  return all
end

--- Is there the library that it needs?
function examples.is_there(example)
  if not example.library then return true end
  local found, library = pcall(require, example.library)
  return found and (example.library ~= "copas" or library.wakeup ~= nil)
end

--- How the shell runs one, with `hosts`.
function examples.command(example, hosts)
  return ("%s '%s/examples/%s.lua' '%s'"):format(support.lua, root,
    example.name, hosts)
end

-- Each token becomes its rank among those of the text: that they grow is a part
-- of what an example shows.
local function rank_tokens(text)
  local tokens, ranks = {}, {}
  local token = "%f[%d]" .. ("%d"):rep(19) .. "%f[%D]"
  for each in text:gmatch(token) do
    if not ranks[each] then tokens[#tokens + 1] = each end
    ranks[each] = 0
  end
  table.sort(tokens)
  for i, each in ipairs(tokens) do ranks[each] = "token " .. i end
  return (text:gsub(token, ranks))
end

--- The text without what differs each time: tokens, node names, sessions, who
-- holds a lock, and seconds with two digits behind the point.
function examples.normalise(text)
  return (rank_tokens(text)
    :gsub("%w+(%-lock%-%d%d%d%d%d%d%d%d%d%d)", "NODE%1")
    :gsub("0x%x+", "SESSION")
    :gsub('"[%w._-]+:%d+"', '"HOST:PID"')
    :gsub("%f[%d]%d+%.%d%d s%f[%W]", "TIME s"))
end

-- A line of the comment as a pattern: "…" is something.
local function pattern(line)
  return "^" .. line:gsub("[%^%$%(%)%%%.%[%]%*%+%-%?]", "%%%0")
    :gsub("…", ".+") .. "$"
end

local function lines_of(text)
  local lines = {}
  for line in examples.normalise(text):gmatch "([^\n]*)\n" do
    lines[#lines + 1] = line
  end
  return lines
end

-- Takes what matches out of `lines`: was there one? Only the first one may, if
-- the order counts.
local function take(lines, wanted, in_order)
  for i, line in ipairs(lines) do
    if line:find(pattern(wanted)) then return table.remove(lines, i) end
    if in_order then return false end
  end
  return false
end

--- Is this what the example says that it prints?
function examples.prints(example, text)
  local lines = lines_of(text)
  for _, wanted in ipairs(lines_of(example.output)) do
    if not take(lines, wanted, example.in_order) then return false end
  end
  return #lines == 0
end

return examples
