--- Every lock at a path and below.
local plain = require "zklock.plain"

local none = {}

-- A semaphore keeps its contenders in two directories of its own, each of which
-- vanishes when it is empty.  A path may also be called like one of them; who
-- stands in `leases` as a permit is a semaphore's, who stands in `locks` may be
-- a mutex's.
local parts = { ["locks/"] = "locks", ["leases/"] = "leases" }

-- Those of the path itself; `names` of children that are no paths of their own.
local function sort(contenders, names)
  local own, taken = {}, {}
  taken.locks = names.leases
  for _, row in ipairs(contenders) do
    local part = parts[row.node:match "^%l+/" or ""]
    if part == "leases" then taken.leases = true end
    if not part or taken[part] then own[#own + 1] = row end
    if not part then taken[row.node] = true end
  end
  return own, taken
end

local function join(path, name)
  return (path == "/" and "" or path) .. "/" .. name
end

--- `each(path, contenders)` for each lock, the upper ones first, in the order
-- of their names; `refused(path, message, code)` for what cannot be asked.
return function(session, top, each, refused)
  local function visit(path)
    local children, message, code = session:children(path)
    if not children then
      return refused(plain.show(path, none), message, code)
    elseif #children == 0 then
      return
    end
    local names = {}
    for _, name in ipairs(children) do names[name] = true end
    local contenders = {} -- there is no lock at the root
    if path ~= "/" then
      contenders, message, code = session:contenders(path)
    end
    if not contenders then
      return refused(plain.show(path, none), message, code)
    end
    local own, taken = sort(contenders, names)
    if #own > 0 then each(path, own) end
    for _, name in ipairs(children) do
      if not taken[name] then visit(join(path, name)) end
    end
  end
  visit(top)
end
