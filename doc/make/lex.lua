--- Tokens of Lua and of C, as far as it takes to find sentences: names,
-- strings, numbers, signs.  `{ kind =, text =, value =, line = }`; the value of
-- a string is what the program sees.
local lex = {}

local escapes = { n = "\n", t = "\t", r = "\r", a = "\a", b = "\b", f = "\f",
  v = "\v" }

local function unescape(body)
  body = body:gsub("\\z%s*", "")
  body = body:gsub("\\(%d%d?%d?)", function(digits)
    return string.char(tonumber(digits) % 256)
  end)
  body = body:gsub("\\x(%x%x)", function(digits)
    return string.char(tonumber(digits, 16))
  end)
  return (body:gsub("\\(.)", function(letter)
    return escapes[letter] or letter
  end))
end

-- From the quote at `at`: where it closes.
local function close_of(text, at)
  local quote = text:sub(at, at)
  local i = at + 1
  while true do
    local c = text:sub(i, i)
    if c == quote then return i end
    assert(c ~= "" and c ~= "\n", "a string that does not end")
    i = i + (c == "\\" and 2 or 1)
  end
end

-- What both languages have in common.  `skip(text, at)`: the end of a comment,
-- or of what is left out; `long(text, at)`: a long string's end and value.
local function read(text, skip, long, signs)
  local tokens, at, line = {}, 1, 1
  local function advance(to)
    for _ in text:sub(at, to):gmatch "\n" do line = line + 1 end
    at = to + 1
  end
  local function add(kind, to, value)
    tokens[#tokens + 1] = { kind = kind, text = text:sub(at, to),
      value = value, line = line }
    advance(to)
  end
  while at <= #text do
    local blank = select(2, text:find("^%s+", at))
    local over = blank or skip(text, at)
    local long_end, value = long(text, at)
    local c = text:sub(at, at)
    if over then
      advance(over)
    elseif long_end then
      add("string", long_end, value)
    elseif c == '"' or c == "'" then
      local to = close_of(text, at)
      add("string", to, unescape(text:sub(at + 1, to - 1)))
    elseif c:find "[%a_]" then
      add("name", select(2, text:find("^[%w_]+", at)))
    elseif c:find "%d" then
      add("number", select(2, text:find("^[%w.]+", at)))
    else
      local sign = c
      for _, longer in ipairs(signs) do
        if text:sub(at, at + #longer - 1) == longer then sign = longer break end
      end
      add("sign", at + #sign - 1)
    end
  end
  return tokens
end

local function nothing() end

local function long_bracket(text, at)
  local level = text:match("^%[(=*)%[", at)
  if not level then return nil end
  local from = at + #level + 2
  local close, to = text:find("]" .. level .. "]", from, true)
  return to, (text:sub(from, close - 1):gsub("^\n", ""))
end

function lex.lua(text)
  text = text:gsub("^#!", "--")
  return read(text, function(all, at)
    if all:sub(at, at + 1) ~= "--" then return nil end
    local to = long_bracket(all, at + 2)
    return to or (all:find("\n", at, true) or #all + 1) - 1
  end, long_bracket, { "...", "..", "==", "~=", "<=", ">=", "::" })
end

function lex.c(text)
  text = text:gsub("\\\n", " \n")
  return read(text, function(all, at)
    if all:sub(at, at + 1) == "/*" then
      return select(2, all:find("*/", at + 2, true))
    elseif all:sub(at, at + 1) == "//" or all:find("^#%s*include", at) then
      return (all:find("\n", at, true) or #all + 1) - 1
    end
  end, nothing, { "->", "==", "!=", "<=", ">=", "&&", "||" })
end

return lex
