--- Questions: sends the requests of a session that do not belong to an
-- acquisition. Also contains the wait for the first connection, which precedes
-- every request.
--
-- The core sends requests about nodes (`core:ask`: src/io/ask.h has the
-- operations). A *body* is a function that decides which requests are sent, one
-- group after the other. It runs in a coroutine. In a body, `ask(requests,
-- each, all)` sends a group of requests together, and returns their answers in
-- order. An answer has the fields of a Stat, `names` or `data`. After an error,
-- it has `code` and `reason`. Some errors can be normal for a body. For these,
-- the answer also has `is`: "missing", "exists", "changed", "undone" or
-- "hidden".
--
-- The body ends if no server answers, or an answer is an error that it does not
-- expect. Its coroutine is not resumed. Its result is then nil, code and
-- reason.
local reasons = require "zklock.reasons"
local refusal = require "zklock.errors".refusal
local waits = require "zklock.wait"

local questions = {
  LARGEST = 1000000, -- bytes; zklock reads no larger data
}

--- Waits for the first connection, for `seconds` at most. Returns a wait. If
-- the session has connected and its listeners were called, the wait is done and
-- has no `code`. If the connection has failed, it has a `code`. After `seconds`
-- without either, it is not done.
function questions.await_opening(engine, seconds)
  local opening = waits.new(engine)
  opening.opening = true
  waits.limit(opening, seconds)
  local state = engine.state
  opening.code, opening.done = state.code, state.is.name ~= "opening"
  if not opening.done then
    waits.suspend(opening, engine.adapters:for_waiting())
  end
  return opening
end

-- Sends requests and waits for their answers; returns a wait that is done.
local function send(engine, ...)
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
  local wait = waits.new(engine, engine.core:ask(...))
  waits.suspend(wait, adapter, scope)
  return wait
end

-- In a body: sends requests, and returns their answers.
local ask = coroutine.yield
questions.send = ask

--- Ends the body with this error.
function questions.fail(code, reason) coroutine.yield(nil, code, reason) end

--- Returns the answer. If it is an error other than the `expected` ones, ends
-- the body, the function that has asked.
function questions.expect(answer, expected)
  if answer.code and not (expected and expected[answer.is]) then
    questions.fail(answer.code, answer.reason)
  end
  return answer
end

local expect, MISSING = questions.expect, { missing = true }
local HIDDEN = { missing = true, hidden = true }

--- Sends requests after a sync, so that their answers show all writes that were
-- committed before this call. Returns the answers.
function questions.ask_now(path, requests)
  local all = { { "sync", path } }
  for i, request in ipairs(requests) do all[i + 1] = request end
  local found = ask(all)
  expect(table.remove(found, 1), MISSING)
  return found
end

--- Runs `body(...)` in a coroutine, and returns its results. When the body
-- calls `ask`, the caller of run() is suspended until the answers arrive. If a
-- request fails, returns nil, code and reason.
function questions.run(engine, body, ...)
  engine.adapters:for_waiting() -- raises an error if no loop can wait
  local co = coroutine.create(body)
  local ok, one, two, three = coroutine.resume(co, ...)
  while ok and one and coroutine.status(co) == "suspended" do
    local wait = send(engine, one, two, three)
    if wait.code then return nil, wait.code, wait.reason end
    ok, one, two, three = coroutine.resume(co, wait.found)
  end
  if not ok then error(one, 0) end
  return one, two, three
end

--- Runs the function `body` in a coroutine, without suspending the caller.
-- step() later calls `callback` with its results. Without a connection, a step
-- soon calls `callback(nil, "disconnected")`. `scope`: an nginx request, or
-- nil; the query is cancelled when the request ends. A debug hook can raise an
-- error inside `body`, and an error ends a coroutine. If this happens in a
-- step(), the next step() restarts `body` in a new coroutine.
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
    resume(coroutine.create(body), path, mode)
  end

  function resume(co, ...)
    local ok, one, two, three = coroutine.resume(co, ...)
    if not ok then error(one, 0) end
    if not one or coroutine.status(co) == "dead" then
      return callback(one, two, three)
    end
    local number = engine.core:ask(one, two, three)
    local wait = waits.new(engine, number)
    asked = { co = co, wait = waits.listen(wait, scope, go_on) }
  end

  resume(coroutine.create(body), path, mode)
end

-- Returns a function that runs `body`, a function that sends requests, and
-- returns the results of `body`. If a request fails, it returns an error.
-- `refuse`, a function of reasons.lua, makes the error from the failure.
local function answered(refuse)
  return function(engine, what, body, path, ...)
    local one, two, three = questions.run(engine, body, path, ...)
    if one == nil then
      return refuse({ engine = engine, code = two, reason = three }, what, path)
    elseif two == nil then
      return one
    end
    return one, two
  end
end

--- query(engine, what, body, path, ...) runs `body`, a function that only reads
-- nodes. `what`: a part of the error message, such as "who holds"; zklock
-- appends the path.
questions.query = answered(reasons.of_question)

--- order(engine, what, body, path, ...) runs `body`, a function that writes
-- nodes. `what`: a part of the error message, such as "the write to"; zklock
-- appends the path.
questions.order = answered(reasons.of_order)

local query, order = questions.query, questions.order

-- Single nodes.

local function one(request, each) return ask({ request }, each)[1] end

local function look(path)
  return questions.ask_now(path, { { "exists", path } })[1]
