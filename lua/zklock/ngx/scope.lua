--- Scope: the waits and guards of an nginx request. They end when the request
-- ends, in any way. From then on, zklock calls no callback of the request.
local core = require "zklock.core"
local waits = require "zklock.wait"

local Scope = {}
Scope.__index = Scope

-- Makes the scope of a request.  `living[number]` refers to the scope while it
-- has waits or guards, and so keeps it alive.
function Scope.new(request, living, number)
  return setmetatable({
    request = request, -- knows whether it has ended
    living = living,
    number = number,
    -- Whether a client can end the request. A timer has no client.
    client = ngx.get_phase() ~= "timer",
    count = 0,
    waits = {},
    -- Only this table refers to the guard of a killed handler.  Otherwise the
    -- collector would take the guard, and end the hold before finish() does.
    guards = {},
  }, Scope)
end

--- Returns whether the request has ended; its callbacks must not run then.
function Scope:has_ended()
  return self.request:has_ended()
end

--- Adds a wait or a guard to `set`, which is `scope.waits` or `scope.guards`.
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

-- The request of a scope whose end nginx does not report.  ngx.ctx keeps such a
-- scope, and only zklock.ngx.cleanup() ends it.
local Untold = {}
Untold.__index = Untold
function Untold:has_ended() return self.ended end
function Untold:set_ended() self.ended = true end
function Untold.mark() end

local scopes = {
  -- Whether this Lua state serves more than one request.  It serves only one if
  -- lua_code_cache is off; a thread that went on would then keep the state
  -- alive.
  lasts = false,
  -- Whether worker_shutdown_timeout has passed: this worker must exit now.
  is_over = false,
  FOREVER = 2147483, -- seconds: the longest time nginx can wait
  -- The requests in which zklock's own threads run, by address.
  internal = {},
}

-- The process and the phase in which this file was loaded.  A Lua state that
-- was loaded before the worker's first request serves all requests.  Tests of
-- the reference load this file without nginx.
local loaded_by = core.pid()
local loaded_in = rawget(_G, "ngx") and ngx.get_phase()
local first, first_address -- the first request of this state
local leaving = setmetatable({}, { __mode = "k" })

-- Nudges the adapters when a worker begins to exit, because nginx then runs all
-- timers at once.  Also nudges them every twelve days: nginx complains of
-- sockets that have no traffic for weeks.
local function watch_exit(premature)
  for adapter in pairs(leaving) do adapter.nudge() end
  return premature or ngx.timer.at(scopes.FOREVER / 2, watch_exit)
end

--- Makes scopes call `adapter.nudge` when the worker begins to exit.
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

-- The phases of nginx in which there is no request, or it has already ended.
local without = { init = true, init_worker = true, exit_worker = true,
  log = true }

--- Returns three functions for a session.  The first returns the scope of the
-- running request, or nil.  The second returns the owner of the holds that the
-- running thread acquires.  The third ends the request's scope if nginx does
-- not report the end of requests.
function scopes.finder(engine)
  if loaded_in == "init_worker" or loaded_by ~= core.pid() then outlive() end
  local known, made = {}, 0 -- scopes by the address of the request

  -- Forgets the scopes of ended requests. nginx uses the address of an ended
  -- request again, but not at once.
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

  -- Returns the owner of the running thread's holds.  In the request's first
  -- thread, this is the scope.  Any other thread is an owner of its own, and so
  -- is code in the phase log, in which the request has just ended.
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
