--- LuaSocket and copas, changed to use the virtual clock.
local virtual = require "zklock.testing.core"

local clock = require "zklock.testing.clock"
local errors = require "zklock.errors"
local loops = require "zklock.testing.loops"

local socket = {}

local function descriptors(objects)
  local fds = {}
  for i, object in ipairs(objects or {}) do fds[i] = object:getfd() end
  return fds
end

-- Returns whether the object has buffered data, which can be read without
-- waiting for its descriptor. Calls the object's method `dirty`, if it has one.
local function is_dirty(object)
  return object.dirty ~= nil and object:dirty() == true
end

local function any_dirty(objects)
  for _, object in ipairs(objects or {}) do
    if is_dirty(object) then return true end
  end
  return false
end

local function add_ready(list, objects, flags, reads)
  for i, is_ready in ipairs(flags) do
    if is_ready or reads and is_dirty(objects[i]) then
      list[#list + 1] = objects[i]
      list[objects[i]] = #list
    end
  end
end

local function select_until(deadline, readers, writers)
  local r, w = {}, {}
  local read, write = descriptors(readers), descriptors(writers)
  repeat
    if any_dirty(readers) then deadline = virtual.now() end
    local left = deadline and math.max(0, deadline - virtual.now())
    local can_read, can_write = virtual.poll(read, write,
      clock.until_timer(left))
    clock.run_timers()
    add_ready(r, readers, can_read, true)
    add_ready(w, writers, can_write)
  until r[1] or w[1] or deadline and virtual.now() >= deadline
  return r, w, not r[1] and not w[1] and "timeout" or nil
end

local function select_sockets(readers, writers, timeout)
  if timeout and timeout < 0 then timeout = nil end
  return select_until(timeout and virtual.now() + timeout, readers, writers)
end

local copy -- the copy of LuaSocket's module

--- Returns a copy of LuaSocket's module whose gettime, sleep and select use
-- this clock.
function socket.module()
  if copy then return copy end
  local ok, real = pcall(require, "socket")
  if not ok then
    errors.misuse("testing.socket needs LuaSocket: %s",
      tostring(real):match "[^\n]*")
  end
  copy = setmetatable({ gettime = clock.time, sleep = clock.sleep,
    select = select_sockets }, { __index = real })
  return copy
end

--- Loads copas with the copy of LuaSocket that uses this clock, and returns
-- copas. Must be called before copas is loaded.
function socket.copas()
  if loops.copas and package.loaded.copas == loops.copas then
    return loops.copas
  end
  if package.loaded.copas then
    errors.misuse("copas is loaded already, with the system's clock: call "
      .. "testing.copas() before the first require \"copas\"")
  end
  local before = package.loaded.socket
  package.loaded.socket = socket.module()
  local ok, copas = pcall(require, "copas")
  package.loaded.socket = before
  if not ok then
    errors.misuse("testing.copas needs copas: %s",
      tostring(copas):match "[^\n]*")
  end
  loops.copas = copas
  return copas
end

return socket
