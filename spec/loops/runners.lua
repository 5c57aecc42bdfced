--- The loops that the contract is run on.  Each is
--   { tasks =, loop =, run = function(body) … end }
-- `run(body)` calls `body(env)` as a task, turns the loop until nothing is
-- left in it, and raises what the task raised; `loop` is for connect.  What is
-- missing on this machine is `{ missing = true }`.
local socket = require "socket"
local suite = require "loops.suite"
local support = require "support"
local zklock = require "zklock"

-- Debian's copas is too old. Where a newer one and what it needs are unpacked:
local copas_directory = os.getenv "SPEC_COPAS"
if copas_directory then
  package.path = ("%s/?.lua;%s/?/init.lua;"):format(copas_directory,
    copas_directory) .. package.path
end

local LIMIT = 60 -- seconds in which a loop has to end

local function environment(runner, sleep, begin)
  local function options(given)
    local copy = { loop = runner.loop }
    for key, value in pairs(given or {}) do copy[key] = value end
    return copy
  end
  return suite.environment(zklock, { path = support.path, sleep = sleep,
    begin = begin, steps = not runner.tasks, options = options,
    connect = function(given) return support.connect(options(given)) end })
end

-- Runs `body` as a task; the sessions are closed in it.
local function run(env, body, turn)
  local finished = false
  env.spawn(function()
    local ok, problem = xpcall(body, debug.traceback, env)
    if not ok then env.problem = env.problem or problem end
    finished = true
  end)
  turn()
  if env.problem then error(env.problem, 0) end
  if not finished then error("the loop ended before the task", 0) end
end

local runners = {}

runners.poll = {
  run = function(body)
    body(environment(runners.poll, socket.sleep))
  end,
}

local function try(name, make)
  local ok, loop = pcall(require, name)
  runners[name] = ok and make(loop)
    or { missing = true }
end

try("luv", function(uv)
  local function sleep(seconds)
    local task, timer = coroutine.running(), uv.new_timer()
    uv.update_time()
    timer:start(math.ceil(seconds * 1000), 0, function()
      timer:close()
      assert(coroutine.resume(task))
    end)
    coroutine.yield()
  end
  local function begin(fn) coroutine.wrap(fn)() end
  local runner = { tasks = true }
  function runner.run(body)
    local late = uv.new_timer()
    late:start(LIMIT * 1000, 0, uv.stop)
    late:unref()
    run(environment(runner, sleep, begin), body, uv.run)
    late:close()
    uv.run() -- closes it
  end
  return runner
end)

try("cqueues", function(cqueues)
  local runner = { tasks = true }
  function runner.run(body)
    local controller = cqueues.new()
    local function begin(fn) controller:wrap(fn) end
    run(environment(runner, cqueues.sleep, begin), body, function()
      assert(controller:loop(LIMIT))
      assert(controller:empty(), "the controller does not end")
    end)
  end
  return runner
end)

try("copas", function(copas)
  if not copas.wakeup then return { missing = true } end -- before 2.0
  local runner = { tasks = true }
  local sleep = copas.pause or copas.sleep
  -- Before 4.0 a thread begins at once, when no loop runs yet.
  local function begin(fn)
    copas.addthread(function()
      sleep(0)
      fn()
    end)
  end
  function runner.run(body)
    run(environment(runner, sleep, begin), body, function() copas.loop() end)
  end
  return runner
end)

-- The loop of examples/game_loop.lua: it has no fd, only frames.
do
  local game = require "loops.frames"
  local runner = { tasks = true, loop = game.adapter }
  function runner.run(body)
    run(environment(runner, game.sleep, game.spawn), body, game.run)
  end
  runners.frames = runner
end

return runners
