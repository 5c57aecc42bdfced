--- A machine that is suspended: processes that are started with its
-- `environment` see CLOCK_BOOTTIME go on while nothing else does.
local files = require "support.files"
local preload = require "support.preload"
local support = require "support"

local Suspension = {}
Suspension.__index = Suspension

-- `env` is the same as `environment`, by name.  `options.no_timers`: the system
-- has no timers of that clock.
local function new(options)
  local self = setmetatable({ file = os.tmpname(), seconds = 0 }, Suspension)
  self.env = { SUSPENSION = self.file, LD_PRELOAD = preload "suspension",
    SUSPENSION_NO_TIMERS = options and options.no_timers and "1" or nil }
  local words = {}
  for name, value in pairs(self.env) do
    words[#words + 1] = ("%s='%s'"):format(name, value)
  end
  self.environment = table.concat(words, " ")
  return support.closing(self)
end

--- The machine sleeps for so many seconds, and goes on.
function Suspension:sleep(seconds)
  self.seconds = self.seconds + seconds
  files.write(self.file .. ".new", ("%d000000000\n"):format(self.seconds))
  assert(os.rename(self.file .. ".new", self.file))
end

function Suspension:close()
  os.remove(self.file)
  os.remove(self.file .. ".new")
end

return { new = new }
