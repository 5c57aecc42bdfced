--- Page: the reference as Markdown, from the model of the annotations.
local markdown = require "markdown"
local model = require "model"

local Page = {}
Page.__index = Page

local function name_of(entry) return model.prefix(entry) .. entry.name end

-- "path [, options]"; "path, [options,] fn"
local function signature(entry)
  local text, depth = "", 0
  for i, param in ipairs(entry.params) do
    local comma = i > 1 and ", " or ""
    local following = entry.params[i + 1]
    if param.optional and following and not following.optional then
      text = ("%s%s[%s,]"):format(text, comma, param.name)
    elseif param.optional or param.name == "..." then
      text = text .. (i > 1 and " [" or "[") .. comma .. param.name
      depth = depth + 1
    elseif text:find ",%]$" then
      text = text .. " " .. param.name
    else
      text = text .. comma .. param.name
    end
  end
  return ("%s(%s)"):format(name_of(entry), text .. ("]"):rep(depth))
end

-- The anchors of all headings, and the classes and aliases below them, before
-- anything is written.
local function find_places(self)
  local heading, seen = nil, {}
  for _, entry in ipairs(self.entries) do
    if entry.kind == "heading" then
      heading, entry.anchor = entry, markdown.anchor(entry.title)
      self.anchors["#" .. entry.anchor] = entry.title
    elseif entry.kind == "function" then
      entry.anchor = markdown.anchor(signature(entry))
      self.anchors[name_of(entry)] = entry.anchor
    elseif entry.kind == "alias" or #entry.fields > 0 or #entry.text > 0 then
      local one = self.all.classes[entry.name] or entry
      one.anchor = one.anchor or heading.anchor
    end
    if entry.kind == "heading" or entry.kind == "function" then
      if seen[entry.anchor] then
        error(("two headings have the anchor %s"):format(entry.anchor), 0)
      end
      seen[entry.anchor] = true
    end
  end
end

