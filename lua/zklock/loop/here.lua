--- Here: finds out which event loop runs the calling code. Each function checks
-- one loop. It loads no module: a loop whose module is not loaded does not run.
-- The function returns:
--
--   "task"      its adapter can suspend the caller
--   "nested"    the caller is a coroutine inside a task: it can be suspended
--               only if the code that resumes it passes on the loop's yields
--   "callback"  the loop runs, but the caller cannot be suspended
--   nil         the loop does not run
local here = {}

local function in_coroutine()
  local running, is_main = coroutine.running()
  return running ~= nil and not is_main
end

-- The phases of nginx in which a handler can be suspended.
local suspendable = {}
for phase in ([[rewrite server_rewrite access content timer ssl_cert
    ssl_session_fetch ssl_client_hello]]):gmatch "%S+" do
  suspendable[phase] = true
end

function here.ngx()
  local ngx = rawget(_G, "ngx")
  if type(ngx) ~= "table" or not ngx.get_phase then return nil end
  return suspendable[ngx.get_phase()] and "task" or "callback"
end

function here.skynet()
  return package.loaded["skynet.core"] and "task" or nil
end

function here.cqueues()
  local cqueues = package.loaded.cqueues
  if not cqueues then return nil end
  local controller, is_task = cqueues.running()
  if not controller then return nil end
  return is_task and "task" or "nested"
end

function here.copas()
  local copas = package.loaded.copas
  if not copas or not copas.running then return nil end
  return in_coroutine() and "task" or "callback"
end

-- Any coroutine can wait for luv's loop, even before the loop runs, because luv
-- does not know coroutines. luv's callbacks run outside of coroutines.
function here.luv()
  local uv = package.loaded.luv or package.loaded.uv
  if not uv then return nil end
  if in_coroutine() then return "task" end
  return uv.loop_mode and uv.loop_mode() and "callback" or nil
end

--- The names of the loops in the order of the checks. The most specific loop
-- comes first. luv comes last, because it takes any coroutine for its task.
here.names = { "ngx", "skynet", "cqueues", "copas", "luv" }

return here
