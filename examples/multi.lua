--- A transfer between two accounts: both locks, or none of them.
--
-- For work that needs several locks, without deadlocks.
-- Lock: multi, of mutexes. Loop: none.
-- Run: make example NAME=multi
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local balance = { ann = 100, bob = 0 } -- plays a database

local function lock_of(account, of)
  return (of or session):mutex("/examples/multi/" .. zklock.escape(account))
end

-- zklock acquires the locks in one order, whatever order you pass. So a
-- concurrent transfer from bob to ann cannot deadlock with this one. The
-- timeout is for both.
local function transfer(from, to, amount)
  local both = session:multi { lock_of(from), lock_of(to) }
  local ok, message = both:with_lock({ timeout = 2 }, function()
    if balance[from] < amount then return from .. " has not so much" end
    balance[from] = balance[from] - amount
    balance[to] = balance[to] + amount
    return "done"
  end)
  print(("%s to %s, %d: %s"):format(from, to, amount, message))
  return ok
end

transfer("ann", "bob", 70)
transfer("bob", "ann", 20)
transfer("ann", "bob", 80)

-- Another process holds bob's account: then zklock releases ann's, too.
local other = need(zklock.connect(hosts)) -- plays another process
local guard = need(lock_of("bob", other):acquire(30))
transfer("ann", "bob", 10)
guard:release()
transfer("ann", "bob", 10)
print(("ann has %d, bob has %d"):format(balance.ann, balance.bob))

other:close()
session:close()

-- Prints:
--   ann to bob, 70: done
--   bob to ann, 20: done
--   ann to bob, 80: ann has not so much
--   ann to bob, 10: zklock: timed out after 2 s waiting for /examples/multi/=bob= (1 ahead; held by "web1:4711")
--   ann to bob, 10: done
--   ann has 40, bob has 60
