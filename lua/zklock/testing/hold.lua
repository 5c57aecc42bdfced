--- Hold: a lock that another client holds or waits for. That client is another
-- session of zklock, which the hold contains.
local check = require "zklock.check"
local errors = require "zklock.errors"
local schema = require "zklock.schema"

local Hold = {}
Hold.__index = Hold

local holds = { class = Hold }

local function permits(value, title, read)
  if (value == nil) == (read.kind == "permit") then
    errors.misuse("%s goes with option 'kind' = \"permit\", and only with it",
      title)
  end
  return value
end

-- The methods of the lock check `data`, `layout`, `fair` and the number of
-- permits.
holds.options = schema.new("options of another client's hold", {
  { "kind", check.one_of "mutex read write permit", "mutex" },
  { "permits", permits, always = true },
  { "seconds", check.duration },
  { "data" },
  { "layout" },
  { "fair" },
})

local function lock_of(session, path, options)
  local of_lock = { layout = options.layout, fair = options.fair }
  if options.kind == "mutex" then return session:mutex(path, of_lock) end
  if options.kind == "permit" then
    return session:semaphore(path, options.permits, of_lock)
  end
  return session:rwlock(path, of_lock)[options.kind]
end

--- Returns a Hold for one more client, which uses `session` and does not hold
-- the lock yet. Releasing the Hold closes the session.
function holds.new(session, path, options)
  local lock = lock_of(session, path, options)
  return setmetatable({ path = path, _session = session, _lock = lock,
    _options = { data = options.data, max_hold = options.seconds },
    _guard = false, _ticket = false }, Hold)
end

--- Acquires the lock if it is free: returns true; or nil, message, code.
function holds.take(self)
  local guard, message, code = self._lock:try_acquire(self._options)
  if not guard then return nil, message, code end
  self._guard = guard
  return true
end

--- Begins to wait for the lock, without suspending the caller.
function holds.queue(self)
  self._ticket = self._lock:acquire_async(self._options, function(guard)
    self._guard = guard or false
  end)
end

--- Returns whether the client of this hold holds the lock.
function Hold:is_held()
  if self._session:state() ~= "closed" then self._session:step() end
  return self._guard and self._guard:is_held() or false
end

--- Releases the other client's lock or ends its wait, and closes its session.
function Hold:release()
  if self._session:state() == "closed" then return true end
  if self._guard then self._guard:release { wait = true } end
  self._session:close()
  return true
end

function Hold:__tostring()
  return errors.describe("another client's %s of %s",
    self._guard and "hold" or "wait", self.path)
end

check.methods(Hold, [[
  hold:is_held()
  hold:release()
]])

return holds
