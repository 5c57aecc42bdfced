--- A file that many read and one rewrites: readers together, a writer alone.
--
-- For what is read often and written in more than one step.
-- Lock: rwlock. Loop: none.
-- Run: make example NAME=rwlock
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C gives back what is held, at once

local function need(result, message) -- or the program ends, and says why
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local other = need(zklock.connect(hosts)) -- as another process would be

local name = os.tmpname()
local path = "/examples/rwlock/" .. zklock.key(name) -- a lock for each file
local ours, theirs = session:rwlock(path), other:rwlock(path)

local function write(...)
  local file = assert(io.open(name, "w"))
  for _, part in ipairs { ... } do file:write(part) file:flush() end
  file:close()
end

local function read()
  local file = assert(io.open(name))
  local text = file:read "*a"
  file:close()
  return text
end

-- A writer is alone: nobody reads half of it.
local writer = need(ours.write:acquire(5))
write("apples 1, ", "pears 1")
local _, message = theirs.read:try_acquire()
print("they may not read yet: " .. message)

-- Who has written may go on reading, without another writer in between: it takes
-- the read lock and then releases the write lock. (The other way round would
-- wait for itself, and is refused at once.)
local reader = need(ours.read:acquire(5))
writer:release()
print("we read:   " .. read())

-- Readers share it; a writer waits for all of them.
need(theirs.read:with_lock(function() print("they read: " .. read()) end,
  { timeout = 5 }))
_, message = theirs.write:acquire(2)
print("they may not write yet: " .. message)

reader:release()
os.remove(name)
other:close()
session:close()

-- Prints:
--   they may not read yet: zklock: /examples/rwlock/=…= is taken
--   we read:   apples 1, pears 1
--   they read: apples 1, pears 1
--   they may not write yet: zklock: timed out after 2 s waiting for /examples/rwlock/=…= (1 ahead of us; held by "web1:4711")
