--- Window: fits text into the width of a terminal.
local uv = require "luv"

local window = {}

--- Returns the number of columns of the terminal at this descriptor; nil if the
-- descriptor is no terminal. luv opens the terminal again, so that O_NONBLOCK
-- does not affect other processes.
function window.columns(descriptor)
  if uv.guess_handle(descriptor) ~= "tty" then return nil end
  local tty = uv.new_tty(descriptor, false)
  local columns = tty and tty:get_winsize()
  if tty then tty:close() end
  return columns and columns > 0 and columns or 80
end

local CHARACTER = "[%z\1-\127\194-\244][\128-\191]*"

--- Returns the number of characters. The text must be valid UTF-8 on one line.
-- So the caller must first escape untrusted text with zklock.plain.
function window.width(text) return select(2, text:gsub(CHARACTER, "")) end

--- Returns the text. If it is wider than `columns`, cuts it and ends it with
-- "…".
function window.cut(text, columns)
  if not columns or window.width(text) <= columns then return text end
  local parts = {}
  for character in text:gmatch(CHARACTER) do
    if #parts >= columns - 1 then break end
    parts[#parts + 1] = character
  end
  return table.concat(parts) .. "…"
end

return window
