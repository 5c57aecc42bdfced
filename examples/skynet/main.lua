--- skynet: three shards of a game want the same auction.  See `config`.
local skynet = require "skynet"
require "skynet.manager" -- for abort

skynet.start(function()
  local shards = {}
  for i = 1, 3 do shards[i] = skynet.newservice("shard", i) end
  for _, shard in ipairs(shards) do skynet.call(shard, "lua") end
  skynet.error "all shards are done"
  skynet.sleep(10) -- for the log
  skynet.abort()
end)
