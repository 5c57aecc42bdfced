--- Questions to the servers beside the protocol, and the wait for the first
-- connection, without which nobody can be asked.
local core = require "zklock.core"
local quote = require "zklock.quote"
local reasons = require "zklock.reasons"
local refusal = require "zklock.errors".refusal
local waits = require "zklock.wait"

local questions = {}

--- Waits for the first connection, for so many seconds: a wait that is done if
-- that is there (and those who listen have heard of it), or, with a `code`,
-- will not be for some time.
function questions.await_opening(engine, seconds)
  local opening = waits.new(engine, engine.waits.openings)
  waits.limit(opening, seconds)
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
      and (engine.state.wants or "our credentials are not accepted")
    return opening
  end
  if engine.state.is.closed then -- since the question before this one
    opening.code = "closed"
    return opening
  end
  local number = engine.core[ask](engine.core, ...)
  local wait = waits.new(engine, waits.place(engine.waits.answers, number),
    number)
  waits.suspend(wait, adapter)
  return wait
end

--- Asks, and returns at once: a wait, which `callback` gets from step() when it
-- is done.  (Without a connection it soon is, as "disconnected".)  `scope`: the
-- request that it ends with, if there is one.
function questions.begin(engine, scope, callback, ask, ...)
  local number = engine.core[ask](engine.core, ...)
  local wait = waits.new(engine, waits.place(engine.waits.answers, number),
    number)
  return waits.listen(wait, scope, callback)
end

-- The core's words, where they are not the user's.
local public_modes = { ["kazoo-lock"] = "mutex", ["kazoo-read"] = "read",
  latch = "mutex" }

-- As users see it: the size is told of data that were not read.
local function show(contender)
  contender.mode = public_modes[contender.mode] or contender.mode
  if contender.data then
    contender.data, contender.size = core.own_data(contender.data), nil
  end
  if contender.mode == "unfair" then contender.sequence = nil end
  return contender
end

-- Contenders in order, as the core has read them.
local function in_order(found)
  local contenders = core.survey(found)
  for _, contender in ipairs(contenders) do
    if contender.node:sub(1, 6) == "locks/" then contender.mode = "lease" end
  end
  return contenders
end

-- The same of a path; or nil and the wait that has failed.
local function survey(engine, path, with_data)
  local wait = questions.ask(engine, "contenders", path, with_data)
  if wait.code then return nil, wait end
  return in_order(wait.found), wait
end

--- Who contends for a path, in order; and whether the path exists.
function questions.contenders(engine, path)
  local contenders, wait = survey(engine, path, true)
  if not contenders then
    return reasons.of_question(wait, "who contends for", path)
  end
  for _, contender in ipairs(contenders) do show(contender) end
  return contenders, wait.detail
end

--- Those that hold it in one of these modes.
function questions.holders(engine, path, modes)
  local contenders, wait = survey(engine, path, true)
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

-- Of contenders in order, who leads, as users see it, and its node; false if
-- nobody does.  A leader holds in one of these modes.
local function leader_of(contenders, modes)
  for _, contender in ipairs(contenders) do
    if contender.holds and modes[contender.mode] then
      local data = contender.data
      return { data = data and core.own_data(data),
        size = not data and contender.size or nil, token = contender.token,
        session = contender.session, since = contender.created },
        contender.node
    end
  end
  return false
end

--- Who leads: `{ data=, token=, session=, since= }`; nil if nobody does.  Who
-- leads is in one of these modes, of which there is one.
function questions.leader(engine, path, modes)
  local wait = questions.ask(engine, "head", path, (next(modes)))
  if wait.code then return reasons.of_question(wait, "who leads", path) end
  return leader_of(in_order(wait.found), modes) or nil
end

--- The same for who does not wait: `callback` gets a wait.  Without a `code` it
-- is for questions.read_leader.
function questions.begin_leader(engine, scope, path, modes, callback)
  return questions.begin(engine, scope, callback, "head", path, (next(modes)))
end

--- Who leads, and its node; false if nobody does, and how many contenders of
-- any kind are children of the path; of one that does not exist, false.
function questions.read_leader(wait, modes)
  local leader, node = leader_of(in_order(wait.found), modes)
  if leader then return leader, node end
  return false, wait.detail
end

-- Some were asked, and others could not be.
local function of_revocation(wait, path, holders)
  return refusal(wait.code, "%d of %d holders of %s%s %s asked to let go, but "
    .. "not %s: %s", wait.found, holders, wait.engine.chroot, path,
    wait.found == 1 and "was" or "were", quote(wait.detail), wait.reason)
end

--- Asks every holder of a path to let go; how many were asked.
function questions.revoke(engine, path)
  local contenders, wait = survey(engine, path, false)
  if not contenders then
    return reasons.of_question(wait, "who holds", path)
  end
  local nodes = {}
  for _, contender in ipairs(contenders) do
    if contender.holds then
      nodes[#nodes + 1] = contender.node
      nodes[#nodes + 1] = contender.size or 0
    end
  end
  if #nodes == 0 then return 0 end
  wait = questions.ask(engine, "revoke", path, nodes)
  if not wait.code then return wait.found end
  if wait.detail then return of_revocation(wait, path, #nodes / 2) end
  return reasons.of_request(wait, "who holds", path)
end

--- What is at a path, with its data if they are wanted; false: nothing.
function questions.stat(engine, path, with_data)
  local wait = questions.ask(engine, "stat", path, with_data)
  if wait.code then return reasons.of_question(wait, "what is at", path) end
  return wait.found
end

--- Is there a node? Also where this session may not look at it.
function questions.exists(engine, path)
  local wait = questions.ask(engine, "stat", path)
  if wait.found == true then return true end
  if wait.code then return reasons.of_question(wait, "what is at", path) end
  return wait.found ~= false
end

--- The names of all that is below a path, in order; and whether that exists.
function questions.children(engine, path)
  local wait = questions.ask(engine, "children", path)
  if wait.code then return reasons.of_question(wait, "what is below", path) end
  return wait.found, wait.detail
end

--- Sets a barrier: true, and whether it was not set before.
function questions.set(engine, path)
  local wait = questions.ask(engine, "set", path, engine.data)
  if wait.code then return reasons.of_order(wait, "the barrier", path) end
  return true, wait.found
end

--- Lifts it: true, and whether it was set.
function questions.lift(engine, path)
  local wait = questions.ask(engine, "lift", path)
  if wait.code then
    return reasons.of_order(wait, "the lifting of the barrier", path)
  end
  return true, wait.found
end

--- Creates a persistent node, or overwrites it.  With `node`, the path of
-- another node: only if that exists.
function questions.stamp(engine, path, data, node)
  local wait = questions.ask(engine, "stamp", path, data, node)
  if wait.code == "lost" then
    return refusal("lost", "%s was not stamped, because the node %s is gone",
      path, node)
  end
  if wait.code then return reasons.of_order(wait, "the stamp of", path) end
  return true
end

--- Deletes a contender's node, if it has the token, or none is given; was it
-- there?
function questions.evict(engine, path, node, token)
  local wait = questions.ask(engine, "evict", path, node, token)
  if not wait.code then return wait.found end
  return reasons.of_order(wait, ("the eviction of %s from"):format(quote(node)),
    path)
end

return questions
