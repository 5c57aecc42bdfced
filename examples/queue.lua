--- The holder of a lock, since when, and its waiters.
--
-- For status pages and logs. In the shell: zklock ls PATH
-- Lock: mutex, or any other. Loop: your own.
-- Run: make example NAME=queue
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
-- The data of a node are for people: the holder, and its purpose.
local mutex = session:mutex("/examples/queue", { data = "nightly backup" })
local guard = need(mutex:acquire(30))

-- Two other waiters, which play other processes.
local other = need(zklock.connect(hosts))
local theirs = other:mutex "/examples/queue"
for _, who in ipairs { "deploy by ann", "deploy by bob" } do
  theirs:acquire_async({ data = who, owner = who }, function() end)
end

local queue
repeat -- until both are in the queue
  io.popen("sleep 0.01"):close()
  queue = need(session:contenders "/examples/queue")
until #queue >= 3

for i, row in ipairs(queue) do
  print(("%d. %s %s %-14s token %s"):format(i,
    row.holds and "holds" or "waits", row.node, row.data, row.token))
end
print("it was made by session " .. queue[1].session)

theirs:cancel() -- both waits
guard:release()
other:close()
session:close()

-- Prints:
--   1. holds 2Zd9u1-lock-0000000000 nightly backup token 0000000000000000042
--   2. waits 2Zd9u1-lock-0000000001 deploy by ann  token 0000000000000000043
--   3. waits 2Zd9u1-lock-0000000002 deploy by bob  token 0000000000000000044
--   it was made by session 0x10000baabe5007a
