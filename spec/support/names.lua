--- Names whose addresses a spec decides: they end in ".example", and processes
-- that are started with `names.environment` look them up in a file of ours.
local files = require "support.files"
local preload = require "support.preload"
local support = require "support"

local Names = {}
Names.__index = Names

local function new()
  local self = setmetatable({ file = os.tmpname(), addresses = {} }, Names)
  self.environment = ("NAMES='%s' LD_PRELOAD='%s'"):format(self.file,
    preload "names")
  return support.closing(self)
end

--- `...`: addresses; nothing: there is no such name.
function Names:set(name, ...)
  self.addresses[name] = table.concat({ name, ... }, " ")
  local lines = {}
  for _, line in pairs(self.addresses) do lines[#lines + 1] = line .. "\n" end
  files.write(self.file .. ".new", table.concat(lines))
  assert(os.rename(self.file .. ".new", self.file))
end

--- The next look-up hangs until let_go(), and so do those of its process after
-- it.
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
  return select(2, files.find(self.file .. ".log"):gsub("\n", ""))
end

function Names:close()
  self:let_go()
  for _, suffix in ipairs { "", ".log", ".new" } do
    os.remove(self.file .. suffix)
  end
end

return { new = new }
