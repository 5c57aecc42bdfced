--- A lock for each user or object, with untrusted names.
--
-- For servers: no user can block another user's lock by a crafted name.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=per_user
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
-- escape() turns any text into one path component, a different one for each text.
local function lock_of(user)
  return session:mutex("/examples/per_user/user-" .. zklock.escape(user))
end

-- The fourth name is crafted: without escape(), this user would be in ann's queue.
local users = { "ann", "José", "../root", "ann/x-lock-0000000000", "" }
for _, user in ipairs(users) do
  need(lock_of(user):with_lock({ timeout = 30 }, function(guard)
    print(('"%s" has %s'):format(user, guard.path))
  end))
end

-- Each user has a separate lock; and unescape() returns the text again.
need(lock_of("ann"):with_lock({ timeout = 30 }, function()
  need(lock_of("bob"):with_lock({ timeout = 30 }, function(guard)
    local name = zklock.unescape(guard.path:match "user%-(.*)$")
    print("beside ann's we have that of " .. name)
  end))
end))

session:close()

-- Prints:
--   "ann" has /examples/per_user/user-=ann=
--   "José" has /examples/per_user/user-=Jos%C3%A9=
--   "../root" has /examples/per_user/user-=..%2Froot=
--   "ann/x-lock-0000000000" has /examples/per_user/user-=ann%2Fx%2Dlock%2D0000000000=
--   "" has /examples/per_user/user-==
--   beside ann's we have that of bob
