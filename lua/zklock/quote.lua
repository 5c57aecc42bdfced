--- Quotes untrusted input. So readers can distinguish it from zklock's own
-- text.
local plain = require "zklock.plain"

local marks = { ['"'] = true, ["\\"] = true }

--- Returns the text in quotation marks, escaped. `cut`: true if the text was
-- cut; then drops an incomplete last character, and adds "...".
return function(text, cut)
  return ('"%s"%s'):format(plain.show(text, marks, cut), cut and "..." or "")
end
