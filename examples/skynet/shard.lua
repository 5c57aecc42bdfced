--- A shard: waits for the auction's lock, and serves its players meanwhile.
local skynet = require "skynet"
local zklock = require "zklock"

local name, ticks = ..., 0

local function run_auction()
  local session = assert(zklock.connect(skynet.getenv "hosts"))
  local lock = session:mutex "/examples/skynet/auction"
  -- A task does not own what it acquires: its coroutine is used again.  The
  -- guard is the hold.
  assert(lock:with_lock({ timeout = 10 }, function(guard)
    skynet.error(("shard %s holds the auction, token %s, after %d ticks")
      :format(name, guard:token(), ticks))
    skynet.sleep(20) -- 0.2 s
  end))
  session:close()
end

skynet.start(function()
  skynet.fork(function()
    while true do
      skynet.sleep(1)
      ticks = ticks + 1
    end
  end)
  skynet.dispatch("lua", function()
    run_auction()
    skynet.ret()
    skynet.exit()
  end)
end)
