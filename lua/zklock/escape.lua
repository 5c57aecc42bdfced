--- Escape: turns any text, including untrusted input, into one component of a
-- path.
--
--     "ann@example.com" → "=ann@example.com="       "" → "=="
--     "a/b-1"           → "=a%2Fb%2D1="       65 bytes → "=sha256=9f86…="
--
-- **Different texts have different components.** The component of a text of at
-- most 64 bytes is `=` E `=`. E is the text, in which `%` and two digits
-- replace each byte other than letters, digits, dots and at signs. So E can be
-- read from the left, byte by byte, in only one way. The component of a longer
-- text has a third `=`, which no E contains. So it differs from each component
-- of a short text. Two longer texts have the same component only if SHA-256
-- collides.
--
-- **A component never becomes part of the marker and number of a contender's
-- name**, whatever the program puts before and after it. A contender's name
-- ends with a marker and a number (name.c). A marker begins and ends with `-`
-- or `_`. A component contains neither, so no marker begins or ends inside it.
-- A marker has no `=`, so no marker contains a whole component. A number has no
-- `=`, so no number reaches into a component. Only text that the program puts
-- after the component can end like a contender's name.
--
-- **Components sort after real numbers.** Some other clients search for a
-- marker anywhere in a name. Others, like Curator, take every child for a
-- contender. Both sort the children by the text after the marker, or by the
-- whole name. There they compare the first `=` of the component with a digit,
-- and `=` sorts after all digits.
--
-- **A component is never** empty, `.`, `..`, `holder`, `locks`, `leases` or
-- `zookeeper`.
local check = require "zklock.check"
local core = require "zklock.core"

-- A text of at most this many bytes is escaped byte by byte; a longer one is
-- hashed. So a component has at most 3 * 64 + 2 bytes. A path of 1000 bytes has
-- room for several.
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
  check.type(text, "string", "argument 1 of escape")
  check.no_more("zklock.escape(text)", ...)
  if #text > LONGEST then return ("=sha256=%s="):format(core.sha256(text)) end
  return "=" .. text:gsub(UNSAFE, escapes) .. "="
end

--- Returns the text from which escape() has made this component; or nil, a
-- message, and "invalid".
function escaping.unescape(escaped, ...)
  check.type(escaped, "string", "argument 1 of unescape")
  check.no_more("zklock.unescape(escaped)", ...)
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
