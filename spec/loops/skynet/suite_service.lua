--- Runs the contract (suite.lua) in a service of skynet, by hand: see config.
local skynet = require "skynet"
require "skynet.manager" -- for abort
local suite = require "loops.suite"
local zklock = require "zklock"

local function run(i, case)
  local problem = suite.run(case, zklock, skynet.getenv "hosts", {
    prefix = ("/spec-skynet-%d-%d"):format(os.time(), i),
    sleep = function(seconds) skynet.sleep(math.ceil(seconds * 100)) end,
    begin = skynet.fork,
  })
  skynet.error(problem and "FAILED" or "ok", case.name, problem or "")
  return not problem
end

skynet.start(function()
  local passed, failed = 0, 0
  for i, case in ipairs(suite) do
    if case.owns then
      skynet.error("left out: in skynet tasks own nothing:", case.name)
    elseif run(i, case) then
      passed = passed + 1
    else
      failed = failed + 1
    end
  end
  skynet.error(("%d passed, %d failed"):format(passed, failed))
  skynet.sleep(20) -- for the log
  skynet.abort()
end)
