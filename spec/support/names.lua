--- Names whose addresses a spec decides: they end in ".example", and processes
-- that are started with `names.environment` look them up in a file of ours.
local support = require "support"

local Names = {}
Names.__index = Names

local SOURCE = (os.getenv "SPEC_ROOT" or ".") .. "/spec/support/names.c"

local function new()
  local self = setmetatable({ file = os.tmpname(), addresses = {} }, Names)
  local ok = os.execute(("cc -shared -fPIC -o '%s.so' '%s' -ldl -lpthread")
    :format(self.file, SOURCE))
  assert(ok == true or ok == 0, "no compiler")
  self.environment = ("NAMES='%s' LD_PRELOAD='%s.so'"):format(self.file,
    self.file)
  return support.closing(self)
end

--- `...`: addresses; or "hang", until it is set to something else; "again", for
-- an answer that does not come for now; nothing: there is no such name.
function Names:set(name, ...)
  self.addresses[name] = table.concat({ name, ... }, " ")
  local file = assert(io.open(self.file .. ".new", "w"))
  for _, line in pairs(self.addresses) do file:write(line, "\n") end
  file:close()
  assert(os.rename(self.file .. ".new", self.file))
end

--- The next look-up hangs until let_go(), and only that.
function Names:hold() assert(io.open(self.file .. ".hold", "w")):close() end
function Names:let_go()
  os.remove(self.file .. ".hold")
  os.remove(self.file .. ".held")
end
function Names:await_held()
  support.wait_until(function()
    return io.open(self.file .. ".held")
  end, 10, "a look-up"):close()
end

--- How often names were looked up.
function Names:count()
  local n = 0
  local file = io.open(self.file .. ".log")
  if not file then return 0 end
  for _ in file:lines() do n = n + 1 end
  file:close()
  return n
end

function Names:close()
  self:let_go()
  for _, suffix in ipairs { "", ".so", ".log", ".new" } do
    os.remove(self.file .. suffix)
  end
end

return { new = new }
