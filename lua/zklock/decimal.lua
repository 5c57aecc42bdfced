--- Decimal: formats numbers for programs to read, with a decimal point. PUC
-- Lua's string.format uses the decimal mark of the process's locale. After
-- os.setlocale "de_DE" it writes a half as 0,5. In some locales the mark is not
-- ASCII.
local decimal = {}

--- Formats one number as string.format does, but always with a point. Replaces
-- every other character by a point. So besides the decimal mark, the result may
-- have only digits, signs, lower-case letters (`1e+20`, `inf`, a unit) and
-- spaces.
function decimal.format(format, value)
  return (format:format(value):gsub("[^-+0-9a-z .]+", "."))
end

return decimal
