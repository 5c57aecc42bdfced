--- Bytes: orders texts by their bytes, so that the order is the same in every
-- process. PUC Lua's `<` compares texts by strcoll, in the locale of the
-- process. So with `<`, two processes can order texts differently, and in some
-- locales different texts count as equal.
local byte = string.byte

local bytes = {}

--- Returns whether `a` comes before `b` in the order of their bytes.
function bytes.less(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = byte(a, i), byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

--- Sorts a list of texts in place, by their bytes.
function bytes.sort(list) table.sort(list, bytes.less) end

return bytes
