--- Certificates made on the spot, by spec/support/certificates.
local shell = require "support.shell"

local must = shell.must

local certificates = {}
certificates.__index = certificates

local SCRIPT = "sh '" .. (os.getenv "SPEC_ROOT" or ".")
  .. "/spec/support/certificates' "

--- Makes an authority in a new directory, `dir`.
function certificates.new(subject)
  local dir = os.tmpname()
  os.remove(dir)
  must(("%s ca '%s' '%s'"):format(SCRIPT, dir, subject or ""))
  return setmetatable({ dir = dir }, certificates)
end

--- Adds a certificate, or replaces it; `names`, `from`, `to`: as the script
-- takes them.
function certificates:add(name, names, from, to)
  must(("%s add '%s' '%s' '%s' '%s' '%s'"):format(SCRIPT, self.dir, name,
    names or "", from or "", to or ""))
  return self
end

function certificates:file(name) return self.dir .. "/" .. name end

--- Returns the option `tls` with this authority, and the certificate of a
-- client if `name` is given.
function certificates:tls(name)
  return {
    ca = self:file "ca.pem",
    cert = name and self:file(name .. ".crt"),
    key = name and self:file(name .. ".key"),
  }
end

--- Returns what `zookeeper start` takes for servers with a port for TLS, whose
-- certificates are those of `name`; `more`: further settings.
function certificates:flags(name, more)
  return ("--config serverCnxnFactory="
    .. "org.apache.zookeeper.server.NettyServerCnxnFactory "
    .. "secureClientPortAddress=127.0.0.1 'secureClientPort={port}' "
    .. "'ssl.keyStore.location=%s' 'ssl.trustStore.location=%s' %s"):format(
    self:file(name .. ".pem"), self:file "ca.pem",
    more or "ssl.clientAuth=need")
end

function certificates:close() must(("rm -r '%s'"):format(self.dir)) end

return certificates
