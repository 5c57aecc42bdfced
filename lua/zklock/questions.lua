--- Questions: a session's requests beside its locks, and the wait for the first
-- connection, which every request needs.
--
-- The core sends requests about nodes (`core:ask`: src/io/ask.h has the
-- operations).  This file and survey.lua decide which request follows, in
-- functions `body(ask, ...)`.  `ask(requests, each, all)` sends requests, which
-- do not wait for each other, and returns their answers in order.  If it fails,
-- it returns nil, code and reason, and the body returns these, too.  An answer
-- has the fields of a Stat, `names` or `data`; or `code` and `reason`, and
-- `is`.  `is` is "missing", "exists", "changed", "undone" or "hidden" if a body
-- may expect it.
local reasons = require "zklock.reasons"
local refusal = require "zklock.errors".refusal
local waits = require "zklock.wait"

local questions = {
  LARGEST = 1000000, -- larger data is not read
}

--- Waits for the first connection, for `seconds` at most.  Returns a wait that
-- is done if the session is connected and the listeners have been called.  It
-- is done with a `code` if there will be no connection for some time.
function questions.await_opening(engine, seconds)
  local opening = waits.new(engine, engine.waits.openings)
  waits.limit(opening, seconds)
  opening.code, opening.done = engine.state.code, engine.state:is_decided()
  if not opening.done then
    waits.suspend(opening, engine.adapters:for_waiting())
  end
  return opening
end

--- Waits for the answer; returns a wait that is done.  `ask`: a core method.
function questions.ask(engine, ask, ...)
  local adapter = engine.adapters:for_waiting()
  local opening = questions.await_opening(engine, engine.connect_timeout)
  if opening.code or not opening.done then
    opening.code = opening.code or "disconnected"
    opening.reason = opening.code == "auth"
      and (engine.state.wants or "the credentials are not accepted")
    return opening
  end
  if engine.state.is.closed then -- since the previous request
    opening.code = "closed"
    return opening
  end
  local number = engine.core[ask](engine.core, ...)
  local wait = waits.new(engine, waits.place(engine.waits.answers, number),
    number)
  waits.suspend(wait, adapter)
  return wait
end

--- Returns whether an answer is a refusal that is not among the `expected`.
function questions.is_refused(answer, expected)
  return answer.code and not (expected and expected[answer.is])
end

local is_refused = questions.is_refused
local MISSING = { missing = true }

--- Sends requests behind a sync, so that each answer shows what was committed
-- before the call.
function questions.ask_now(ask, path, requests)
  local all = { { "sync", path } }
  for i, request in ipairs(requests) do all[i + 1] = request end
  local found, code, reason = ask(all)
  if not found then return nil, code, reason end
  local sync = table.remove(found, 1)
  if is_refused(sync, MISSING) then return nil, sync.code, sync.reason end
  return found
end

--- Calls a body; its requests suspend the caller.
function questions.run(engine, body, ...)
  return body(function(...)
    local wait = questions.ask(engine, "ask", ...)
    if wait.code then return nil, wait.code, wait.reason end
    return wait.found
  end, ...)
end

local run = questions.run

--- Runs a body without suspending the caller: step() calls `callback` with its
-- results. Without a connection the result is soon "disconnected". `scope`: the
-- nginx request with which the query ends, if any. The body runs in a
-- coroutine; if a hook raises in it, a new coroutine starts it again.
function questions.begin(engine, scope, callback, body, path, mode)
  local asked = false -- the coroutine, and its wait
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
    local wait = waits.new(engine, waits.place(engine.waits.answers, number),
      number)
    asked = { co = co, wait = waits.listen(wait, scope, go_on) }
  end

  resume(coroutine.create(body), coroutine.yield, path, mode)
end

-- Collects what a message needs.
local function failure(engine, code, reason)
  return { engine = engine, code = code, reason = reason }
end

--- Returns the error of a failed query or write: see reasons.lua.
function questions.refuse(engine, code, reason, what, path)
  return reasons.of_question(failure(engine, code, reason), what, path)
end

function questions.refuse_order(engine, code, reason, what, path)
  return reasons.of_order(failure(engine, code, reason), what, path)
end

-- Single nodes.

-- Returns the answer to one request; or the code and reason of its failure.
local function one(ask, request, each)
  local found, code, reason = ask({ request }, each)
  return found and found[1] or { code = code, reason = reason }
end

local function look(ask, path)
  local found, code, reason = questions.ask_now(ask, path,
    { { "exists", path } })
  return found and found[1] or { code = code, reason = reason }
end

-- Returns a node as users see it. A node without an owner is shown as
-- persistent, because servers do not tell containers and TTL nodes apart from
-- persistent nodes.
local function show(seen)
  return { kind = seen.session == "0x0" and "persistent" or "ephemeral",
    session = seen.session, created = seen.created, modified = seen.modified,
    children = seen.children, size = seen.size, version = seen.version }
end

-- Returns a node; false if there is none.
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
  -- All fields of an answer belong to the same moment.
  node.data, node.size = read.data, read.size
  node.modified, node.version = read.modified, read.version
  return node
end

--- Returns the node at a path, with its data if requested; false if there is
-- none.
function questions.stat(engine, path, with_data)
  local node, code, reason = run(engine, stat, path, with_data)
  if node ~= nil then return node end
  return questions.refuse(engine, code, reason, "what is at", path)
end

--- Returns whether there is a node, even if this session may not read it.
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

--- Returns the sorted names below a path, and whether the path exists.
function questions.children(engine, path)
  local names, exists, reason = run(engine, children, path)
  if names then return names, exists end
  return questions.refuse(engine, exists, reason, "what is below", path)
end

-- Writing.  A server may apply a request late.  A write that must not be
-- applied late is a transaction, which the core makes.

local ANY_VERSION = -1
local OWNED = "a session owns that node, and its end deletes it"
local NO_PARENT = "there is no node above it"

-- How many times to retry if other clients create and delete the node.
local TRIES, WRITE_TRIES = 20, 5

local AGAIN = { missing = true, undone = true }

-- Creates a barrier's node.  Returns true; false if it was there.  If a
-- session owns the node, the barrier would be lifted at the session's end, so
-- that is an error.  A node that cannot be read counts as set, because waiters
-- wait for it.
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

--- Sets a barrier: returns true, and whether it was not set before.
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

--- Lifts a barrier: returns true, and whether it was set.
function questions.lift(engine, path)
  local gone, code, reason = run(engine, lift, path)
  if gone ~= nil then return true, gone end
  return questions.refuse_order(engine, code, reason,
    "the lifting of the barrier", path)
end

-- Writes the node; creates it if it is missing; writes again if another client
-- was faster.  Usually the node exists, and one request is enough.  With the
-- path of a lock's node, both are transactions that check that node.  So a
-- request that a server applies late, when another client holds the lock,
-- changes nothing.
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

--- Creates a persistent node, or overwrites it.  With `node`, the path of
-- another node: only if that node exists.
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
