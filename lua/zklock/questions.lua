--- Questions to the servers beside the protocol, and the wait for the first
-- connection, without which nobody can be asked.
local core = require "zklock.core"
local reasons = require "zklock.reasons"
local waits = require "zklock.wait"

local questions = {}

--- Waits for the first connection, for so many seconds: a wait that is done if
-- that is there (and those who listen have heard of it), or, with a `code`,
-- will not be for some time.
function questions.await_opening(engine, seconds)
  local deadline = core.now() + seconds
  local opening = waits.new(engine, engine.waits.openings)
  opening.timeout = function() return deadline - core.now() end
  opening.code, opening.done = engine.state.code, engine.state:is_decided()
  if not opening.done then
    waits.suspend(opening, engine.adapters:for_waiting())
  end
  return opening
end

--- Waits for the answer: a wait that is done.  `ask` is a method of the core.
function questions.ask(engine, ask, ...)
  local adapter = engine.adapters:for_waiting()
  local opening = questions.await_opening(engine, engine.connect_timeout)
  if opening.code or not opening.done then
    opening.code = opening.code or "disconnected"
    opening.reason = opening.code == "auth"
      and "our credentials are not accepted"
    return opening
  end
  local number = engine.core[ask](engine.core, ...)
  local wait = waits.new(engine, engine.waits.answers, number)
  waits.suspend(wait, adapter)
  return wait
end

-- The core's words, where they are not the user's.
local public_modes = { ["kazoo-lock"] = "mutex", ["kazoo-read"] = "read" }

-- Without what only revoke needs.
local function show(contender)
  contender.version = nil
  contender.mode = public_modes[contender.mode] or contender.mode
  contender.data = contender.data and core.own_data(contender.data)
  if contender.mode == "unfair" then contender.sequence = nil end
  return contender
end

-- In order, as the core has read them; or nil and the wait that has failed.
local function survey(engine, path)
  local wait = questions.ask(engine, "contenders", path)
  if wait.code then return nil, wait end
  local contenders = core.survey(wait.contenders)
  for _, contender in ipairs(contenders) do
    if contender.node:sub(1, 6) == "locks/" then contender.mode = "lease" end
  end
  return contenders, wait
end

--- Who contends for a path, in order; and whether the path exists.
function questions.contenders(engine, path)
  local contenders, wait = survey(engine, path)
  if not contenders then
    return reasons.of_question(wait, "who contends for", path)
  end
  for _, contender in ipairs(contenders) do show(contender) end
  return contenders, wait.exists
end

--- Those that hold it in one of these modes.
function questions.holders(engine, path, modes)
  local contenders, wait = survey(engine, path)
  if not contenders then
    return reasons.of_question(wait, "who holds", path)
  end
  local holders = {}
  for _, contender in ipairs(contenders) do
    if contender.holds and modes[contender.mode] then
      holders[#holders + 1] = show(contender)
    end
  end
  return holders
end

--- Asks every holder of a path to let go; how many were asked.
function questions.revoke(engine, path)
  local contenders, wait = survey(engine, path)
  if not contenders then
    return reasons.of_question(wait, "who holds", path)
  end
  local asked = 0
  for _, contender in ipairs(contenders) do
    if contender.holds then
      local written = questions.ask(engine, "write",
        path .. "/" .. contender.node, core.marked_data(contender.data or ""),
        contender.version)
      if not written.code then
        asked = asked + 1
      elseif written.code ~= "lost" then
        return reasons.of_question(written, "the holder of", path)
      end
    end
  end
  return asked
end

return questions
