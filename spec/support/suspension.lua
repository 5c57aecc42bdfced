--- A machine that is suspended: processes that are started with its
-- `environment` see CLOCK_BOOTTIME go on while nothing else does.
local support = require "support"

local Suspension = {}
Suspension.__index = Suspension

local SOURCE = (os.getenv "SPEC_ROOT" or ".") .. "/spec/support/suspension.c"

-- `env` is the same as `environment`, by name.  `options.no_timers`: the system
-- has no timers of that clock.
local function new(options)
  local self = setmetatable({ file = os.tmpname(), seconds = 0 }, Suspension)
  local ok = os.execute(("cc -O1 -shared -fPIC -o '%s.so' '%s' -ldl -lpthread")
    :format(self.file, SOURCE))
  assert(ok == true or ok == 0, "no compiler")
  self.env = { SUSPENSION = self.file, LD_PRELOAD = self.file .. ".so",
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
  local file = assert(io.open(self.file .. ".new", "w"))
  file:write(("%d000000000\n"):format(self.seconds))
  file:close()
  assert(os.rename(self.file .. ".new", self.file))
end

function Suspension:close()
  for _, suffix in ipairs { "", ".so", ".new" } do
    os.remove(self.file .. suffix)
  end
end

return { new = new }
