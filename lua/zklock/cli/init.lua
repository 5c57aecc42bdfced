--- The command `zklock`: reads the arguments, runs the subcommand in a task of
-- luv's loop, and exits with its code.
--
-- The command runs on Lua 5.3 and later, and on LuaJIT, but not on Lua 5.1. An
-- error in a callback of luv ends the process, so the task must catch its
-- errors with xpcall. But in Lua 5.1, a task cannot wait inside xpcall.
local exit = require "zklock.cli.exit"
local load = require "zklock.cli.load"
local talk = require "zklock.cli.talk"

local cli = {}

-- Prints why the command has failed, and returns the exit code.
local function give_up(failure)
  if failure.message then talk.say(failure.message) end
  return failure.code
end

-- Runs the command in a task of luv's loop, and ends the process.
local function run(request)
  local uv = load "luv"
  local command = require("zklock.cli." .. request.command)
  local leaving = require "zklock.cli.leaving"
  local task = coroutine.create(function()
    local ok, outcome = xpcall(command, exit.explain, request)
    -- If a signal has ended the task, its session is closed: an error of the
    -- task only follows from this.
    if leaving.code then return end
    leaving.leave(ok and (outcome or exit.codes.ok) or give_up(outcome))
  end)
  assert(coroutine.resume(task))
  while not leaving.code do
    uv.run()
    if not leaving.code and not uv.loop_alive() then
      error "nothing is left to wait for"
    end
  end
  leaving.finish()
end

-- Fails on Lua 5.1. LuaRocks runs the command on the Lua version of the rock,
-- which can be 5.1.
local function check_lua()
  if _VERSION == "Lua 5.1" and not rawget(_G, "jit") then
    exit.fail("unavailable", "Lua 5.1 cannot run this command, for it cannot "
      .. "yield across pcall: LuaJIT, and Lua 5.3 and later can")
  end
end

--- Runs the command and ends the process with its exit code.
function cli.main(arguments)
  local _, failure = xpcall(function()
    check_lua()
    require "zklock.guardian".fill_standard()
    run(require "zklock.cli.arguments".read(arguments))
  end, exit.explain)
  os.exit(give_up(failure))
end

return cli
