--- Keys: any text, a stranger's too, as one component of a path.
--
--     "ann@example.com" → "=ann@example.com="       "" → "=="
--     "a/b-1"           → "=a%2Fb%2D1="       65 bytes → "=sha256=9f86…="
--
-- **Two texts never have the same key.**  A short key is `=` E `=`, where E has
-- the text's letters, digits, dots and ats as they are, and of each other byte
-- `%` and two digits: whoever reads E from the left knows at each step which
-- byte it was.  A long key has a third `=`, which no E has, so it is no short
-- one; two long ones are equal if SHA-256 collides.
--
-- **A key is no part of a contender's name**, whatever the program puts before
-- and behind it.  Such a name ends with a marker and a number (name.c).  A
-- marker begins and ends with `-` or `_`, of which a key has none, so none
-- begins or ends inside one; none has `=`, so none goes around one; and the
-- last `=`, which no number has, parts the number from what stands before it.
-- (So only what stands behind the key can end like a contender, if it does so
-- by itself, which is the program's own doing.)  Other clients look for a
-- marker anywhere in a name, or take every child for a contender, as Curator
-- does, and sort by what follows the marker, or by the whole name: there stands
-- the first `=`, which comes after all digits, and so behind true numbers.
--
-- **It is never** empty, `.`, `..`, `holder`, `locks`, `leases`, `zookeeper`.
local check = require "zklock.check"
local core = require "zklock.core"

-- A key of such a text has at most 3 * 64 + 2 bytes: some of them fit into a
-- path, which has 1000.
local LONGEST = 64

local escapes = {}
for byte = 0, 255 do
  escapes[string.char(byte)] = ("%%%02X"):format(byte)
end

-- (Not %w: what a letter is depends on the locale.)
local UNSAFE = "[^A-Za-z0-9.@]"

local keys = {}

--- A text → one component of a path.
function keys.key(text, ...)
  check.arguments("zklock.key(text)", text, ...)
  check.type(text, "string", "argument 1 of key")
  if #text > LONGEST then return ("=sha256=%s="):format(core.sha256(text)) end
  return "=" .. text:gsub(UNSAFE, escapes) .. "="
end

--- The text whose key it is; or nil, why there is none, and "invalid".
function keys.unkey(key, ...)
  check.arguments("zklock.unkey(key)", key, ...)
  check.type(key, "string", "argument 1 of unkey")
  local inside = key:match "^=([^=]*)=$"
  local text = inside and inside:gsub("%%(%x%x)", function(digits)
    return string.char(tonumber(digits, 16))
  end)
  -- Whatever is spelled otherwise is nobody's key.
  if text and #text <= LONGEST and keys.key(text) == key then return text end
  if key:find "^=sha256=[0-9a-f]+=$" and #key == 73 then
    return nil, ("zklock: this is the key of a text of more than %d bytes, "
      .. "which cannot be told from it"):format(LONGEST), "invalid"
  end
  return nil, "zklock: this is not what zklock.key makes of any text",
    "invalid"
end

return keys
