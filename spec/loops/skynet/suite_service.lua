--- Runs the contract (suite.lua) in a service of skynet, by hand: see config.
local skynet = require "skynet"
require "skynet.manager" -- for abort
local suite = require "loops.suite"
local zklock = require "zklock"

local hosts = skynet.getenv "hosts"
local paths = 0

local function environment(sessions)
  local env = { zklock = zklock, now = zklock.now, kept = {} }

  function env.options(options) return options or {} end

  function env.connect(options)
    local session = assert(zklock.connect(hosts, options))
    sessions[#sessions + 1] = session
    return session
  end

  function env.path()
    paths = paths + 1
    return ("/spec-skynet-%d-%d"):format(os.time(), paths)
  end

  function env.sleep(seconds) skynet.sleep(math.ceil(seconds * 100)) end

  function env.spawn(fn)
    skynet.fork(function()
      local ok, problem = xpcall(fn, debug.traceback)
      if not ok then env.problem = env.problem or problem end
    end)
  end

  function env.until_true(condition)
    local deadline = zklock.now() + 80
    while not condition() do
      if zklock.now() > deadline then error("it does not come true", 2) end
      skynet.sleep(1)
    end
  end

  return env
end

local function run(case)
  local sessions = {}
  local env = environment(sessions)
  local ok, problem = xpcall(case.body, debug.traceback, env)
  for _, session in ipairs(sessions) do session:close() end
  problem = not ok and problem or env.problem
  skynet.error(problem and "FAILED" or "ok", case.name, problem or "")
  return not problem
end

skynet.start(function()
  local passed, failed = 0, 0
  for _, case in ipairs(suite) do
    if case.owns then
      skynet.error("left out: in skynet tasks own nothing:", case.name)
    elseif run(case) then
      passed = passed + 1
    else
      failed = failed + 1
    end
  end
  skynet.error(("%d passed, %d failed"):format(passed, failed))
  skynet.sleep(20) -- for the log
  skynet.abort()
end)
