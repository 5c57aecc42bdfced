--- Walk: visits all locks at a path and below it.
local core = require "zklock.core"
local once = require "zklock.cli.once"
local plain = require "zklock.plain"
local rows = require "zklock.cli.rows"

-- A semaphore keeps its contenders in two directories below its path, `leases`
-- and `locks`. Servers delete each directory when it is empty, so either can be
-- missing. A directory of this name can also be the path of another lock. A
-- permit in `leases` always belongs to a semaphore. A node in `locks` can
-- belong to a mutex whose path ends with /locks.
local parts = { ["locks/"] = "locks", ["leases/"] = "leases" }

-- Returns the contenders of the path itself. Also returns the set of its
-- children that are not the paths of other locks. `names`: the set of all
-- children of the path.
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

-- Returns the names of the nodes below a path. Returns nil, message, code if
-- the path is invalid or its nodes cannot be listed.
local function children_of(session, path)
  local fault = path ~= "/" and core.check_path(path)
  if fault then return nil, "its path " .. fault, "invalid" end
  return session:children(path)
end

--- Calls `each(path, contenders)` for each lock: parents before their children,
-- and children in the order of their names. If a path cannot be read, calls
-- `refused(path, message, code)`. Then it still visits the nodes below that
-- path if they can be listed.
return function(session, top, each, refused)
  local function visit(path)
    local children, message, code = children_of(session, path)
    if not children then return refused(plain.text(path), message, code) end
    if #children == 0 then
      local note = once.last(session, path:match "^(/.+)%.once$" or "")
      return note and each(note.path, { note })
    end
    local names = {}
    for _, name in ipairs(children) do names[name] = true end
    local contenders = {} -- there is no lock at the root
    if path ~= "/" then
      contenders, message, code = session:contenders(path)
    end
    if not contenders then refused(plain.text(path), message, code) end
    local own, taken = sort(contenders or {}, names)
    if #own > 0 then each(path, rows.number(path, own)) end
    for _, name in ipairs(children) do
      if not taken[name] then visit(join(path, name)) end
    end
  end
  visit(top)
end
