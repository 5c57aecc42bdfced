--- A file with many readers and few writers: readers together, a writer alone.
--
-- For data that are read often and written in several steps.
-- Lock: rwlock. Loop: none.
-- Run: make example NAME=rwlock
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local other = need(zklock.connect(hosts)) -- plays another process

local name = os.tmpname()
local path = "/examples/rwlock/" .. zklock.escape(name) -- one lock per file
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

-- A writer is alone: no reader sees half of a write.
local writer = need(ours.write:acquire(30))
write("apples 1, ", "pears 1")
local _, message = theirs.read:try_acquire()
print("they may not read yet: " .. message)

-- A writer can become a reader without another writer in between: it acquires
-- the read lock and then releases the write lock. (A reader that asks for the
-- write lock would wait for itself, and gets `deadlock` at once.)
local reader = need(ours.read:acquire(30))
writer:release()
print("we read:   " .. read())

-- Readers share the lock; a writer waits for all of them.
need(theirs.read:with_lock({ timeout = 30 },
  function() print("they read: " .. read()) end))
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
--   they may not write yet: zklock: timed out after 2 s waiting for /examples/rwlock/=…= (1 ahead; held by "web1:4711")
