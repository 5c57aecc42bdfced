-- What is installed takes a lock: program.lua HOSTS
local zklock = require "zklock"
local session = assert(zklock.connect(arg[1]))
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
