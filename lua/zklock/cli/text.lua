--- Text: measures the width of text on a terminal. All texts must be valid
-- UTF-8 on one line. So the caller must first escape untrusted text with
-- zklock.plain.
local text = {}

-- Ranges of characters that are not one column wide: combining characters and
-- the wide characters of East Asia. Each range has its first and last
-- character, and the width in columns.
local ranges = {
  { 0x0300, 0x036f, 0 }, { 0x0483, 0x0489, 0 }, { 0x0591, 0x05bd, 0 },
  { 0x064b, 0x065f, 0 }, { 0x1100, 0x115f, 2 }, { 0x1ab0, 0x1aff, 0 },
  { 0x1dc0, 0x1dff, 0 }, { 0x200b, 0x200d, 0 }, { 0x20d0, 0x20ff, 0 },
  { 0x2e80, 0x303e, 2 }, { 0x3041, 0xa4cf, 2 }, { 0xac00, 0xd7a3, 2 },
  { 0xf900, 0xfaff, 2 }, { 0xfe00, 0xfe0f, 0 }, { 0xfe20, 0xfe2f, 0 },
  { 0xfe30, 0xfe6f, 2 }, { 0xff00, 0xff60, 2 }, { 0xffe0, 0xffe6, 2 },
  { 0x1f300, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 },
}

local function code_point(character)
  local first = character:byte()
  if first < 0x80 then return first end
  local code = first < 0xe0 and first % 0x20 or first < 0xf0 and first % 0x10
    or first % 0x08
  for i = 2, #character do code = code * 64 + character:byte(i) % 64 end
  return code
end

local function columns_of(character)
  local code = code_point(character)
  if code < 0x0300 then return 1 end
  for _, range in ipairs(ranges) do
    if code <= range[2] then return code < range[1] and 1 or range[3] end
  end
  return 1
end

local CHARACTER = "[%z\1-\127\194-\244][\128-\191]*"

function text.width(shown)
  if not shown:find "[\128-\255]" then return #shown end
  local width = 0
  for character in shown:gmatch(CHARACTER) do
    width = width + columns_of(character)
  end
  return width
end

--- Returns the text. If it is wider than `columns`, cuts it and ends it with
-- "…".
function text.cut(shown, columns)
  if text.width(shown) <= columns then return shown end
  local parts, room = {}, columns - 1
  for character in shown:gmatch(CHARACTER) do
    room = room - columns_of(character)
    if room < 0 then break end
    parts[#parts + 1] = character
  end
  return table.concat(parts) .. (columns > 0 and "…" or "")
end

--- Returns the text, padded with spaces to this number of columns.
function text.pad(shown, columns)
  return shown .. (" "):rep(columns - text.width(shown))
end

return text
