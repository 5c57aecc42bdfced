--- Libraries that processes are started with, by LD_PRELOAD: one stands in each
-- of some C files beside this one, and is compiled when that is newer.
local lfs = require "lfs"
local must = require "support.shell".must

local root = os.getenv "SPEC_ROOT" or "."

local function age(file) return lfs.attributes(file, "modification") or 0 end

--- The path of what `name`.c becomes.
return function(name)
  local source = ("%s/spec/support/%s.c"):format(root, name)
  local library = ("%s/build/%s.so"):format(root, name)
  if age(library) <= age(source) then
    must(("cc -O1 -shared -fPIC -o '%s'.$$ '%s' -ldl -lpthread && "
      .. "mv '%s'.$$ '%s'"):format(library, source, library, library))
  end
  return library
end
