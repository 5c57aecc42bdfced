--- A machine whose time of day is wrong: processes that are started with its
-- `environment` see it `ahead` of the right one.
local Clock = {}
Clock.__index = Clock

local SOURCE = (os.getenv "SPEC_ROOT" or ".") .. "/spec/support/clock.c"

local function new()
  local self = setmetatable({ file = os.tmpname() }, Clock)
  local ok = os.execute(("cc -O1 -shared -fPIC -o '%s.so' '%s' -ldl"):format(
    self.file, SOURCE))
  assert(ok == true or ok == 0, "no compiler")
  self.environment = ("CLOCK_AHEAD='%s' LD_PRELOAD='%s.so'"):format(self.file,
    self.file)
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

function Clock:close()
  os.remove(self.file)
  os.remove(self.file .. ".so")
end

return { new = new }
