--- Scope: the waits and guards of an nginx request. They end when the request
-- ends, in any way. From then on, zklock calls no callback of the request.
local core = require "zklock.core"
local waits = require "zklock.wait"

local Scope = {}
Scope.__index = Scope

--- Returns whether the request has ended; its callbacks must not run then.
function Scope:has_ended()
  return self.ended or self.request and self.request:has_ended()
end

--- Ends the request's waits and holds, after the request's end.
function Scope:finish()
  for wait in pairs(self.waits) do waits.abandon(wait) end
  for guard in pairs(self.guards) do guard:release() end
  local scopes = self.scopes
  scopes[self.number] = nil
  -- nginx can already have used the address for another request.
  if scopes[self.address] == self then scopes[self.address] = nil end
end

local scopes = {
  -- Whether worker_shutdown_timeout has passed: this worker must exit now.
  is_over = false,
  has_timers = false, -- this worker has started a timer
  FOREVER = 2147483, -- seconds: the longest time nginx can wait
  -- The requests in which zklock's own threads run, by address.
  internal = {},
}

local loaded_by = core.pid()

--- Returns whether this Lua state serves all requests of the worker. If
-- lua_code_cache is off, each request has its own state, and a thread that runs
-- longer than the request would keep this state alive. A state that serves all
-- requests has loaded zklock in the master process, or before any other state.
function scopes.lasts()
  return core.is_first or loaded_by ~= core.pid()
end

local leaving = setmetatable({}, { __mode = "k" }) -- adapters

-- Runs in a timer. When a worker begins to exit, nginx runs all timers at once.
local function watch_exit(premature)
  for adapter in pairs(leaving) do adapter.nudge() end
  return premature or ngx.timer.at(scopes.FOREVER, watch_exit)
end

--- Calls `adapter.nudge` when the worker begins to exit.
function scopes.at_exit(adapter)
  leaving[adapter] = true
  scopes.has_timers = scopes.has_timers or scopes.lasts() and watch_exit()
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
  -- The scopes of requests whose end the core will report, by the request's
  -- number in this report, and by its address. (Numbers and addresses have
  -- different types.)
  local known = engine.scopes

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
    if not request and ngx.ctx[known] then return ngx.ctx[known] end
    scope = setmetatable({ scopes = known,
      request = request, number = number or false, address = address or false,
      -- Whether a client can end the request. A timer has no client.
      client = ngx.get_phase() ~= "timer",
      waits = {},
      -- After a handler was killed, only this table refers to its guards.
      -- Without it, the collector could take such a guard, and end its hold
      -- before finish() does.
      guards = {} }, Scope)
    if request then
      known[number], known[address] = scope, scope
    else
      ngx.ctx[known] = scope
    end
    return scope
  end

  -- Returns the owner of the running thread's holds. In the request's first
  -- thread, this is the scope, even in the phase log. For any other thread,
  -- returns a new owner in each call.
  local function owner()
    local scope, address, is_entry = find(), core.running()
    return is_entry and (scope or known[address]) or {}
  end

  local function cleanup()
    local scope = ngx.ctx[known]
    if not scope then return end
    scope.ended = true
    scope:finish()
  end

  return find, owner, cleanup
end

return scopes
