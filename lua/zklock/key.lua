--- Keys: any text, including untrusted input, as one component of a path.
--
--     "ann@example.com" → "=ann@example.com="       "" → "=="
--     "a/b-1"           → "=a%2Fb%2D1="       65 bytes → "=sha256=9f86…="
--
-- **Different texts have different keys.**  A short key is `=` E `=`.  E keeps
-- the text's letters, digits, dots and ats, and has `%` and two digits for
-- each other byte.  Reading E from the left, each step determines one byte of
-- the text.  A long key has a third `=`, which no E contains, so it differs
-- from each short key.  Two long keys are equal only if SHA-256 collides.
--
-- **A key is never part of the marker and number of a contender's name**,
-- whatever the program puts before and behind it.  Such a name ends with a
-- marker and a number (name.c).  A marker begins and ends with `-` or `_`; a
-- key has neither, so no marker begins or ends inside a key.  A marker has no
-- `=`, so none spans a key.  The last `=` cannot be part of a number, so it
-- separates the number from the text before it.  Only text that the program
-- puts behind the key can end like a contender.  Other clients search for a
-- marker anywhere in a name.  Or, like Curator, they take every child for a
-- contender and sort by the text behind the marker, or by the whole name.
-- There they meet the first `=` of the key, which sorts after all digits, and
-- so behind real numbers.
--
-- **A key is never** empty, `.`, `..`, `holder`, `locks`, `leases`,
-- `zookeeper`.
local check = require "zklock.check"
local core = require "zklock.core"

-- The key of a text of this length has at most 3 * 64 + 2 bytes.  So several
-- keys fit into a path, which has at most 1000 bytes.
local LONGEST = 64

local escapes = {}
for byte = 0, 255 do
  escapes[string.char(byte)] = ("%%%02X"):format(byte)
end

-- Not %w, because the locale decides what a letter is.
local UNSAFE = "[^A-Za-z0-9.@]"

local keys = {}

--- Returns the key of a text.
function keys.key(text, ...)
  check.arguments("zklock.key(text)", text, ...)
  check.type(text, "string", "argument 1 of key")
  if #text > LONGEST then return ("=sha256=%s="):format(core.sha256(text)) end
  return "=" .. text:gsub(UNSAFE, escapes) .. "="
end

--- Returns the text of a key; or nil, a message, and "invalid".
function keys.unkey(key, ...)
  check.arguments("zklock.unkey(key)", key, ...)
  check.type(key, "string", "argument 1 of unkey")
  local inside = key:match "^=([^=]*)=$"
  local text = inside and inside:gsub("%%(%x%x)", function(digits)
    return string.char(tonumber(digits, 16))
  end)
  -- Any other spelling is not a key.
  if text and #text <= LONGEST and keys.key(text) == key then return text end
  if key:find "^=sha256=[0-9a-f]+=$" and #key == 73 then
    return nil, ("zklock: this is the key of a text of more than %d bytes, "
      .. "which cannot be told from it"):format(LONGEST), "invalid"
  end
  return nil, "zklock: this is not what zklock.key makes of any text",
    "invalid"
end

return keys
