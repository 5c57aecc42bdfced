--- LuaSocket in virtual time: its clock, its sleep and its select.
local socket = require "socket"
local virtual = require "zklock.virtual"

-- For a trace garbage is collected once in so many waits, the same each time.
local WAITS = os.getenv "SPEC_TRACE" and 200
local waits = 0

local function collect_at_times()
  waits = waits + 1
  if WAITS and waits % WAITS == 0 then collectgarbage() end
end

local copy = setmetatable({ gettime = virtual.now }, { __index = socket })

function copy.sleep(seconds)
  collect_at_times()
  virtual.sleep(seconds)
end

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
  collect_at_times()
  local r, w = virtual.poll(descriptors(readers), descriptors(writers), timeout)
  r, w = add({}, readers, r), add({}, writers, w)
  return r, w, not r[1] and not w[1] and "timeout" or nil
end

return copy
