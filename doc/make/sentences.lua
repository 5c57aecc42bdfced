--- Sentences: what a source can say.  Each string literal, with what is joined
-- to it, what fills its places, and the call that it is an argument of.
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
    if depth == 0 and i > at
        and (ends[text] or text == ".." or closers[text]) then
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

local chooses = { ["and"] = true, ["or"] = true, ["?"] = true, [":"] = true }

-- How deep the token behind this one is, if this one is at `depth`.
local function deeper(depth, token)
  if token.kind == "string" then return depth end
  return depth + (openers[token.text] and 1 or 0)
    - (closers[token.text] and 1 or 0)
end

-- The words between which an expression chooses: `cond and "a" or "b"`, `? :`.
-- (And the last name of it; of several, of the first.)
local function choices_of(part)
  local choices, depth, name, settled = {}, 0, nil, false
  for i, token in ipairs(part) do
    depth = deeper(depth, token)
    local before = part[i - 1] and part[i - 1].text
    if token.kind == "string" then
      if depth == 0 and chooses[before] then choices[#choices + 1] = token.value
      end
    elseif depth == 0 and token.text == "or" then
      settled = name ~= nil
    elseif token.kind == "name" and not settled and not ends[token.text]
        and (not name or not is_sign(part[i + 1], "(")) then
      name = token.text
    end
  end
  return choices, name
end

-- What stands for an expression: what `known` has for its source, for a
-- function that it calls (`"f("`) or for its last name; else its alternatives;
-- else that name.
local function place_of(part, known)
  local source = source_of(part)
  if known[source] then return known[source] end
  for i, token in ipairs(part) do
    local called = is_sign(part[i + 1], "(") and known[token.text .. "("]
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
    local function goes_on(token)
      return token and (token.kind == "string"
        or token.kind == "name" and defines[token.text])
    end
    while goes_on(tokens[last + 1]) do last = last + 1 end
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

-- The name that ends at `at`, with what stands before its dots and colons.
local function name_to(tokens, at)
  local from = at
  while tokens[from - 2] and tokens[from - 1].text:find "^[.:]$"
    and tokens[from - 2].kind == "name" do from = from - 2 end
  return source_of(slice(tokens, from, at)), from
end

local function may_be_called(token)
  return token ~= nil and token.kind == "name" and not ends[token.text]
end

local borders = { [";"] = true, ["function"] = true, ["return"] = true,
  ["then"] = true, ["do"] = true, ["{"] = true }

-- The call that the expression from `first` on is an argument of: its name as
-- it is written, the arguments before it, and where those begin.  Parentheses
-- that only group are gone through.
local function call_around(tokens, first)
  local depth, i = 0, first - 1
  while tokens[i] do
    local text = tokens[i].kind ~= "string" and tokens[i].text or ""
    if depth == 0 and text == "(" and may_be_called(tokens[i - 1]) then
      return (name_to(tokens, i - 1)), i
    elseif depth == 0 and borders[text] then
      return nil
    end
    -- (A parenthesis that only groups leaves the depth as it is.)
    depth = math.max(0, depth + (closers[text] and 1 or 0)
      - (openers[text] and 1 or 0))
    i = i - 1
  end
end

-- `f "text"`: the name of what is called without parentheses.
local function bare_call(tokens, first)
  if not may_be_called(tokens[first - 1]) then return nil end
  return (name_to(tokens, first - 1))
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
-- index =, leading = }`.  `open`: where the arguments of that call begin;
-- `index`: which of them it is in; `leading`: what is before, if literals.
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

-- Is the name at `at` called there, rather than defined or declared?
local function is_called(tokens, at)
  if not is_sign(tokens[at + 1], "(") then return false end
  local before = tokens[select(2, name_to(tokens, at)) - 1]
  return before == nil or before.text ~= "function"
    and (before.kind ~= "name" or ends[before.text] == true)
end

--- Every call of a function of these names (`{ name → which argument is the
-- message }`): `{ call =, whole =, line =, open =, message = }`; the message as
-- tokens, `whole` with what stands before dots.
function sentences.calls(tokens, names)
  local found = {}
  for i, token in ipairs(tokens) do
    local index = token.kind == "name" and names[token.text]
    if index and is_called(tokens, i) then
      found[#found + 1] = { call = token.text, line = token.line, open = i + 1,
        whole = (name_to(tokens, i)),
        message = sentences.arguments(tokens, i + 1)[index] or {} }
    end
  end
  return found
end

sentences.source_of = source_of

return sentences
