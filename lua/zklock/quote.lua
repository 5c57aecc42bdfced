--- Quotes a stranger's text for a message, so that it cannot be taken for ours.
local plain = require "zklock.plain"

local marks = { ['"'] = true, ["\\"] = true }

--- `cut`: it was longer, and may end within a character.
return function(text, cut)
  return ('"%s"%s'):format(plain.show(text, marks, cut), cut and "..." or "")
end
