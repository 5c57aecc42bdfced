-- What is installed takes a lock: program.lua HOSTS [CERTIFICATES]. With
-- CERTIFICATES, a directory of spec/support/certificates, it speaks TLS.
local zklock = require "zklock"
local from = arg[2]
local session = assert(zklock.connect(arg[1], from and { tls = {
  ca = from .. "/ca.pem", cert = from .. "/client.crt",
  key = from .. "/client.key" }, connect_timeout = 60 } or nil))
local mutex = session:mutex "/packaging"
local last = ""
for _ = 1, 3 do
  local ok, token = assert(mutex:with_lock({ timeout = 10 }, function(guard)
    assert(guard:is_held() and guard:verify())
    return guard:token()
  end))
  assert(ok and token > last)
  last = token
end
session:close()
