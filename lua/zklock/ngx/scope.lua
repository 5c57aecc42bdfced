--- Scope: the waits and guards of an nginx request. They end when the request
-- ends, in any way. From then on, zklock calls no callback of the request.
local core = require "zklock.core"
local waits = require "zklock.wait"

local Scope = {}
Scope.__index = Scope

-- Makes the scope of a request. While the scope has waits or guards, it is
-- stored in `living[number]`, which keeps it alive.
function Scope.new(request, living, number)
  return setmetatable({
    request = request, -- knows whether it has ended
    living = living,
    number = number,
    -- Whether a client can end the request. A timer has no client.
    client = ngx.get_phase() ~= "timer",
    count = 0,
    waits = {},
    -- After a handler was killed, only this table refers to its guards. Without
    -- this table, the collector could take such a guard, and end its hold
    -- before finish() does.
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

-- Represents a request whose end nginx does not report. Its scope is in
-- ngx.ctx, and only zklock.ngx.cleanup() ends the scope.
local Untold = {}
Untold.__index = Untold
function Untold:has_ended() return self.ended end
function Untold:set_ended() self.ended = true end
function Untold.mark() end

local scopes = {
  -- Whether this Lua state serves more than one request. If lua_code_cache is
  -- off, it serves only one. A thread that runs longer than the request would
  -- then keep the state alive.
  lasts = false,
  -- Whether worker_shutdown_timeout has passed: this worker must exit now.
  is_over = false,
  FOREVER = 2147483, -- seconds: the longest time nginx can wait
  -- The requests in which zklock's own threads run, by address.
  internal = {},
}

-- The process and the nginx phase that loaded this file. They show whether it
-- was loaded before the worker's first request; then this Lua state serves all
-- requests. Otherwise it may serve only one request. Outside nginx, for example
-- in tests, the phase is nil or false.
local loaded_by = core.pid()
local loaded_in = rawget(_G, "ngx") and ngx.get_phase()
local first, first_address -- the first request of this state
local leaving = setmetatable({}, { __mode = "k" })

-- Runs in a timer of about twelve days, and nudges the adapters. When a worker
-- begins to exit, nginx runs all timers at once, so the adapters notice the
-- exit. The nudge every twelve days causes traffic: nginx logs an error for a
-- socket without traffic for weeks.
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

-- The phases of nginx in which there is no request, or the request has already
-- ended.
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

  -- Returns the owner of the running thread's holds. In the request's first
  -- thread, this is the scope. For any other thread, and for code in the phase
  -- log, returns a new owner in each call.
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