function Page:add(...)
  self.blocks[#self.blocks + 1] = (...):format(select(2, ...))
end

function Page:prose(text)
  return markdown.prose(text, self.anchors, self.here)
end

function Page:add_prose(paragraphs)
  for _, paragraph in ipairs(paragraphs) do
    self:add("%s", markdown.wrap(self:prose(paragraph)))
  end
end

-- Parameters, options and fields: "* `path` (string): what it is. Default: x."
function Page:add_list(list)
  local lines = {}
  for i, item in ipairs(list) do
    local text = ("* `%s` (%s)"):format(item.name,
      markdown.type(self.all, item.type))
    if item.text ~= "" then text = text .. ": " .. self:prose(item.text) end
    if item.default and item.default ~= "none" then
      text = text:gsub("%.$", "") .. ". Default: " .. self:prose(item.default)
        .. "."
    end
    lines[i] = markdown.wrap(text, "  ")
  end
  local list_text = table.concat(lines, "\n")
  -- (Two lists in a row are one.)
  local last = self.blocks[#self.blocks]
  if last:find "^%* `" then
    self.blocks[#self.blocks] = last .. "\n" .. list_text
  else
    self:add("%s", list_text)
  end
end

-- Functions.

local function code_links(codes)
  local links = {}
  for i, code in ipairs(codes) do links[i] = "`" .. code .. "`" end
  return table.concat(links, ", ")
end

-- Are the last two results the message and the code of a refusal?
local function refuses(entry)
  local last = entry.results[#entry.results]
  return last and last.type:find("zklock.Code", 1, true) ~= nil
end

local function describe_result(self, result)
  -- (A second result is the message, too, which the introduction has.)
  local type = result.type:gsub("^boolean|string$", "boolean")
  local text = markdown.type(self.all, type)
  if result.name == "..." then return self:prose(result.text) end
  if result.text == "" then return text end
  return text .. ", " .. self:prose((result.text:gsub("%?$", "")))
end

local function add_results(self, entry)
  local parts = {}
  for i, result in ipairs(entry.results) do
    local is_refusal = refuses(entry) and (i == #entry.results
      or result.name == "message")
    if not is_refusal then
      parts[#parts + 1] = describe_result(self, result)
    end
  end
  if #parts == 0 then return end
  self:add("%s", markdown.wrap("**Returns** " .. table.concat(parts, "; then ")
    .. "."))
end

-- Parameters that the text of a class explains once: `path` of sessions;
-- `session` and `i` of simulated servers.
local explained_once = { path = true, session = true, i = true }

local function add_function(self, entry)
  self.here = name_of(entry)
  self:add("%s %s", ("#"):rep(self.level + 1), signature(entry))
  self:add_prose(entry.text)
  local params = {}
  for _, param in ipairs(entry.params) do
    if param.text ~= "" or not explained_once[param.name] then
      params[#params + 1] = param
    end
  end
  if #params > 0 then self:add_list(params) end
  add_results(self, entry)
  if entry.codes then
    self:add("%s", markdown.wrap("**Error codes:** "
      .. code_links(entry.codes)))
  end
  if entry.raises then
    self:add("%s", markdown.wrap("**Raises** " .. self:prose(entry.raises)))
  end
  if entry.example then
    self:add("```%s\n%s\n```", entry.example.language, entry.example.code)
  end
  self.here = nil
end

-- Tables and words.

local function add_alias(self, alias)
  if alias.type then return end
  local is_code, rows = alias.name == "zklock.Code", {}
  -- (What to do about an error code is in doc/errors.md.)
  local cell = is_code and "[`%s`](errors.md#%s)" or "`%s`"
  for i, choice in ipairs(alias.choices) do
    rows[i] = { cell:format(choice.value, choice.value),
      self:prose(choice.text) }
  end
  self:add("%s", markdown.table({ is_code and "code" or "value", "meaning" },
    rows))
end

-- (Methods that are another's are not listed again.)
local function add_class(self, class)
  if class.name == "zklock.Errors" then return end
  local fields = {}
  for _, field in ipairs(class.fields) do
    if not field.text:find "^As `[^`]+`%.$" then
      fields[#fields + 1] = field
    end
  end
  if #fields > 0 then self:add_list(fields) end
end

local function add_heading(self, entry)
  self.level = entry.level + 1
  self:add("%s %s", ("#"):rep(self.level), entry.title)
  if entry.written then
    if entry.written ~= "" then self:add("%s", self:prose(entry.written)) end
  else
    self:add_prose(entry.text)
  end
end

local adders = { heading = add_heading, class = add_class, alias = add_alias,
  ["function"] = add_function }

-- The contents: a line a part, with its functions.
local function contents(self)
  local lines, head, line, variable = {}, nil, nil, nil
  local function flush()
    if line then
      lines[#lines + 1] = markdown.wrap(head .. (#line > 0 and ": " or "")
        .. table.concat(line, ", "), "  ")
    end
    variable = nil
  end
  for _, entry in ipairs(self.entries) do
    if entry.kind == "heading" and entry.level == 1 then
      flush()
      head, line = ("* **[%s](#%s)**"):format(entry.title, entry.anchor), {}
    -- (Methods of a simulated server are listed where it is.)
    elseif entry.kind == "function" and entry.variable ~= "server"
        and entry.variable ~= "hold" then
      variable = variable or entry.variable
      -- (What is another object's has its whole name.)
      local is_own = entry.variable and entry.variable == variable
      table.insert(line, ("[%s](#%s)"):format(
        is_own and entry.name or name_of(entry), entry.anchor))
    end
  end
  flush()
  return table.concat(lines, "\n")
end

-- The written text: what stands before its first `##`, and its sections as
-- headings, each with the text below it.
local function read_written(text)
  local introduction, headings = {}, {}
  local lines = introduction
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local level, title = line:match "^##(#*) (.*)$"
    if level then
      lines = {}
      headings[#headings + 1] = { kind = "heading", level = #level + 1,
        title = title, lines = lines }
    else
      lines[#lines + 1] = line
    end
  end
  local function join(list)
    return (table.concat(list, "\n"):gsub("^%s+", ""):gsub("%s+$", ""))
  end
  for _, one in ipairs(headings) do one.written = join(one.lines) end
  return join(introduction), headings
end

-- The entries of the annotations; the written sections come before `title`.
local function join_entries(all, headings, title)
  local entries = {}
  for _, entry in ipairs(all.entries) do
    if entry.kind == "heading" and entry.title == title then
      for _, one in ipairs(headings) do entries[#entries + 1] = one end
    end
    entries[#entries + 1] = entry
  end
  return entries
end

--- The whole page.  `written`: doc/make/reference.md, what no annotation says.
return function(all, written)
  local introduction, headings = read_written(written)
  local self = setmetatable({ all = all, anchors = {}, blocks = {},
    entries = join_entries(all, headings, "Codes and states"),
    level = 1, here = nil }, Page)
  find_places(self)
  self:add("%s", markdown.prose(introduction, self.anchors))
  self:add("## Contents")
  self:add("%s", contents(self))
  for _, entry in ipairs(self.entries) do adders[entry.kind](self, entry) end
  return table.concat(self.blocks, "\n\n") .. "\n"
end
