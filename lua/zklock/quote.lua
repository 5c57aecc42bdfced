--- Quotes untrusted input, so that readers can tell it from zklock's own text.
local plain = require "zklock.plain"

local marks = { ['"'] = true, ["\\"] = true }

--- Returns the text in quotation marks. `cut`: the text was cut, and may end
-- within a character.
return function(text, cut)
  return ('"%s"%s'):format(plain.show(text, marks, cut), cut and "..." or "")
end
