-- Which file needs which, read from the text of C and Lua. A C file and the
-- header of its name are one room; so is a module of Lua. An arrow is
-- { from =, to =, at = "file:line", by = "what is included or called" }.
local arrows = {}

-- C, read roughly: enough for a program that clang-format has laid out.

local function blank(text) return (text:gsub("[^\n]", " ")) end

-- The end of what begins with a slash or a quote, and whether it is a comment.
local function find_end(text, start)
  local two, mark = text:sub(start, start + 1), text:sub(start, start)
  if two == "/*" then
    return select(2, text:find("*/", start + 2, true)) or #text, true
  elseif two == "//" then
    return (text:find("\n", start, true) or #text + 1) - 1, true
  end
  local stop = mark == "/" and start or start + 1
  while text:sub(stop, stop) ~= mark and stop <= #text do
    stop = stop + (text:sub(stop, stop) == "\\" and 2 or 1)
  end
  return stop, false
end

-- Without comments; strings stay, or become blanks as well.
local function strip(text, strings_too)
  local parts, at = {}, 1
  local start = text:find "[/\"']"
  while start do
    parts[#parts + 1] = text:sub(at, start - 1)
    local stop, comment = find_end(text, start)
    local piece = text:sub(start, stop)
    local kept = not comment and (piece == "/" or not strings_too)
    parts[#parts + 1] = kept and piece or blank(piece)
    at = stop + 1
    start = text:find("[/\"']", at)
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts)
end

-- Each word and mark of a text, with its line.
local function tokens(text)
  local list, at, line = {}, 1, 1
  while true do
    local space, stop = text:match("^(%s*)()", at)
    line, at = line + select(2, space:gsub("\n", "")), stop
    if at > #text then return list end
    local word = text:match("^[%a_][%w_]*", at) or text:match("^%d[%w_.]*", at)
      or text:match("^%->", at) or text:sub(at, at)
    list[#list + 1] = { word = word, line = line }
    at = at + #word
  end
end

-- Takes the lines of the preprocessor out of a text: the rest, the included
-- files and the bodies of macros, each as { text or name, line }.
local function split_directives(text)
  local rest, includes, macros, line = {}, {}, {}, 0
  local directive
  for content in (text .. "\n"):gmatch "(.-)\n" do
    line = line + 1
    if directive or content:find "^%s*#" then
      directive = directive or { text = "", line = line }
      directive.text = directive.text .. content:gsub("\\$", "") .. "\n"
      if not content:find "\\$" then
        local mark, name =
          directive.text:match '^%s*#%s*include%s*([<"])([^>"]+)'
        local body = directive.text:match "^%s*#%s*define%s+[%w_]+(.*)"
        if mark then
          includes[#includes + 1] =
            { name = name, line = line, system = mark == "<" }
        elseif body then
          macros[#macros + 1] = { text = body, line = directive.line }
        end
        directive = nil
      end
      content = ""
    end
    rest[#rest + 1] = content
  end
  return table.concat(rest, "\n"), includes, macros
end

local function is_name(word) return word:find "^[%a_]" ~= nil end

local function position(words, wanted)
  for i, word in ipairs(words) do
    if word == wanted then return i end
  end
end

-- `int name(…`: the name, or nil.
local function function_in(words)
  for i = 2, #words do
    local name = words[i - 1]
    if words[i] == "(" and is_name(name) and name ~= "__attribute__" then
      return name
    end
  end
end

-- `int name`, `int name[…]`, `int name = …`; not `struct name`.
local function variable_in(words)
  local stop = position(words, "[") or position(words, "=") or #words + 1
  local name, kind = words[stop - 1], words[stop - 2]
  if not kind or kind == "struct" or kind == "enum" then return nil end
  return is_name(name) and name or nil
end

-- What a declaration at file level, up to its `;` or `{`, defines for others.
local function defined_by(words, opens)
  for _, word in ipairs { "static", "extern", "typedef" } do
    if position(words, word) then return nil end
  end
  if position(words, "=") then return variable_in(words) end
  if position(words, "(") then return opens and function_in(words) or nil end
  return not opens and variable_in(words) or nil
end

-- A field or a member: `.name`, `->name`, `(*name)(`.
local function is_member(list, i)
  local before, after = list[i - 1], list[i + 1]
  if not before then return false end
  if before.word == "." or before.word == "->" then return true end
  return before.word == "*" and after and after.word == ")"
    and list[i - 2] and list[i - 2].word == "("
end

local function note_use(file, list, i)
  local token = list[i]
  if is_name(token.word) and not is_member(list, i) then
    file.uses[token.word] = file.uses[token.word] or token.line
  end
end

-- The brace that ends the block which opens at `i`, or nil.
local function find_close(list, i)
  local depth = 0
  for k = i, #list do
    local word = list[k].word
    depth = depth + (word == "{" and 1 or word == "}" and -1 or 0)
    if depth == 0 then return k end
  end
end

-- Walks over the declarations: names that are defined, and all that are used in
-- functions and in initializers. True unless a brace is missing.
local function read_declarations(file, list)
  local words, i = {}, 1
  while list[i] do
    local word, stop = list[i].word, i
    if word == "{" or word == ";" then
      local name = defined_by(words, word == "{")
      if name then file.defines[name] = list[i].line end
    end
    if word == "{" then
      stop = find_close(list, i)
      if not stop then return false end
      local has_value = position(words, "=")
      if has_value or position(words, "(") then
        for k = i, stop do note_use(file, list, k) end
        -- (A function's end is no `;`.)
        if not has_value then words = {} end
      end
    elseif word == ";" then
      words = {}
    else
      words[#words + 1] = word
    end
    i = stop + 1
  end
  return true
end

function arrows.read_c(text)
  local file = { defines = {}, uses = {} }
  local _, macros
  _, file.includes = split_directives(strip(text, false))
  text, _, macros = split_directives(strip(text, true))
  file.balanced = read_declarations(file, tokens(text))
  for _, macro in ipairs(macros) do
    local list = tokens(macro.text)
    for i, token in ipairs(list) do
      token.line = token.line + macro.line - 1
      note_use(file, list, i)
    end
  end
  return file
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
