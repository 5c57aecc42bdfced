--- What tasks do that is more than to take one lock: jobs that are done once in
-- a period, elections that run, crowds that take local turns.
local virtual = require "zklock.virtual"

local jobs = {}

--- Can functions that zklock calls wait?  (Not on Lua 5.1 and LuaJIT.)
jobs.can_yield = _VERSION ~= "Lua 5.1"

-- ---- Once -------------------------------------------------------------------

local PERIOD = 6 -- seconds

-- What is known of the successes at a path.  A job whose guard was lost before
-- its end was no success; one whose outcome is not known may be one.
local function check_due(task, resource, begun)
  local success = resource.success
  if success and success.from > begun - PERIOD + 1 and success.to <= begun then
    task.story.violate("%s runs the job of %s, which was done %.3f s before",
      task.name, resource.path, begun - success.to)
  end
end

local function check_done(task, resource)
  local now = virtual.now()
  for _, run in ipairs(resource.runs) do
    local is_recent = (run.to or now) > now - PERIOD - 60
    if run.from < now and is_recent and not run.failed then return end
  end
  task.story.violate("%s: the job of %s is not due, and nobody has done it",
    task.name, resource.path)
end

--- session:once.
function jobs.once(task, resource)
  local chance, session = task.chance, task.slot.session
  local run, hold
  task:locks(resource)
  resource.runs = resource.runs or {}
  local timeout = chance:seconds(task.slot.loop and 1.5 or 4)
  local entry = task.ledger:begin(task.name .. ": once", timeout + 30)
  local ran, why, code = session:once(resource.path,
    { per = PERIOD, timeout = timeout }, function(guard)
      run = { from = virtual.now() }
      table.insert(resource.runs, run)
      hold = task:granted(guard, resource, 1)
      check_due(task, resource, run.from)
      if chance:one_in(3) then task:pause(6) else task:pause(1) end
      local fails = chance:one_in(5)
      run.failed = fails or not guard:is_held()
      task.witness:ending(hold)
      run.to = virtual.now()
      return not fails
    end)
  task:note("once: %s, %s", tostring(ran), tostring(code or why))
  task.ledger:finish(entry, ran == nil and code or "true")
  if ran and run and not run.failed then
    resource.success = { from = run.from, to = virtual.now() }
  elseif ran == false then
    check_done(task, resource)
  end
end

-- ---- Elections --------------------------------------------------------------

--- election:run, until another task stops it.
function jobs.run(task, resource)
  local chance, election = task.chance, task:locks(resource)[1]
  local patience, is_running = chance:seconds(6), true
  task.scheduler:spawn(function()
    task.scheduler:await(function() return not is_running end, patience)
    if is_running and task:is_usable(task.session) and chance:one_in(4) then
      election:cancel()
    elseif is_running then
      election:stop()
    end
    task.scheduler:await(function() return not is_running end, 1)
    if is_running and task:is_usable(task.session) then election:stop() end
  end)
  local entry = task.ledger:begin(task.name .. ": run", 30)
  local ok, _, code = election:run({
    backoff = 0.05, max_backoff = 1, on_error = function() end,
  }, function(guard)
    local hold = task:granted(guard, resource, 1)
    task:pause(1)
    if chance:one_in(4) then election:resign() end
    task.witness:ending(hold)
    if chance:one_in(3) then error("as a leader may", 0) end
  end)
  is_running = false
  task:note("run: %s", ok and "true" or code)
  task.ledger:finish(entry, ok and "true" or code)
end

--- Whom callbacks are told to lead.
function jobs.observe(task, resource)
  local election, over, last = task:locks(resource)[1], nil, ""
  local ticket = election:observe(function(leader, _, code)
    if over then
      task.story.violate("%s: is told who leads after the end", task.name)
    end
    if code then over = code end
    local token = leader and leader.token or last
    if leader and token <= last then
      task.story.violate("%s: who leads is told to be %s, after %s", task.name,
        token, last)
    end
    last = token
    task:note("leader: %s", leader and leader.token or tostring(code))
  end)
  task:pause(3)
  over = over or "cancelled"
  ticket:cancel()
end

-- ---- Crowds -----------------------------------------------------------------

--- Many at once take one lock, and give it back in their callbacks.
function jobs.crowd(task, resource)
  local count, ended = task.chance:between(50, 150), 0
  local lock = task:locks(resource)[1]
  local entry = task.ledger:begin(task.name .. ": a crowd at " .. resource.path)
  task:note("%d at once take %s", count, resource.path)
  for _ = 1, count do
    lock:acquire_async({}, function(guard, _, code)
      ended = ended + 1
      if guard then
        guard:release()
      elseif not task.ledger.codes[code] then
        task.story.violate("%s: one of a crowd has ended with %s", task.name,
          code)
      end
    end)
  end
  task.scheduler:await(function() return ended >= count end, math.huge)
  task.ledger:finish(entry, "true")
  if ended > count then
    task.story.violate("%s: %d of a crowd of %d have ended", task.name, ended,
      count)
  end
end

--- What a task may do with a resource beside taking it.
function jobs.of(task, resource)
  local is_blocking = task.slot.loop == "poll"
  if resource.is_once then return jobs.can_yield and jobs.once end
  if resource.is_election and not is_blocking then
    return jobs.can_yield and task.chance:one_in(2) and jobs.run
      or jobs.observe
  end
  if resource.kind == "turns" and not is_blocking and task.chance:one_in(3) then
    return jobs.crowd
  end
end

return jobs
