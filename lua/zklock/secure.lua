--- Secure: loads the module for TLS, zklock.tls.
local core = require "zklock.core"

local secure = {}

-- Converts the text of an error of `require` to a message for users.
local function explain(text)
  if text:find "module 'zklock.tls' not found" then
    return "the module zklock.tls is not installed: install the rock "
      .. "zklock-tls or the package lua-zklock-tls, or build zklock where the "
      .. "headers of OpenSSL 3 (libssl-dev) are installed"
  end
  local library = text:match "(lib[cs][%w]*%.[%w.]+): cannot open shared object"
  if library then
    return ("%s is not there: install libssl3"):format(library)
  end
  return (text:gsub("\n.*", ""))
end

--- Returns the module; or nil and why this installation does not support TLS.
function secure.load()
  if not core.has_streams() then
    return nil, "zklock cannot take the client library's socket here"
  end
  local loaded, module = pcall(require, "zklock.tls")
  if loaded then return module end
  return nil, explain(tostring(module))
end

return secure
