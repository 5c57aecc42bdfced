--- LuaSocket in virtual time: its clock, its sleep and its select.
local socket = require "socket"
local virtual = require "zklock.virtual"

local copy = setmetatable({ sleep = virtual.sleep, gettime = virtual.now },
  { __index = socket })

local function descriptors(objects)
  local fds = {}
  for i, object in ipairs(objects or {}) do fds[i] = object:getfd() end
  return fds
end

local function add(ready, objects, flags)
  for i, is_ready in ipairs(flags) do
    if is_ready then
      ready[#ready + 1] = objects[i]
      ready[objects[i]] = #ready
    end
  end
  return ready
end

function copy.select(readers, writers, timeout)
  if timeout and timeout < 0 then timeout = nil end
  local r, w = virtual.poll(descriptors(readers), descriptors(writers), timeout)
  r, w = add({}, readers, r), add({}, writers, w)
  return r, w, not r[1] and not w[1] and "timeout" or nil
end

return copy
