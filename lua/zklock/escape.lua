--- Escape: turns any text, including untrusted input, into one component of a
-- path.
--
--     "ann@example.com" → "=ann@example.com="       "" → "=="
--     "a/b-1"           → "=a%2Fb%2D1="       65 bytes → "=sha256=9f86…="
--
-- **Different texts have different components.** The component of a short text
-- is `=` E `=`. E is the text, in which `%` and two digits replace each byte
-- other than letters, digits, dots and at signs. Read from the left, each step
-- in E determines one byte of the text. The component of a long text has a
-- third `=`, which no E contains. So no short text has the same component. Two
-- long texts have the same component only if SHA-256 collides.
--
-- **A component is never part of the marker and number of a contender's name**,
-- whatever the program puts before and after it. Such a name ends with a marker
-- and a number (name.c). A marker begins and ends with `-` or `_`; a component
-- has neither, so no marker begins or ends inside it. A marker has no `=`, so
-- none spans a component. The last `=` cannot be part of a number, so it
-- separates the number from the text before it. Only text that the program puts
-- after the component can end like a contender's name.
--
-- **Components sort after real numbers.** Other clients search for a marker
-- anywhere in a name. Or, like Curator, they take every child for a contender.
-- They sort by the text after the marker, or by the whole name. Such a client
-- compares the first `=` of the component, which sorts after all digits.
--
-- **A component is never** empty, `.`, `..`, `holder`, `locks`, `leases` or
-- `zookeeper`.
local check = require "zklock.check"
local core = require "zklock.core"

-- The longest text, in bytes, that is escaped byte by byte.  Its component has
-- at most 3 * 64 + 2 bytes, so several fit into a path of at most 1000 bytes.
local LONGEST = 64

local escapes = {}
for byte = 0, 255 do
  escapes[string.char(byte)] = ("%%%02X"):format(byte)
end

-- The bytes that are escaped. The pattern does not use %w, whose letters depend
-- on the locale.
local UNSAFE = "[^A-Za-z0-9.@]"

local escaping = {}

--- Returns the component for a text.
function escaping.escape(text, ...)
  check.arguments("zklock.escape(text)", text, ...)
  check.type(text, "string", "argument 1 of escape")
  if #text > LONGEST then return ("=sha256=%s="):format(core.sha256(text)) end
  return "=" .. text:gsub(UNSAFE, escapes) .. "="
end

--- Returns the text from which escape() has made this component; or nil, a
-- message, and "invalid".
function escaping.unescape(escaped, ...)
  check.arguments("zklock.unescape(escaped)", escaped, ...)
  check.type(escaped, "string", "argument 1 of unescape")
  local inside = escaped:match "^=([^=]*)=$"
  local text = inside and inside:gsub("%%(%x%x)", function(digits)
    return string.char(tonumber(digits, 16))
  end)
  -- Only one component of a text is valid: the one that escape() returns.
  if text and #text <= LONGEST and escaping.escape(text) == escaped then
    return text
  end
  if escaped:find "^=sha256=[0-9a-f]+=$" and #escaped == 73 then
    return nil, ("zklock: this is the hash of a text of more than %d bytes, "
      .. "which cannot be reversed"):format(LONGEST), "invalid"
  end
  return nil, "zklock: this is not what zklock.escape returns for any text",
    "invalid"
end

return escaping
