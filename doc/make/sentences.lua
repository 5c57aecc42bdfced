--- Sentences: what a source can say.  Each string literal that reads as prose,
-- with what is joined to it, what fills its places, and the call that it is an
-- argument of.
local sentences = {}

-- Expressions.

local openers = { ["("] = ")", ["{"] = "}", ["["] = "]" }
local closers = { [")"] = "(", ["}"] = "{", ["]"] = "[" }

local function is_sign(token, text)
  return token ~= nil and token.kind == "sign" and token.text == text
end

-- Signs and words that end an expression at its own depth.
local ends = { [","] = true, [";"] = true, ["="] = true, ["?"] = true,
  [":"] = false, ["then"] = true, ["do"] = true, ["end"] = true, ["and"] = true,
  ["or"] = true, ["return"] = true, ["local"] = true, ["if"] = true,
  ["elseif"] = true, ["else"] = true, ["function"] = true, ["for"] = true,
  ["=="] = true, ["~="] = true, ["in"] = true, ["not"] = true }

-- From `at` on, over one operand: the index behind it.
local function operand_end(tokens, at)
  local depth, i = 0, at
  while tokens[i] do
    local text = tokens[i].kind ~= "string" and tokens[i].text or ""
    if depth == 0 and i > at and (ends[text] or text == ".." or closers[text])
    then
      return i
    end
    -- Two names or values beside each other: the next statement.
    local before = tokens[i - 1]
    if depth == 0 and i > at and tokens[i].kind == "name"
        and (before.kind ~= "sign" or closers[before.text]) then
      return i
    end
    if openers[text] then depth = depth + 1 end
    if closers[text] then depth = depth - 1 end
    i = i + 1
  end
  return i
end

-- Backwards from `at`, over one operand: the index of its first token.
local function operand_begin(tokens, at)
  local depth, i = 0, at
  while tokens[i] do
    local text = tokens[i].kind ~= "string" and tokens[i].text or ""
    if depth == 0 and (ends[text] or text == ".." or openers[text]) then
      return i + 1
    end
    if closers[text] then depth = depth + 1 end
    if openers[text] then depth = depth - 1 end
    i = i - 1
  end
  return i + 1
end

