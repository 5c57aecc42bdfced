--- Credentials, from a file that nobody else can read: on a command line all
-- processes of the machine would see them.  No message shows what a line says.
local exit = require "zklock.cli.exit"
local load = require "zklock.cli.load"

local credentials = {}

-- What is larger is no such file.
local LARGEST = 65536

local function refuse(name, message, ...)
  exit.fail("configuration", "credentials: %s " .. message, name, ...)
end

-- Of the file that was opened, whatever its name stands for meanwhile.
local function check_access(uv, name, stat)
  if stat.type ~= "file" then refuse(name, "is no regular file") end
  local who = uv.getuid()
  if stat.uid ~= who and stat.uid ~= 0 then
    refuse(name, "belongs to user %d, who is neither we (user %d) nor root",
      stat.uid, who)
  end
  if stat.mode % 64 ~= 0 then
    refuse(name, "may be used by others (mode %03o): chmod 600 '%s'",
      stat.mode % 512, name)
  end
  if stat.size > LARGEST then refuse(name, "is larger than 64 KiB") end
end

-- Whoever opens a pipe waits for its other end, unless told not to.
local function read(uv, name)
  local flags = uv.constants.O_RDONLY + uv.constants.O_NONBLOCK
  local file, problem = uv.fs_open(name, flags, 0)
  if not file then
    refuse(name, "cannot be opened: %s", (problem:gsub(": [^:]*$", "")))
  end
  local stat, text
  stat, problem = uv.fs_fstat(file)
  if stat then
    local ok, failure = pcall(check_access, uv, name, stat)
    if not ok then
      uv.fs_close(file)
      error(failure, 0)
    end
    text, problem = uv.fs_read(file, LARGEST, 0)
  end
  uv.fs_close(file)
  if not text then refuse(name, "cannot be read: %s", problem) end
  return text
end

--- The library's option `auth`: a list of { scheme =, credential = }, one for
-- each line SCHEME:CREDENTIAL that is not empty and begins with no `#`.
function credentials.read(name)
  local list, number = {}, 0
  for line in (read(load "luv", name) .. "\n"):gmatch "(.-)\r?\n" do
    number = number + 1
    if line:find "%S" and not line:find "^%s*#" then
      local scheme, credential = line:match "^%s*(%w+):(.+)$"
      if not scheme then
        refuse(name .. ":" .. number, "is no line SCHEME:CREDENTIAL")
      elseif scheme == "digest" and not credential:find "^[^:]+:." then
        refuse(name .. ":" .. number, "is no line digest:USER:PASSWORD")
      elseif credential:find("\0", 1, true) then
        refuse(name .. ":" .. number, "has a NUL byte")
      end
      list[#list + 1] = { scheme = scheme, credential = credential }
    end
  end
  if #list == 0 then refuse(name, "has no credentials in it") end
  return list
end

return credentials
