--- Questions: the requests of a session apart from its locks. Also the wait for
-- the first connection, which every request needs.
--
-- The C core sends requests about nodes (`core:ask`; src/io/ask.h has the
-- operations). This file and survey.lua decide which request comes next, in
-- functions `body(ask, ...)`. `ask(requests, each, all)` sends requests that do
-- not wait for each other, and returns their answers in order. If this fails,
-- `ask` returns nil, code and reason, and so does the body.
--
-- An answer has the fields of a Stat, `names` or `data`. After an error, it has
-- `code` and `reason`. If a body may expect the error, the answer also has
-- `is`: "missing", "exists", "changed", "undone" or "hidden".
local reasons = require "zklock.reasons"
local refusal = require "zklock.errors".refusal
local waits = require "zklock.wait"

local questions = {
  LARGEST = 1000000, -- bytes; zklock reads no larger data
}

--- Waits for the first connection, for `seconds` at most. Returns a wait. If
-- the session is connected and the listeners have been called, the wait is done
-- and has no `code`. If no connection can be expected soon, it has a `code`.
function questions.await_opening(engine, seconds)
  local opening = waits.new(engine, engine.waits.openings)
  waits.limit(opening, seconds)
  opening.code, opening.done = engine.state.code, engine.state:is_decided()
  if not opening.done then
    waits.suspend(opening, engine.adapters:for_waiting())
  end
  return opening
end

--- Sends a request and waits for its answer; returns a wait that is done.
-- `ask`: the C core's method that sends the request.
function questions.ask(engine, ask, ...)
  local adapter, scope = engine.adapters:for_waiting()
  local opening = questions.await_opening(engine, engine.connect_timeout)
  if opening.code or not opening.done then
    opening.code = opening.code or "disconnected"
    opening.reason = opening.code == "auth"
      and (engine.state.wants or "the credentials are not accepted")
    return opening
  end
  if engine.state.is.closed then -- closed since the last request
    opening.code = "closed"
    return opening
  end
  local number = engine.core[ask](engine.core, ...)
  local wait = waits.for_answer(engine, number)
  waits.suspend(wait, adapter, scope)
  return wait
end

--- Returns whether an answer is an error that the caller does not expect.
function questions.is_refused(answer, expected)
  return answer.code and not (expected and expected[answer.is])
end

local is_refused = questions.is_refused
local MISSING = { missing = true }

--- Sends requests after a sync, so that their answers show all writes that were
-- committed before this call. Returns the answers; or nil, code and reason.
function questions.ask_now(ask, path, requests)
  local all = { { "sync", path } }
  for i, request in ipairs(requests) do all[i + 1] = request end
  local found, code, reason = ask(all)
  if not found then return nil, code, reason end
  local sync = table.remove(found, 1)
  if is_refused(sync, MISSING) then return nil, sync.code, sync.reason end
  return found
end

--- Calls `body(ask, ...)` and returns its results.  Each `ask` suspends the
-- caller.
function questions.run(engine, body, ...)
  return body(function(...)
    local wait = questions.ask(engine, "ask", ...)
    if wait.code then return nil, wait.code, wait.reason end
    return wait.found
  end, ...)
end

local run = questions.run

--- Runs a body without suspending the caller. step() calls `callback` with the
-- body's results; without a connection, soon with "disconnected". `scope`: the
-- nginx request whose end ends the query, if any. The body runs in a coroutine.
-- If a debug hook raises an error in it, the body is started again in a new
-- coroutine.
function questions.begin(engine, scope, callback, body, path, mode)
  local asked = false -- the suspended coroutine, and its wait
  local resume

  local function go_on(wait)
    if asked and asked.wait ~= wait then return end
    local co = asked and asked.co
    asked = false
    if engine.state.is.closed then return callback(nil, "closed") end
    if wait.code then return callback(nil, wait.code, wait.reason) end
    if co then return resume(co, wait.found) end
    resume(coroutine.create(body), coroutine.yield, path, mode)
  end

  function resume(co, ...)
    local ok, one, two, three = coroutine.resume(co, ...)
    if not ok then error(one, 0) end
    if coroutine.status(co) == "dead" then return callback(one, two, three) end
    local number = engine.core:ask(one, two, three)
    local wait = waits.for_answer(engine, number)
    asked = { co = co, wait = waits.listen(wait, scope, go_on) }
  end

  resume(coroutine.create(body), coroutine.yield, path, mode)
end

-- Returns the details that reasons.lua needs for a message.
local function failure(engine, code, reason)
  return { engine = engine, code = code, reason = reason }
end

--- Returns the error of a failed query: see reasons.of_question.
function questions.refuse(engine, code, reason, what, path)
  return reasons.of_question(failure(engine, code, reason), what, path)
end

function questions.refuse_order(engine, code, reason, what, path)
  return reasons.of_order(failure(engine, code, reason), what, path)
end

-- Single nodes.

-- Sends one request, and returns its answer; an error becomes an answer with
-- `code` and `reason`.
local function one(ask, request, each)
  local found, code, reason = ask({ request }, each)
  return found and found[1] or { code = code, reason = reason }
end

local function look(ask, path)
  local found, code, reason = questions.ask_now(ask, path,
    { { "exists", path } })
  return found and found[1] or { code = code, reason = reason }
end

-- Returns a node as users see it. Shows a node without an owner as persistent.
-- It may also be a container or a TTL node, but servers do not say so.
local function show(seen)
  return { kind = seen.session == "0x0" and "persistent" or "ephemeral",
    session = seen.session, created = seen.created, modified = seen.modified,
    children = seen.children, size = seen.size, version = seen.version }
