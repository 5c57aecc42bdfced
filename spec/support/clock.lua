--- A machine whose time of day is wrong: processes that are started with its
-- `environment` see it `ahead` of the right one.
local preload = require "support.preload"

local Clock = {}
Clock.__index = Clock

local function new()
  local self = setmetatable({ file = os.tmpname() }, Clock)
  self.environment = ("CLOCK_AHEAD='%s' LD_PRELOAD='%s'"):format(self.file,
    preload "clock")
  self:set(0)
  return self
end

--- From now on it is so many seconds ahead; less than 0: behind.
function Clock:set(seconds)
  local bytes = {}
  for i = 1, 8 do
    bytes[i] = string.char(seconds % 256)
    seconds = math.floor(seconds / 256)
  end
  local file = assert(io.open(self.file, "r+b"))
  file:write(table.concat(bytes))
  file:close()
end

function Clock:close() os.remove(self.file) end

return { new = new }