local function slice(tokens, from, to)
  local part = {}
  for i = from, to do part[#part + 1] = tokens[i] end
  return part
end

-- Those between an opening sign at `at` and its end, split at commas; the index
-- of the end.
function sentences.arguments(tokens, at)
  local list, from, depth, i = {}, at + 1, 0, at
  repeat
    local text = tokens[i] and tokens[i].kind ~= "string" and tokens[i].text
    if openers[text] then depth = depth + 1 end
    if closers[text] then depth = depth - 1 end
    if depth == 1 and text == "," or depth == 0 then
      if i > from then list[#list + 1] = slice(tokens, from, i - 1) end
      from = i + 1
    end
    i = i + 1
  until depth == 0 or not tokens[i]
  return list, i - 1
end

-- Places.

local function source_of(part)
  local words = {}
  for i, token in ipairs(part) do words[i] = token.text end
  return table.concat(words)
end

-- The words between which an expression chooses: `cond and "a" or "b"`, `? :`.
-- (And the last name of it; of several, of the first.)
local function choices_of(part)
  local choices, depth, name, settled = {}, 0, nil, false
  for i, token in ipairs(part) do
    local text = token.kind ~= "string" and token.text or ""
    if openers[text] then depth = depth + 1 end
    if closers[text] then depth = depth - 1 end
    local before = part[i - 1] and part[i - 1].text
    if depth == 0 and text == "or" and name then settled = true end
    if token.kind == "string" and depth == 0
        and (before == "and" or before == "or" or before == "?"
          or before == ":") then
      choices[#choices + 1] = token.value
    elseif token.kind == "name" and not settled and not ends[text] then
      if not is_sign(part[i + 1], "(") or not name then name = token.text end
    end
  end
  return choices, name
end

-- What stands for an expression: what `known` has for its source, for a function
-- that it calls (`"f("`) or for its last name; else its alternatives; else that
-- name.
local function place_of(part, known)
  local source = source_of(part)
  if known[source] then return known[source] end
  for i, token in ipairs(part) do
    local called = token.kind == "name" and is_sign(part[i + 1], "(")
      and known[token.text .. "("]
    if called then return called end
  end
  if #part == 1 and part[1].kind == "string" then return part[1].value end
  local choices, name = choices_of(part)
  if #choices == 1 and name then table.insert(choices, 1, name) end
  if #choices > 1 then return "<" .. table.concat(choices, "|") .. ">" end
  if known[name or ""] then return known[name] end
  return "<" .. (name or "…"):gsub("_", " "):lower() .. ">"
end

-- Fills the places of a format, in order.
local function fill(format, given, known)
  local n = 0
  return (format:gsub("%%[%-+ #0]*([%d.*]*)l*([%a%%])", function(size, kind)
    if kind == "%" then return "%" end
    if size:find "*" then n = n + 1 end
    n = n + 1
    local place = given[n] and place_of(given[n], known) or "<…>"
    return kind == "q" and place:sub(1, 1) == "<" and '"' .. place .. '"'
      or place
  end))
end

-- Literals.

-- The chain that the string at `at` belongs to: first and last index, and its
-- text, in which `\1<n>\2` is the n-th of the expressions beside.
local function chain_at(tokens, at, is_c, defines)
  local first, last, texts, others = at, at, {}, {}
  if is_c then
    while tokens[last + 1] and (tokens[last + 1].kind == "string"
        or tokens[last + 1].kind == "name" and defines[tokens[last + 1].text]) do
      last = last + 1
    end
    for i = first, last do
      texts[#texts + 1] = tokens[i].value or defines[tokens[i].text]
    end
    return first, last, table.concat(texts), others
  end
  if is_sign(tokens[at - 1], "..") then
    first = operand_begin(tokens, at - 2)
    while is_sign(tokens[first - 1], "..") do
      first = operand_begin(tokens, first - 2)
    end
  end
  local i = first
  repeat
    local to = operand_end(tokens, i) - 1
    if to == i and tokens[i].kind == "string" then
      texts[#texts + 1] = tokens[i].value
    else
      others[#others + 1] = slice(tokens, i, to)
      texts[#texts + 1] = ("\1%d\2"):format(#others)
    end
    last, i = to, to + 2
  until not is_sign(tokens[to + 1], "..")
  return first, last, table.concat(texts), others
end

-- The call that the expression from `first` on is an argument of: its name as
-- it is written, the arguments before it, and where those begin.  Parentheses
-- that only group are gone through.
local function call_around(tokens, first)
  local depth, i = 0, first - 1
  while tokens[i] do
    local token = tokens[i]
    local text = token.kind ~= "string" and token.text or ""
    if closers[text] then depth = depth + 1 end
    if openers[text] then
      local named = text == "(" and tokens[i - 1] and tokens[i - 1].kind == "name"
      if depth == 0 and named and not ends[tokens[i - 1].text] then
        local from = i - 1
        while tokens[from - 2] and tokens[from - 1].text:find "^[.:]$"
          and tokens[from - 2].kind == "name" do from = from - 2 end
        return source_of(slice(tokens, from, i - 1)), i
      end
      if depth == 0 and text == "{" then return nil end
      if depth > 0 then depth = depth - 1 end
    elseif depth == 0 and (text == ";" or text == "function"
        or text == "return" or text == "then" or text == "do") then
      return nil
    end
    i = i - 1
  end
end

-- `f "text"`: the name of what is called without parentheses.
local function bare_call(tokens, first)
  local before = tokens[first - 1]
  if not before or before.kind ~= "name" or ends[before.text] then return nil end
  local from = first - 1
  while tokens[from - 2] and tokens[from - 1].text:find "^[.:]$"
    and tokens[from - 2].kind == "name" do from = from - 2 end
  return source_of(slice(tokens, from, first - 1))
end

local function index_of(list, token)
  for i, part in ipairs(list) do
    for _, one in ipairs(part) do
      if one == token then return i end
    end
  end
end

-- What fills the places of the chain that ends at `last`.
local function given_to(tokens, last, list, index)
  if is_sign(tokens[last + 1], ")") and is_sign(tokens[last + 2], ":")
      and tokens[last + 3] and tokens[last + 3].text == "format" then
    return (sentences.arguments(tokens, last + 4))
  end
  local rest = {}
  for i = (index or 0) + 1, list and #list or 0 do rest[#rest + 1] = list[i] end
  return rest
end

--- Every literal of a source, joined: `{ text =, line =, call =, open =,
-- index =, leading = }`.  `open`: where the arguments of that call begin; `index`:
-- which of them it is in; `leading`: those before it, where they are literals.
function sentences.read(tokens, is_c, defines, known)
  local found, at = {}, 1
  while tokens[at] do
    if tokens[at].kind == "string" then
      local first, last, text, others = chain_at(tokens, at, is_c, defines)
      local call, open = bare_call(tokens, first), nil
      if not call or is_c then call, open = call_around(tokens, first) end
      local list = open and sentences.arguments(tokens, open)
      local index = list and index_of(list, tokens[at]) or 1
      local given = given_to(tokens, last, list, index)
      text = text:find "%%" and fill(text, given, known) or text
      text = text:gsub("\1(%d+)\2", function(n)
        return place_of(others[tonumber(n)], known)
      end)
      local leading = {}
      for i = 1, list and index - 1 or 0 do
        leading[i] = #list[i] == 1 and list[i][1].value or false
      end
      found[#found + 1] = { text = text, line = tokens[at].line, call = call,
        open = open, index = index, leading = leading }
      at = last
    end
    at = at + 1
  end
  return found
end

--- Every call of a function of these names (`{ name → which argument is the
-- message }`): `{ call =, line =, message =, open = }`; the message as tokens.
function sentences.calls(tokens, names)
  local found = {}
  for i, token in ipairs(tokens) do
    if token.kind == "name" and names[token.text]
        and is_sign(tokens[i + 1], "(") and tokens[i - 1]
        and tokens[i - 1].text ~= "function"
        and not (tokens[i - 1].kind == "name"
          and tokens[i - 1].text ~= "return") then
      local from = i
      while tokens[from - 2] and tokens[from - 1].text:find "^[.:]$"
        and tokens[from - 2].kind == "name" do from = from - 2 end
      if not tokens[from - 1] or tokens[from - 1].text ~= "function" then
        local list = sentences.arguments(tokens, i + 1)
        found[#found + 1] = { call = token.text, line = token.line, open = i + 1,
          whole = source_of(slice(tokens, from, i)),
          message = list[names[token.text]] or {} }
      end
    end
  end
  return found
end

sentences.source_of = source_of

return sentences
