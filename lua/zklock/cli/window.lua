--- Window: finds the size of a terminal.
local load = require "zklock.cli.load"

local uv = load "luv"

local window = {}

--- Returns the columns and lines of the terminal at this descriptor; nil if the
-- descriptor is no terminal. Opens the terminal again, and gives luv the new
-- descriptor. luv can set O_NONBLOCK, which would affect every process that
-- shares the given descriptor's open file.
function window.size(descriptor)
  if uv.guess_handle(descriptor) ~= "tty" then return nil end
  local flags = uv.constants.O_WRONLY + uv.constants.O_NOCTTY
  local fd = uv.fs_open(("/dev/fd/%d"):format(descriptor), flags, 0)
  local tty = fd and uv.new_tty(fd, false)
  local columns, lines
  if tty then
    columns, lines = tty:get_winsize()
    tty:close()
  end
  if not columns or columns == 0 then columns, lines = 80, 24 end
  return columns, lines
end

return window
