--- Quotes untrusted input, so that readers can tell it from zklock's own text.
local plain = require "zklock.plain"

local marks = { ['"'] = true, ["\\"] = true }

--- `cut`: the text was cut, and may end within a character.
return function(text, cut)
  return ('"%s"%s'):format(plain.show(text, marks, cut), cut and "..." or "")
end