end

-- Reads a node; returns false if the node does not exist.
local function stat(ask, path, with_data)
  local seen = look(ask, path)
  if seen.is == "missing" then return false end
  if seen.code then return nil, seen.code, seen.reason end
  local node = show(seen)
  if not with_data or seen.size > questions.LARGEST then return node end
  local read = one(ask, { "get", path, nil, seen.size },
    questions.LARGEST)
  if read.is == "missing" then return false end
  if read.is == "hidden" then return node end
  if read.code then return nil, read.code, read.reason end
  -- Uses the Stat that came with the data, because all fields must be of the
  -- same moment.
  node.data, node.size = read.data, read.size
  node.modified, node.version = read.modified, read.version
  return node
end

--- Reads the node at a path, with its data if requested.  Returns false if the
-- node does not exist.
function questions.stat(engine, path, with_data)
  local node, code, reason = run(engine, stat, path, with_data)
  if node ~= nil then return node end
  return questions.refuse(engine, code, reason, "what is at", path)
end

--- Returns whether the node exists, even if this session may not read the node.
function questions.exists(engine, path)
  local seen = run(engine, look, path)
  if seen.is == "hidden" or not is_refused(seen, MISSING) then
    return seen.is ~= "missing"
  end
  return questions.refuse(engine, seen.code, seen.reason, "what is at", path)
end

local function children(ask, path)
  local seen = look(ask, path)
  if not seen.code and seen.children == 0 then return {}, true end
  local list = seen.code and seen
    or one(ask, { "list", path, nil, seen.children })
  if list.is == "missing" then return {}, false end
  if list.code then return nil, list.code, list.reason end
  return list.names, true
end

--- Returns the sorted names of the nodes below a path, and whether the path
-- exists.
function questions.children(engine, path)
  local names, exists, reason = run(engine, children, path)
  if names then return names, exists end
  return questions.refuse(engine, exists, reason, "what is below", path)
end

-- Writing. A server may apply a request late, after the call has failed. If a
-- write must not be applied late, the C core sends it as a transaction.

local ANY_VERSION = -1
local OWNED = "a session owns that node, and its end deletes it"
local NO_PARENT = "there is no node above it"

-- How often zklock tries if other clients create or delete the node in between.
local TRIES, WRITE_TRIES = 20, 5

local AGAIN = { missing = true, undone = true }

-- Creates a barrier's node. Returns true; false if the node exists. If a
-- session owns the existing node, that is an error, because the session's end
-- would lift the barrier. If the node cannot be read, the barrier counts as
-- set, because waiters wait for the node's deletion.
local function set(ask, path, data)
  for _ = 1, TRIES do
    local answer = one(ask, { "create-once", path, data })
    if not answer.code then return true end
    if answer.is == "missing" then
      answer = one(ask, { "mkdir", path:match "^(.+)/" or "/" })
      if answer.is == "missing" then break end
    elseif answer.is == "exists" then
      answer = one(ask, { "exists", path })
      if answer.is == "hidden" or answer.session == "0x0" then return false end
      if answer.session then return nil, "invalid", OWNED end
    end
    if is_refused(answer, AGAIN) then
      return nil, answer.code, answer.reason
    end
  end
  return nil, "invalid", NO_PARENT
end

--- Sets a barrier.  Returns true, and whether the barrier was not set before.
function questions.set(engine, path)
  local made, code, reason = run(engine, set, path, engine.data)
  if made ~= nil then return true, made end
  return questions.refuse_order(engine, code, reason, "the barrier", path)
end

local function lift(ask, path)
  local answer
  for _ = 1, TRIES do
    answer = one(ask, { "delete-once", path })
    if answer.is ~= "undone" then break end
  end
  if is_refused(answer, MISSING) then return nil, answer.code, answer.reason end
  return not answer.code
end

--- Lifts a barrier.  Returns true, and whether the barrier was set.
function questions.lift(engine, path)
  local gone, code, reason = run(engine, lift, path)
  if gone ~= nil then return true, gone end
  return questions.refuse_order(engine, code, reason,
    "the lifting of the barrier", path)
end

-- Writes the node; creates it if it is missing; writes again if another client
-- was faster. Usually the node exists, and one request is enough. With `node`,
-- the path of a lock's node, each write is a transaction that checks the lock's
-- node. So if a server applies a write late, when another client holds the
-- lock, the write changes nothing.
local function touch(ask, path, data, node)
  local answer
  for _ = 1, WRITE_TRIES do
    answer = one(ask, { "set", path, data, ANY_VERSION, node })
    if answer.is ~= "missing" then break end
    answer = one(ask, { "create", path, data, nil, node })
    if answer.is == "missing" then return nil, "invalid", NO_PARENT end
    if answer.is ~= "exists" then break end
  end
  if answer.is == "undone" then return nil, "lost" end
  if answer.code then return nil, answer.code, answer.reason end
  if (answer.session or "0x0") ~= "0x0" then return nil, "invalid", OWNED end
  return true
end

--- Creates a persistent node, or overwrites it. If `node` is given, does so
-- only if the node at this path exists.
function questions.touch(engine, path, data, node)
  local done, code, reason = run(engine, touch, path, data, node)
  if done then return true end
  if code == "lost" then
    return refusal("lost", "%s was not written, because the node %s is gone",
      path, node)
  end
  return questions.refuse_order(engine, code, reason, "the write to", path)
end

return questions
