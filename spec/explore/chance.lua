--- Chance for one story: it depends on a seed alone.
local Chance = {}
Chance.__index = Chance

local MODULUS = 2147483647

local function new(seed)
  local self = setmetatable({ state = seed % (MODULUS - 1) + 1 }, Chance)
  for _ = 1, 5 do self:below(2) end
  return self
end

--- From 0 to `n` - 1.
function Chance:below(n)
  self.state = self.state * 48271 % MODULUS
  return math.floor(self.state / MODULUS * n)
end

function Chance:between(least, most)
  return least + self:below(most - least + 1)
end
function Chance:one_in(n) return self:below(n) == 0 end
function Chance:pick(list) return list[self:below(#list) + 1] end

--- Seconds, most often few, never 0.
function Chance:seconds(most)
  local part = (self:below(1000) + 1) / 1000
  return most * part * part
end

--- Removes one item of a list, and returns it.
function Chance:take(list) return table.remove(list, self:below(#list) + 1) end

return { new = new }
