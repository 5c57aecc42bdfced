--- Annotations: reads lua/zklock/meta/*.lua, the definitions for language
-- servers, as what they say of each function, table and word.
--
-- It is stricter than language servers are: a line that it does not know, a
-- type that is nowhere defined, a parameter that is not explained or that the
-- function does not have, an error code that there is not, is an error.
--
-- In a file stand
--   -- # Title              a heading, `##` below it, and then plain comments:
--   -- …                    prose, for the reference alone
--   --- …                   what is said of the function, class, alias or field
--   ---@…                   that comes next
-- and of a function, behind all other prose, each with a blank line before it:
--   --- Codes: a, b         the error codes that it returns
--   --- Raises: …           when it raises
--   --- ```lua … ```        an example that runs (```nginx: in a server block)
local annotations = {}

-- The pages of the reference, in order.
annotations.files = { "zklock", "session", "session_questions",
  "session_state", "lock", "guard", "fencing", "multi_guard", "election",
  "barrier", "double_barrier", "options", "words", "rows", "adapter", "ngx",
  "testing" }

local builtin = {}
for word in ([[any boolean false fun function integer nil number string table
    true]]):gmatch "%a+" do
  builtin[word] = true
end

local function trim(text) return (text:gsub("^%s+", ""):gsub("%s+$", "")) end

-- "Words. Default: 10" → "Words.", "10"
local function split_default(text)
  local before, default = text:match "^(.-)%s*Default: (.+)$"
  if not before then return trim(text), nil end
  return trim(before), (trim(default):gsub("%.$", ""))
end

-- "fun(a: string): any what it is" → the type, and the rest.
local function split_type(text)
  local depth = 0
  for at = 1, #text do
    local c = text:sub(at, at)
    if c:find "[(<{]" then depth = depth + 1 end
    if c:find "[)>}]" then depth = depth - 1 end
    if c == " " and depth == 0 and text:sub(at - 1, at - 1) ~= ":"
        and text:sub(at - 1, at - 1) ~= "," then
      return text:sub(1, at - 1), trim(text:sub(at))
    end
  end
  return text, ""
end

-- Paragraphs of one text, each on one line, but for blocks of code.
local function join(lines)
  local paragraphs, in_code = { "" }, false
  for _, line in ipairs(lines) do
    if line:find "^```" then in_code = not in_code end
    local last = paragraphs[#paragraphs]
    if in_code or line:find "^```" then
      paragraphs[#paragraphs] = last == "" and line or last .. "\n" .. line
    elseif line == "" then
      if last ~= "" then paragraphs[#paragraphs + 1] = "" end
    else
      paragraphs[#paragraphs] = last == "" and line or last .. " " .. line
    end
  end
  if paragraphs[#paragraphs] == "" then table.remove(paragraphs) end
  return paragraphs
end

local Reader = {}
Reader.__index = Reader

function Reader:fail(...)
  error(("%s:%d: %s"):format(self.name, self.line, (...):format(
    select(2, ...))), 0)
end

function Reader:add(entry)
  entry.file, entry.line = self.name, self.line
  self.entries[#self.entries + 1] = entry
  return entry
end

-- What has been said since the last tag.
function Reader:take_text()
  local text = join(self.text)
  self.text = {}
  return text
end

-- The tags.

local tags = {}

function tags.class(self, rest)
  local name, parents = rest:match "^([%w.]+):?%s*(.*)$"
  local class = self:add { kind = "class", name = name, parents = {},
    fields = {}, text = self:take_text() }
  for parent in parents:gmatch "[%w.]+" do
    table.insert(class.parents, parent)
  end
  self.class = class
end

function tags.field(self, rest)
  local name, optional, type = rest:match "^([%w_]+)(%??)%s+(.+)$"
  if not self.class or not name then self:fail "a field of nothing" end
  local text, default = split_default(table.concat(self:take_text(), " "))
  if text == "" then self:fail("field %s is not explained", name) end
  local own, more = split_type(type)
  if more ~= "" then self:fail("its text stands before field %s", name) end
  table.insert(self.class.fields, { name = name, optional = optional == "?",
    type = own, text = text, default = default })
end

function tags.alias(self, rest)
  local name, type = rest:match "^([%w.]+)%s*(.*)$"
  self.class = nil
  self.alias = self:add { kind = "alias", name = name, text = self:take_text(),
    type = type ~= "" and type or nil, choices = {} }
end

function tags.param(self, rest)
  local name, optional, more = rest:match "^([%w_.]+)(%??)%s+(.+)$"
  if not name then self:fail "a parameter without a type" end
  local type, text = split_type(more)
  local default
  text, default = split_default(text)
  text = text:gsub("%.$", "")
  table.insert(self.params, { name = name, optional = optional == "?",
    type = type, text = text, default = default })
end

tags["return"] = function(self, rest)
  local type, text = split_type(rest)
  local name, more = text:match "^([%w_.]+)%s*(.*)$"
  if not name then self:fail "a result without a name" end
  table.insert(self.results, { name = name, type = type, text = more })
end

-- How else a function may be called: for language servers alone.
function tags.overload(self, rest)
  table.insert(self.overloads, (split_type(rest)))
end

local function read_choice(self, rest)
  local value, text = rest:match '^%s*"([^"]+)" # (.+)$'
  if not value then self:fail('not understood: | "word" # text') end
  if not self.alias then self:fail "a choice of nothing" end
  table.insert(self.alias.choices, { value = value, text = text })
end

-- The text of a function → its parts.
local function read_text(self, entry)
  entry.text = {}
  for _, paragraph in ipairs(join(self.function_text)) do
    local codes = paragraph:match "^Codes: (.+)$"
    local raises = paragraph:match "^Raises: (.+)$"
    local language, code = paragraph:match "^```(%l+)\n(.*)\n```$"
    if codes then
      entry.codes = {}
      for word in codes:gmatch "%a+" do table.insert(entry.codes, word) end
    elseif raises then
      entry.raises = raises
    elseif code then
      if language ~= "lua" and language ~= "nginx" then
        self:fail("not understood: ```%s", language)
      end
      entry.example = { language = language, code = code }
    elseif entry.codes or entry.raises or entry.example then
      self:fail "prose stands before codes, errors and the example"
    else
      table.insert(entry.text, paragraph)
    end
  end
end

local function read_function(self, variable, separator, name, arguments)
  local entry = self:add { kind = "function", variable = variable, name = name,
    separator = separator, params = self.params, results = self.results,
    overloads = self.overloads }
  read_text(self, entry)
  local expected = {}
  for _, param in ipairs(entry.params) do
    expected[#expected + 1] = param.name
  end
  if table.concat(expected, ", ") ~= arguments then
    self:fail("%s(%s) is documented with (%s)", name, arguments,
      table.concat(expected, ", "))
  end
end

local function reset(self)
  self.text, self.function_text = {}, {}
  self.params, self.results, self.overloads = {}, {}, {}
  self.class, self.alias = nil, nil
end

local function read_code(self, line)
  local variable, separator, name, arguments =
    line:match "^function ([%l_]+)([.:])([%l_]+)%(([^)]*)%) end$"
  if variable then
    for _, text in ipairs(self.text) do
      table.insert(self.function_text, text)
    end
    read_function(self, variable, separator, name, arguments)
    return reset(self)
  end
  variable = line:match "^local ([%l_]+) = {}$"
  if not variable or not self.class then self:fail("not understood") end
  self.variables[variable] = self.class.name
  reset(self)
end

-- A plain comment: a heading, or what stands below it.
local function read_plain(self, text)
  local level, title = text:match "^(#+) (.+)$"
  if level then
    self.heading = self:add { kind = "heading", level = #level, title = title,
      lines = {} }
  elseif self.heading then
    table.insert(self.heading.lines, text)
  else
    self:fail "prose without a heading"
  end
end

local function read_line(self, line)
  local tag, rest = line:match "^%-%-%-@(%l+)%s*(.*)$"
  if line == "" then
    if #self.text > 0 then self:fail "what is this said of?" end
    reset(self)
    self.heading = nil
  elseif tag == "meta" then
    if self.line ~= 1 then self:fail "---@meta stands first" end
  elseif tag then
    if not tags[tag] then self:fail("not understood: @%s", tag) end
    -- (Before its tags stands the text of a function.)
    if tag == "param" or tag == "return" then
      for _, text in ipairs(self.text) do
        table.insert(self.function_text, text)
      end
      self.text = {}
    end
    tags[tag](self, rest)
  elseif line:find "^%-%-%-|" then
    read_choice(self, line:sub(5))
  elseif line:find "^%-%-%-" then
    table.insert(self.text, (line:sub(4):gsub("^ ", "")))
  elseif line:find "^%-%-" then
    read_plain(self, (line:sub(3):gsub("^ ", "")))
  else
    read_code(self, line)
  end
end

--- What one file says: a list of entries.  `name`: what errors call it.
function annotations.parse(text, name)
  local self = setmetatable({ name = name, line = 0, entries = {},
    variables = {} }, Reader)
  reset(self)
  if not text:find "^%-%-%-@meta" then self.line = 1 self:fail "no ---@meta" end
  for line in (text .. "\n"):gmatch "(.-)\n" do
    self.line = self.line + 1
    read_line(self, line)
  end
  for _, entry in ipairs(self.entries) do
    if entry.kind == "heading" then entry.text = join(entry.lines) end
    if entry.kind == "function" then
      entry.class = self.variables[entry.variable]
        or error(("%s: %s is no class"):format(name, entry.variable), 0)
    end
  end
  return self.entries
end

annotations.builtin = builtin

return annotations
