--- Scope: what ends with a request of nginx, in whatever way it ends: its
-- waits, its guards and the callbacks that it gave.
local core = require "zklock.core"
local waits = require "zklock.wait"

local Scope = {}
Scope.__index = Scope

-- `living[number]` is where a scope is kept while something ends with it.
function Scope.new(request, living, number)
  return setmetatable({
    request = request, -- tells its end
    living = living,
    number = number,
    -- Does it end with a client?  A timer's request does not.
    client = ngx.get_phase() ~= "timer",
    count = 0,
    waits = {},
    -- The scope alone refers to the guard of a killed handler: without it the
    -- collector would end the hold before finish() does.
    guards = {},
  }, Scope)
end

--- Has the request ended?  What it gave as a callback must not be called then.
function Scope:has_ended()
  return self.request:has_ended()
end

--- `set` is `scope.waits` or `scope.guards`.
function Scope:add(set, thing)
  set[thing] = true
  self.count = self.count + 1
  if self.count == 1 then
    self.living[self.number] = self
    self.request:mark(true)
  end
end

function Scope:remove(set, thing)
  if not set[thing] then return end
  set[thing] = nil
  self.count = self.count - 1
  if self.count == 0 then
    self.living[self.number] = nil
    self.request:mark(false)
  end
end

function Scope:finish()
  for wait in pairs(self.waits) do waits.abandon(wait) end
  for guard in pairs(self.guards) do guard:release() end
  self.living[self.number] = nil
end

-- Where nginx cannot tell the end of a request the scope is kept in ngx.ctx.
-- Then zklock.ngx.cleanup() tells it, or nobody does.
local Untold = {}
Untold.__index = Untold
function Untold:has_ended() return self.ended end
function Untold:set_ended() self.ended = true end
function Untold.mark() end

local scopes = {
  -- Does this Lua state serve more than one request?  With lua_code_cache off
  -- it does not, and whatever is left running in it would keep it for ever.
  lasts = false,
  -- Has nginx given up waiting for this worker (worker_shutdown_timeout)?
  is_over = false,
  FOREVER = 2147483, -- seconds: the longest time for nginx
  -- By their addresses, the requests that adapters have of their own.
  internal = {},
}

-- What was loaded before the worker's first request serves all of them.
-- (The reference's tests load this without nginx.)
local loaded_by = core.pid()
local loaded_in = rawget(_G, "ngx") and ngx.get_phase()
local first, first_address -- the request that this state has served first
local leaving = setmetatable({}, { __mode = "k" })

-- nginx runs its timers at once when a worker is to exit gracefully.  A nudge
-- now and then, too, or it would complain of sockets that are silent for weeks.
local function watch_exit(premature)
  for adapter in pairs(leaving) do adapter.nudge() end
  return premature or ngx.timer.at(scopes.FOREVER / 2, watch_exit)
end

--- `adapter.nudge` is to be called when the worker begins to exit.
function scopes.at_exit(adapter)
  leaving[adapter] = true
end

local function outlive()
  if scopes.lasts or not watch_exit() then return end
  scopes.lasts, first = true, nil
end

local function note(request, address)
  if scopes.lasts or ngx.get_phase() == "timer" then return end
  if not first then
    first, first_address = request, address
  elseif address ~= first_address or first:has_ended() then
    outlive()
  end
end

-- In these phases there is no request, or it has ended.
local without = { init = true, init_worker = true, exit_worker = true,
  log = true }

--- For one session, three functions.  The first returns the running request's
-- scope, if there is one; the second, who owns what it acquires; the third ends
-- the scope where nginx cannot tell.
function scopes.finder(engine)
  if loaded_in == "init_worker" or loaded_by ~= core.pid() then outlive() end
  local known, made = {}, 0 -- by the address of the request

  -- nginx reuses addresses, but not at once.
  local function forget_ended()
    for address, scope in pairs(known) do
      if scope:has_ended() then known[address] = nil end
    end
  end

  local function untold()
    outlive()
    local ctx = ngx.ctx
    ctx[known] = ctx[known] or Scope.new(setmetatable({}, Untold), {}, 1)
    return ctx[known]
  end

  local function find()
    local address = core.running()
    if without[ngx.get_phase()] or address and scopes.internal[address] then
      return nil
    end
    local scope = address and known[address]
    if scope and not scope:has_ended() then return scope end
    local request, number
    if ngx.config.subsystem == "http" then
      request, number = engine.core:request()
    end
    if not request then return untold() end
    note(request, address)
    scope = Scope.new(request, engine.scopes, number)
    known[address] = scope
    made = made + 1
    if made % 1000 == 0 then forget_ended() end
    return scope
  end

  -- A thread that is not the request's first is an owner of its own.  In the
  -- phase log the request has ended a moment ago.
  local function owner()
    find()
    local address, is_entry = core.running()
    return is_entry and known[address] or {}
  end

  local function cleanup()
    local scope = ngx.ctx[known]
    if not scope then return end
    scope.request:set_ended()
    scope:finish()
  end

  return find, owner, cleanup
end

return scopes