end

-- Returns the Stat of a node, or an answer without one if it does not exist.
local function find(path) return expect(look(path), MISSING) end

--- Reads a node, but not its data. Returns an answer with the node's token;
-- without one if the node does not exist. On failure, returns nil, code and
-- reason.
function questions.read(engine, path)
  return questions.run(engine, function()
    return expect(questions.ask_now(path, { { "get", path } })[1], MISSING)
  end)
end

-- Returns a node as users see it. A node that no session owns is shown as
-- persistent. It may be a container or a TTL node, but its Stat does not show
-- this.
local function show(seen)
  return { kind = seen.session == "0x0" and "persistent" or "ephemeral",
    session = seen.session, created = seen.created, modified = seen.modified,
    children = seen.children, size = seen.size, version = seen.version }
end

-- Reads a node; returns false if it does not exist.
local function stat(path, with_data)
  local seen = find(path)
  if seen.code then return false end
  local node = show(seen)
  if not with_data or seen.size > questions.LARGEST then return node end
  local read = expect(one({ "get", path, nil, seen.size }, questions.LARGEST),
    HIDDEN)
  if read.code then return read.is == "hidden" and node end
  -- The data came with a newer Stat. These fields are taken from that Stat,
  -- too: they must belong to the same version of the node.
  node.data, node.size = read.data, read.size
  node.modified, node.version = read.modified, read.version
  return node
end

--- Reads the node at a path, with its data if requested.  Returns false if the
-- node does not exist.
function questions.stat(engine, path, with_data)
  return query(engine, "what is at", stat, path, with_data)
end

--- Returns whether the node exists, even if this session may not read the node.
function questions.exists(engine, path)
  return query(engine, "what is at", function()
    return expect(look(path), HIDDEN).is ~= "missing"
  end, path)
end

local function children(path)
  local seen = find(path)
  if not seen.code and seen.children == 0 then return {}, true end
  local list = seen.code and seen
    or expect(one { "list", path, nil, seen.children }, MISSING)
  return list.names or {}, not list.code
end

--- Returns the sorted names of the nodes below a path, and whether the path
-- exists.
function questions.children(engine, path)
  return query(engine, "what is below", children, path)
end

-- Writing. A server may apply a request late, after the call has failed. If a
-- write must not be applied late, the C core sends it as a transaction.

local ANY_VERSION = -1
local OWNED = "a session owns that node, and its end deletes it"
local NO_PARENT = "there is no node above it"

-- The maximum numbers of tries, if other clients create or delete the node
-- between two requests of zklock.
local TRIES, WRITE_TRIES = 20, 5

local AGAIN = { missing = true, undone = true }

-- Creates a barrier's node. Returns true, and whether it has created the node;
-- false if the node exists. If a session owns the existing node, that is an
-- error, because the session's end would lift the barrier. A node that this
-- session may not read counts as a set barrier, because waiters wait for its
-- deletion.
local function set(path, data)
  for _ = 1, TRIES do
    local answer = one { "create-once", path, data }
    if not answer.code then return true, true end
    if answer.is == "missing" then
      answer = one { "mkdir", path:match "^(.+)/" or "/" }
      if answer.is == "missing" then break end
    elseif answer.is == "exists" then
      answer = one { "exists", path }
      if answer.is == "hidden" or answer.session == "0x0" then
        return true, false
      end
      if answer.session then questions.fail("invalid", OWNED) end
    end
    expect(answer, AGAIN)
  end
  questions.fail("invalid", NO_PARENT)
end

--- Sets a barrier. Returns true, and whether this call has set it; false if it
-- was already set.
function questions.set(engine, path)
  return order(engine, "the barrier", set, path, engine.data)
end

local function lift(path)
  local answer
  for _ = 1, TRIES do
    answer = one { "delete-once", path }
    if answer.is ~= "undone" then break end
  end
  return true, not expect(answer, MISSING).code
end

--- Lifts a barrier. Returns true, and whether the barrier was set before.
function questions.lift(engine, path)
  return order(engine, "the lifting of the barrier", lift, path)
end

-- Writes the node; if it is missing, creates it. If another client creates or
-- deletes it in between, tries again. Usually the node exists, and one request
-- is enough. `node`: the path of a lock's node, or nil. If given, each write is
-- a transaction that also checks that this node exists. So if a server applies
-- a write late, when another client holds the lock, the write changes nothing.
-- Returns false if the node `node` is gone.
local function touch(path, data, node)
  local answer
  for _ = 1, WRITE_TRIES do
    answer = one { "set", path, data, ANY_VERSION, node }
    if answer.is ~= "missing" then break end
    answer = one { "create", path, data, nil, node }
    if answer.is == "missing" then questions.fail("invalid", NO_PARENT) end
    if answer.is ~= "exists" then break end
  end
  if answer.is == "undone" then return false end
  if (expect(answer).session or "0x0") ~= "0x0" then
    questions.fail("invalid", OWNED)
  end
  return true
end

--- Creates a persistent node, or overwrites it. If `node` is given, does so
-- only if the node at this path exists.
function questions.touch(engine, path, data, node)
  local done, message, code = order(engine, "the write to", touch, path, data,
    node)
  if done then return true end
  if done == nil then return nil, message, code end
  return refusal("lost", "%s was not written, because the node %s is gone",
    path, node)
end

return questions
