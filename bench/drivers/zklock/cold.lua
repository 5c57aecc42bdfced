-- A process that begins with nothing: `lua cold.lua HOSTS PATH` prints when it
-- held the lock, by the machine's clock, and how long it then took to close.
local zklock = require "zklock"

local session = assert(zklock.connect(arg[1], { session_timeout = 60 }))
local guard = assert(session:mutex(arg[2]):acquire())
local held = zklock.now()
guard:release()
session:close()
print(("%.6f %.6f"):format(held, zklock.now() - held))
