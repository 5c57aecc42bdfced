--- Decimal: formats numbers for programs to read.  PUC Lua's string.format
-- obeys the process's locale.  After os.setlocale "de_DE" a half is 0,5; in
-- other locales the decimal mark is not even ASCII.
local decimal = {}

--- Formats one number as string.format does, but always with a point.
-- Everything else in the result must be digits, signs, letters (`1e+20`,
-- `inf`, `nan`, a unit) or spaces.
function decimal.format(format, value)
  return (format:format(value):gsub("[^-+0-9a-z .]+", "."))
end

return decimal
