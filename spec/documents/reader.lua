--- A page's blocks, in order.  Not a spec itself: `require "documents.reader"`.
--
--     { lang = "lua", text = "…", line = 7, notes = { needs = "session" } }
--
-- Notes are the HTML comments that stand right before a block, or alone:
-- `<!-- name -->`, `<!-- name: value -->`.  What stands alone is a block
-- without `lang`.  CONTRIBUTING.md says what each of them does.
local read = require "support.files".read

local reader = {}

local notes_known = {}
for name in ("needs|lua|after|file|terminal|goes on|before|keys|with|"
    .. "not run here|only compiles|sketch|get|context")
    :gmatch "[^|]+" do
  notes_known[name] = true
end

local function blame(page, line, ...)
  error(("%s:%d: %s"):format(page, line, (...):format(select(2, ...))), 0)
end

-- The comment whose text this is: what it notes; nil if it is for people only.
local function note_of(comment)
  local name, value = comment:match "^%s*([%l ]-)%s*:%s*(.-)%s*$"
  if not name then name, value = comment:match "^%s*(.-)%s*$", true end
  if notes_known[name] then return name, value end
end

-- A list's item may have paragraphs, which look like code to whoever does not
-- know of the item.
local Page = {}
Page.__index = Page

function Page:next()
  self.at = self.at + 1
  return self.lines[self.at]
end

function Page:fence(indent, marks, lang)
  local first, body = self.at, {}
  for line in function() return self:next() end do
    if line:match "^%s*(`+)%s*$" == marks then
      return { lang = lang, line = first, notes = self:take_notes(),
        text = table.concat(body, "\n") .. "\n" }
    end
    body[#body + 1] = line:sub(1, #indent):find "^%s*$"
      and line:sub(#indent + 1) or line
  end
  blame(self.name, first, "this block does not end")
end

function Page:take_notes()
  local notes = self.notes
  self.notes = {}
  return notes
end

function Page:comment(line)
  local first, text = self.at, line
  while not text:find("-->", 1, true) do
    line = self:next()
    if not line then blame(self.name, first, "this comment does not end") end
    text = text .. "\n" .. line
  end
  local name, value = note_of(text:match "<!%-%-(.-)%-%->")
  if not name then return end
  if self.notes[name] then
    value = self.notes[name] .. "\n" .. tostring(value)
  end
  self.notes[name] = value
end

-- Notes that belong to no block are a step of their own.
function Page:close_notes()
  if next(self.notes) then
    table.insert(self.blocks, { line = self.at, notes = self:take_notes() })
  end
end

function Page:read_line(line)
  local indent, marks, lang = line:match "^(%s*)(```+)%s*(%S*)"
  if marks then
    if lang == "" then
      blame(self.name, self.at, "a block that does not say what it is")
    end
    table.insert(self.blocks, self:fence(indent, marks, lang))
  elseif line:find "^%s*<!%-%-" then
    self:comment(line)
  elseif line:find "%S" then
    self:close_notes()
    local before = self.at == 1 and "" or self.lines[self.at - 1]
    if line:find "^    " and not self.in_list and not before:find "%S" then
      blame(self.name, self.at, "an indented block, which says no language")
    end
    self.in_list = line:find "^%s*[*+-] " or line:find "^%s*%d+%. "
      or self.in_list and line:find "^%s"
  end
end

--- The blocks of a file, for which it may have another name in what is raised.
function reader.read(file, name)
  local page = setmetatable({ name = name or file, lines = {}, at = 0,
    blocks = {}, notes = {} }, Page)
  for line in (read(file) .. "\n"):gmatch "(.-)\n" do
    table.insert(page.lines, line)
  end
  for line in function() return page:next() end do page:read_line(line) end
  page:close_notes()
  return page.blocks
end

--- The text of a file's first block in this language, with this text in it.
function reader.block(file, lang, text)
  for _, block in ipairs(reader.read(file)) do
    if block.lang == lang and block.text:find(text or "", 1, true) then
      return block.text
    end
  end
  error(("%s has no such block of %s"):format(file, lang), 0)
end

return reader
