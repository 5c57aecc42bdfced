--- Questions: what a session asks of the servers beside its locks, and the wait
-- for the first connection, without which no server can be asked.
--
-- The core sends requests about nodes (`core:ask`: src/io/ask.h has the
-- operations); what to ask next is decided here, and in survey.lua.  What
-- decides it is a function `body(ask, ...)`.  `ask(requests, each, all)` sends
-- requests, which do not wait for each other, and returns their answers in
-- order; or nil, code and reason, if there are none, and then so does the body.
--  An answer has the fields of a Stat, `names` or `data`; or `code` and
-- `reason`, and `is`: "missing", "exists", "changed", "undone" or "hidden", of
-- those that a body may expect.
local reasons = require "zklock.reasons"
local refusal = require "zklock.errors".refusal
local waits = require "zklock.wait"

local questions = {
  LARGEST = 1000000, -- data of more bytes are not read
}

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

--- Is this answer a refusal, and none of the `expected`?
function questions.is_refused(answer, expected)
  return answer.code and not (expected and expected[answer.is])
end

local is_refused = questions.is_refused
local MISSING = { missing = true }

--- The same as `ask(requests)`, behind a sync: no answer is older than this.
function questions.ask_now(ask, path, requests)
  local all = { { "sync", path } }
  for i, request in ipairs(requests) do all[i + 1] = request end
  local found, code, reason = ask(all)
  if not found then return nil, code, reason end
  local sync = table.remove(found, 1)
  if is_refused(sync, MISSING) then return nil, sync.code, sync.reason end
  return found
end

--- Calls a body, whose requests suspend the caller.
function questions.run(engine, body, ...)
  return body(function(...)
    local wait = questions.ask(engine, "ask", ...)
    if wait.code then return nil, wait.code, wait.reason end
    return wait.found
  end, ...)
end

local run = questions.run

--- The same for who does not wait: `callback` gets what it returns from step().
-- (Without a connection that is soon "disconnected".)  `scope`: the request
-- that it ends with, if there is one.  The body runs in a coroutine, which is
-- made anew, and asks again, if a hook raises in it.
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

-- What is wrong, for the messages.
local function failure(engine, code, reason)
  return { engine = engine, code = code, reason = reason }
end

--- Why a question has no answer, and why an order was not done: see
-- reasons.lua.
function questions.refuse(engine, code, reason, what, path)
  return reasons.of_question(failure(engine, code, reason), what, path)
end

function questions.refuse_order(engine, code, reason, what, path)
  return reasons.of_order(failure(engine, code, reason), what, path)
end

-- Single nodes.

-- The answer to one request; if there is none, with the code and reason of
-- that.
local function one(ask, request, each)
  local found, code, reason = ask({ request }, each)
  return found and found[1] or { code = code, reason = reason }
end

local function look(ask, path)
  local found, code, reason = questions.ask_now(ask, path,
    { { "exists", path } })
  return found and found[1] or { code = code, reason = reason }
end

-- (What has no owner is shown as persistent, be it a container or one with a
-- TTL: servers do not tell them apart.)
local function show(seen)
  return { kind = seen.session == "0x0" and "persistent" or "ephemeral",
    session = seen.session, created = seen.created, modified = seen.modified,
    children = seen.children, size = seen.size, version = seen.version }
end

-- A node; false: there is none.
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
  -- (All fields of an answer are of one moment.)
  node.data, node.size = read.data, read.size
  node.modified, node.version = read.modified, read.version
  return node
end

--- What is at a path, with its data if they are wanted; false: nothing.
function questions.stat(engine, path, with_data)
  local node, code, reason = run(engine, stat, path, with_data)
  if node ~= nil then return node end
  return questions.refuse(engine, code, reason, "what is at", path)
end

--- Is there a node? Also where this session may not look at it.
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

--- The names of all that is below a path, in order; and whether that exists.
function questions.children(engine, path)
  local names, exists, reason = run(engine, children, path)
  if names then return names, exists end
  return questions.refuse(engine, exists, reason, "what is below", path)
end

-- Writing. A server may apply a request late: what must not be done then is a
-- transaction, which is the core's.

local ANY_VERSION = -1
local OWNED = "a session owns that node, which goes with it"
local NO_PARENT = "there is no node above it"

-- So often other clients may create a node, and delete it again, in between.
local TRIES, STAMP_TRIES = 20, 5

local AGAIN = { missing = true, undone = true }

-- Creates a barrier's node: true; false: it was there.  (A session's node would
-- lift it when the session ends.  One that may not be looked at keeps its
-- waiters waiting as if it were set.)
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

--- Sets a barrier: true, and whether it was not set before.
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

--- Lifts it: true, and whether it was set.
function questions.lift(engine, path)
  local gone, code, reason = run(engine, lift, path)
  if gone ~= nil then return true, gone end
  return questions.refuse_order(engine, code, reason,
    "the lifting of the barrier", path)
end

-- write → create, if it is not there → write, if another client was quicker.
-- It is there mostly, and then one request does.  With the path of a lock's
-- node both are transactions that check that node: a request that a server
-- applies late, when another client holds the lock, changes nothing.
local function stamp(ask, path, data, node)
  local answer
  for _ = 1, STAMP_TRIES do
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
-- another node: only if that exists.
function questions.stamp(engine, path, data, node)
  local done, code, reason = run(engine, stamp, path, data, node)
  if done then return true end
  if code == "lost" then
    return refusal("lost", "%s was not stamped, because the node %s is gone",
      path, node)
  end
  return questions.refuse_order(engine, code, reason, "the stamp of", path)
end

return questions
