--- Reads files that the user or root owns, and that no other user can write.
local uv = require "luv"

local owned_file = {}

-- The largest size of a file that zklock reads, in bytes.
local LARGEST = 65536

--- The rule for files that other users must neither read nor write.
owned_file.secret = {
  forbids = function(mode) return mode % 64 ~= 0 end,
  says = "may be used by others (mode %03o): chmod 600 '%s'",
}

--- The rule for files that other users are allowed to read, but not to write.
owned_file.public = {
  forbids = function(mode)
    return math.floor(mode / 16) % 2 == 1 or math.floor(mode / 2) % 2 == 1
  end,
  says = "may be written by others (mode %03o): chmod go-w '%s'",
}

-- Returns what is wrong with the open file; nil if nothing is wrong. `stat`:
-- the fstat result of the open file. A new stat by name could describe another
-- file, if the file was replaced meanwhile. `access`: owned_file.secret or
-- owned_file.public.
local function find_fault(name, stat, access)
  local user = uv.getuid()
  if stat.type ~= "file" then
    return "is no regular file"
  elseif stat.uid ~= user and stat.uid ~= 0 then
    return ("belongs to user %d: zklock runs as user %d, and trusts only that "
      .. "user's files and root's (under sudo, 'sudo -H' looks for root's)")
      :format(stat.uid, user)
  elseif access.forbids(stat.mode) then
    return access.says:format(stat.mode % 512, name)
  elseif stat.size > LARGEST then
    return "is larger than 64 KiB"
  end
end

--- Returns the file's text; or nil, what is wrong, and the kind of error. The
-- kind is "none" if there is no such file, and "hidden" if permissions deny
-- access. `access`: the rule, owned_file.secret or owned_file.public.
function owned_file.read(name, access)
  -- The name can belong to a named pipe. Without O_NONBLOCK, opening it would
  -- wait until a process opens its other end.
  local flags = uv.constants.O_RDONLY + uv.constants.O_NONBLOCK
  local file, problem, code = uv.fs_open(name, flags, 0)
  if not file then
    local kinds = { ENOENT = "none", ENOTDIR = "none", EACCES = "hidden" }
    return nil, "cannot be opened: " .. problem:gsub(": [^:]*$", ""),
      kinds[code]
  end
  local stat, fault, text
  stat, fault = uv.fs_fstat(file)
  if stat then fault = find_fault(name, stat, access) end
  if not fault then
    text, fault = uv.fs_read(file, LARGEST, 0)
    if not text then fault = "cannot be read: " .. fault end
  end
  uv.fs_close(file)
  return text, fault
end

return owned_file
