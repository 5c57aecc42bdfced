--- Decimal: numbers for programs to read.  C's way of writing them, which is
-- string.format's but for LuaJIT, obeys the process's locale: where a program
-- has called os.setlocale "de_DE" a half is 0,5, and in others the mark is no
-- ASCII at all.
local decimal = {}

--- As string.format, of one number, with a point.  (Else there are digits,
-- signs, the letters of `1e+20`, `inf` and `nan`, and maybe a unit.)
function decimal.format(format, value)
  return (format:format(value):gsub("[^-+0-9a-z .]+", "."))
end

return decimal
