--- All pictures, as texts of files by their names.
local plots = require "plots"

local pictures = {}

local NAMES = { "choose", "fencing", "queue", "silence" }

--- Those that come out the same each time.
function pictures.drawn()
  local drawn = {}
  for _, name in ipairs(NAMES) do
    package.loaded[name] = nil
    drawn[name] = require(name):source()
  end
  return drawn
end

function pictures.plots(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return plots.draw(text)
end

function pictures.write(drawn, directory)
  for name, source in pairs(drawn) do
    local file = assert(io.open(("%s/%s.svg"):format(directory, name), "w"))
    assert(file:write(source))
    file:close()
  end
end

return pictures
