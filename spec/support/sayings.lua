--- Sayings: the messages of the sources, and whether one of them is what a text
-- is, or begins with.  A place, `<path>`, may be any text.
local root = os.getenv "SPEC_ROOT" or "."
local saved = package.path
package.path = root .. "/doc/make/?.lua;" .. saved
local messages = require "messages"
package.path = saved

local sayings = {}

local function escape(text) return (text:gsub("%p", "%%%0")) end

-- So many letters must be the sentence's own, or places could be anything: of a
-- whole one, and of the beginning of one.
local SOME, ENOUGH = 6, 8

local function letters(text) return #text:gsub("^zklock", ""):gsub("%A", "") end

-- Patterns of the sentence, and of all that it may be cut to behind a word.
local function patterns_of(said)
  local pattern, own, list = "^", "", {}
  for literal, place in (said .. "<>"):gmatch "([^<]*)(<?[^>]*>?)" do
    for word in literal:gmatch "%s*[^%s]*" do
      if letters(own .. word) >= ENOUGH then
        list[#list + 1] = pattern .. escape(word:gsub("%p$", "")) .. "%p?%s*$"
      end
      pattern, own = pattern .. escape(word), own .. word
    end
    if place ~= "" and place ~= "<>" then
      -- (A text that ends in a place has not much of it.)
      if letters(own) >= ENOUGH then
        list[#list + 1] = pattern .. "%S*%s?%S*%s*$"
      end
      pattern = pattern .. ".-"
    end
  end
  -- (Of little but places nothing can be told by the text.)
  local is_told = letters(own) >= SOME or not said:find "<"
  return { whole = is_told and pattern .. "$" or "^$", cut = list }
end

--- `{ { text =, about =, whole =, cut = }, … }`: a sentence, what is said of
-- it, and its patterns.
function sayings.read(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do
    local said, about = line:match "^%- `` (.-) ``(.*)$"
    if not said then said, about = line:match "^%- `(.-)`(.*)$" end
    if said then
      local entry = patterns_of(said)
      entry.text, entry.about = said, about
      list[#list + 1] = entry
    end
  end
  return list
end

local printed

--- All messages, as `make messages` prints them.
function sayings.list()
  if printed then return printed end
  local entries, complaints = messages.collect(root)
  assert(#complaints == 0, table.concat(complaints, "\n"))
  printed = messages.write(entries)
  return printed
end

function sayings.all() return sayings.read(sayings.list()) end

--- The first entry that this text is; or, of a part of one, that it begins.
function sayings.find(list, text, is_part)
  for _, entry in ipairs(list) do
    if text:find(entry.whole) then return entry end
  end
  for _, entry in ipairs(is_part and list or {}) do
    for _, pattern in ipairs(entry.cut) do
      if text:find(pattern) then return entry end
    end
  end
end

return sayings
