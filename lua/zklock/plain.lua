--- Plain text: escapes untrusted text. So a message stays one line of valid
-- UTF-8. No character in it can change the order in which a terminal shows it.
-- All output passes through this file: messages (errors.lua), the log
-- (callbacks.lua) and the results of tostring().
local plain = {}

local hidden = {}
for byte = 0, 0x1f do hidden[string.char(byte)] = true end
hidden["\127"] = true
for byte = 0x80, 0x9f do hidden["\194" .. string.char(byte)] = true end
-- Characters that change the direction of text, or end a line or paragraph.
hidden["\216\156"] = true
for byte = 0x8e, 0x8f do hidden["\226\128" .. string.char(byte)] = true end
for byte = 0xa8, 0xae do hidden["\226\128" .. string.char(byte)] = true end
for byte = 0xa6, 0xa9 do hidden["\226\129" .. string.char(byte)] = true end

-- Looks up the first byte of a UTF-8 character. Returns the character's length
-- in bytes, and the range of its second byte. Returns nil if no character
-- begins with this byte.
local function shape(first)
  if first < 0x80 then return 1 end
  if first < 0xc2 or first > 0xf4 then return nil end
  local least = first == 0xe0 and 0xa0 or first == 0xf0 and 0x90 or 0x80
  local most = first == 0xed and 0x9f or first == 0xf4 and 0x8f or 0xbf
  return first < 0xe0 and 2 or first < 0xf0 and 3 or 4, least, most
end

-- Returns the character at `i` and true. If the character is invalid, returns
-- its first byte and false. If the text ends within the character, also returns
-- a third value, true.
local function character(text, i)
  local length, least, most = shape(text:byte(i))
  if not length then return text:sub(i, i), false end
  for k = i + 1, i + length - 1 do
    local byte = text:byte(k)
    if not byte then return text:sub(i, i), false, true end
    if byte < least or byte > most then return text:sub(i, i), false end
    least, most = 0x80, 0xbf
  end
  return text:sub(i, i + length - 1), true
end

local function escape(bytes)
  return (bytes:gsub(".", function(byte)
    return ("\\x%02x"):format(byte:byte())
  end))
end

--- Returns a text with invalid bytes and hidden characters escaped. `marks`: a
-- set of characters that get a backslash. `cut`: true if the text was cut; then
-- drops an incomplete last character.
function plain.show(text, marks, cut)
  local parts, i = {}, 1
  while i <= #text do
    local one, is_valid, at_end = character(text, i)
    if at_end and cut then break end
    i = i + #one
    if marks[one] then
      one = "\\" .. one
    elseif not is_valid or hidden[one] then
      one = escape(one)
    end
    parts[#parts + 1] = one
  end
  return table.concat(parts)
end

local none = {}

--- Escapes a message of zklock. Changes only hidden or invalid characters.
function plain.text(text)
  if not text:find "[%c\127-\255]" then return text end
  return plain.show(text, none)
end

--- Returns a raised error as one line of text. Joins the lines of an error with
-- a traceback by " | ".
function plain.problem(problem)
  return plain.text((tostring(problem):gsub("\n%s*", " | ")))
end

return plain
