--- Page: the reference as Markdown, from the model of the annotations.
local markdown = require "markdown"
local model = require "model"

local Page = {}
Page.__index = Page

local function name_of(entry) return model.prefix(entry) .. entry.name end

-- Where everything is, before anything is written: headings, and what stands
-- below them.
local function find_places(self)
  local heading, seen = nil, {}
  for _, entry in ipairs(self.all.entries) do
    if entry.kind == "heading" then
      heading, entry.anchor = entry, markdown.anchor(entry.title)
    elseif entry.kind == "function" then
      entry.anchor = markdown.anchor(name_of(entry))
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

-- Parameters and options alike.  `missing`: what is said of one that may be
-- left out.
function Page:rows_of(list, missing)
  local rows = {}
  for i, item in ipairs(list) do
    local default = item.default or item.optional and missing or ""
    rows[i] = { "`" .. item.name .. "`",
      markdown.type(self.all, item.type), markdown.unit(item.type),
      self:prose(default), self:prose(item.text) }
  end
  return rows
end

-- Functions.

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

local function code_links(codes)
  local links = {}
  for i, code in ipairs(codes) do links[i] = "`" .. code .. "`" end
  return table.concat(links, " ")
end

-- Are the last two results the message and the code of a refusal?
local function refuses(entry)
  local last = entry.results[#entry.results]
  return last and last.type:find("zklock.Code", 1, true) ~= nil
end

local function describe_result(self, result)
  -- (A second result is the message, too, which is said for all.)
  local type = result.type:gsub("^boolean|string$", "boolean")
  local text = ("`%s`: %s"):format(result.name, markdown.type(self.all, type))
  if result.name == "..." then text = "then" end
  if result.text == "" then return text end
  return text .. (result.name == "..." and " " or ", ")
    .. self:prose((result.text:gsub("%?$", "")))
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
  local text = "**Returns** " .. table.concat(parts, "; ")
  if refuses(entry) then text = text .. "; or `nil, message, code`" end
  self:add("%s", markdown.wrap(text .. "."))
end

local function add_function(self, entry)
  self.here = name_of(entry)
  self:add("%s %s", ("#"):rep(self.level + 1), name_of(entry))
  self:add("```lua\n%s\n```", signature(entry))
  self:add_prose(entry.text)
  if #entry.params > 0 then
    self:add("%s", markdown.table({ "parameter", "type", "unit", "default",
      "meaning" }, self:rows_of(entry.params, "none")))
  end
  add_results(self, entry)
  if entry.codes then
    self:add("**[Codes](#error-codes)** %s", code_links(entry.codes))
  end
  if entry.raises then
    self:add("%s", markdown.wrap("**Raises** " .. self:prose(entry.raises)))
  end
  self:add("```%s\n%s\n```", entry.example.language, entry.example.code)
  self.here = nil
end

-- Tables and words.

-- The error codes: what each means, and what to do about it.
local function code_rows(self, alias)
  local rows = {}
  local fields = model.fields(self.all, "zklock.Errors")
  for i, choice in ipairs(alias.choices) do
    local field = fields[choice.value]
    if not field then error("zklock.Errors lacks " .. choice.value, 0) end
    rows[i] = { "`" .. choice.value .. "`", self:prose(choice.text),
      self:prose(field.text) }
  end
  return rows
end

local function add_alias(self, alias)
  if alias.type then return end
  if alias.name == "zklock.Code" then
    return self:add("%s", markdown.table({ "code", "meaning", "what to do" },
      code_rows(self, alias)))
  end
  local rows = {}
  for i, choice in ipairs(alias.choices) do
    rows[i] = { "`" .. choice.value .. "`", self:prose(choice.text) }
  end
  self:add("%s", markdown.table({ "word", "meaning" }, rows))
end

local function add_class(self, class)
  if #class.fields == 0 or class.name == "zklock.Errors" then return end
  local is_options = class.name:find "Options$"
  self:add("%s", markdown.table({ is_options and "option" or "field", "type",
    "unit", "default", "meaning" }, self:rows_of(class.fields,
    is_options and "none" or "")))
end

local function add_heading(self, entry)
  self.level = entry.level + 1
  self:add("%s %s", ("#"):rep(self.level), entry.title)
  self:add_prose(entry.text)
end

local adders = { heading = add_heading, class = add_class, alias = add_alias,
  ["function"] = add_function }

-- The contents: a line a part, with what is in it.
local function contents(self)
  local lines, line, variable = {}, nil, nil
  local function flush()
    if line then
      lines[#lines + 1] = markdown.wrap("* " .. table.concat(line, " · "), "  ")
    end
    variable = nil
  end
  for _, entry in ipairs(self.all.entries) do
    local title = entry.kind == "heading" and entry.title
      or entry.kind == "function" and name_of(entry)
    if entry.kind == "heading" and entry.level == 1 then
      flush()
      line = { ("**[%s](#%s)**"):format(title, entry.anchor) }
    elseif title and not self.groups[entry] then
      variable = variable or entry.variable
      -- (What is another object's has its whole name.)
      local is_own = entry.variable and entry.variable == variable
      table.insert(line, ("[%s](#%s)"):format(is_own and entry.name or title,
        entry.anchor))
    end
  end
  flush()
  return table.concat(lines, "\n")
end

-- Headings below which functions stand are not in the contents themselves.
local function find_groups(self)
  local heading
  for _, entry in ipairs(self.all.entries) do
    if entry.kind == "heading" then heading = entry end
    if entry.kind == "function" and heading.level > 1 then
      self.groups[heading] = true
    end
  end
end

--- The whole page.  `introduction`: what it begins with.
return function(all, introduction)
  local self = setmetatable({ all = all, anchors = {}, blocks = {},
    groups = {}, level = 1, here = nil }, Page)
  find_places(self)
  find_groups(self)
  self:add("%s", markdown.prose(introduction:gsub("%s+$", ""), self.anchors))
  self:add("## Contents")
  self:add("%s", contents(self))
  for _, entry in ipairs(all.entries) do adders[entry.kind](self, entry) end
  return table.concat(self.blocks, "\n\n") .. "\n"
end
