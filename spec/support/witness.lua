--- A witness that does not know the library.  Whoever is inside has renamed
-- the file `free` to a name of its own: a second one finds no `free`.  And
-- everybody writes down when they came and went.
local Witness = {}
Witness.__index = Witness

--- The same directory makes the same witness, in any process.
local function open(directory)
  return setmetatable({ directory = directory }, Witness)
end

local function create()
  local name = os.tmpname()
  os.remove(name)
  os.execute("mkdir '" .. name .. "'")
  io.open(name .. "/free", "w"):close()
  return open(name)
end

function Witness:note(...)
  local file = assert(io.open(self.directory .. "/history", "a"))
  file:write(table.concat({ ... }, " "), "\n")
  file:close()
end

--- False: somebody else is inside.
function Witness:enter(name, token, node)
  local from, to = self.directory .. "/free", self.directory .. "/held." .. name
  if not os.rename(from, to) then
    self:note("overlap", name, token, node)
    return false
  end
  self:note("enter", name, token, node)
  return true
end

function Witness:leave(name, token, node)
  self:note("leave", name, token, node)
  return os.rename(self.directory .. "/held." .. name,
    self.directory .. "/free")
end

--- A list of `{ what=, name=, token=, node= }`.
function Witness:history()
  local list = {}
  for line in io.lines(self.directory .. "/history") do
    local what, name, token, node = line:match("^(%S+) (%S+) (%S+) (%S+)$")
    assert(what, "a line of the history is broken: " .. line)
    list[#list + 1] = { what = what, name = name, token = token, node = node }
  end
  return list
end

function Witness:remove()
  os.execute("rm -rf '" .. self.directory .. "'")
end

return { open = open, create = create }
