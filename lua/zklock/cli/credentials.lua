--- Reads credentials from a file that other users must not read. There is no
-- option for credentials, because all processes of the machine can see a
-- command line. If a line is wrong, the message has its number, but not its
-- text.
local exit = require "zklock.cli.exit"
local owned_file = require "zklock.cli.owned_file"

local credentials = {}

local function refuse(name, message, ...)
  exit.fail("configuration", "credentials: %s " .. message, name, ...)
end

--- Returns the library's option `auth`: a list of { scheme =, credential = },
-- one for each line SCHEME:CREDENTIAL. Ignores empty lines and lines that begin
-- with `#`.
function credentials.read(name)
  local text, fault = owned_file.read(name, owned_file.secret)
  if not text then refuse(name, "%s", fault) end
  local list, number = {}, 0
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
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
