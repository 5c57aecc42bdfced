--- Bytes: an order of texts that is the same in every process.  Lua compares
-- texts by `<` as strcoll does, in the locale of the process (LuaJIT does not):
-- two processes may order them differently, and some locales take two texts for
-- equal that are not.
local byte = string.byte

local bytes = {}

--- Does `a` come before `b`?
function bytes.less(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = byte(a, i), byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

--- Sorts a list of texts in place.
function bytes.sort(list) table.sort(list, bytes.less) end

return bytes
