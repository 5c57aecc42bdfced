--- Observer: calls a function of the user with the current leader of an
-- election, and again at each change.
--
--     asking ──► telling ──► watching ──► asking …
--
--   asking    requests the leader from a server
--   telling   calls fn after a change of the leader; goes on when fn returns
--   watching  waits until the leader's node is deleted; without a leader, until
--             the number of contenders changes, or the path is created
--
-- A *turn* is one question or one wait, with the work that its result causes.
-- `self.turn` is the current turn, or false when the observer has ended. If a
-- debug hook raises an error, the result of a turn can be delivered again. So
-- the last act of each turn is to set `self.turn` to the next turn.
local protect = require "zklock.protect"
local reasons = require "zklock.reasons"
local surveys = require "zklock.survey"
local ticket_of = require "zklock.ticket"
local node_waits = require "zklock.node_waits"
local waits = require "zklock.wait"

-- Stands for an unknown number of contenders; no directory has this number. So
-- a wait until the number of contenders differs from ANY ends with the first
-- answer of a server.
local ANY = -1

local asked, watched

local function ask(self)
  local turn = { item = false, call = false, telling = false }
  self.wait = false -- a query cannot be cancelled
  surveys.begin_leader(self.engine, self.scope, self.path, self.modes,
    function(...) asked(self, turn, ...) end)
  self.turn = turn
end

-- Ends the observer: calls fn with the error, as its last call.
local function fail(self, turn, code, reason)
  local _, message, word = reasons.of_question({ engine = self.engine,
    code = code, reason = reason }, "who leads", self.path)
  turn.last = turn.last or { fn = self.fn, scope = self.scope }
  self.engine.events:call(turn.last, nil, message, word)
  self.turn = false
end

-- Returns a new wait for the next possible change of the leader. With a leader,
-- waits until its node is deleted. Without one, waits until the number of
-- contenders changes. Without the path, waits until the path is created.
local function node_wait_of(self, turn)
  local engine, scope, path = self.engine, self.scope, self.path
  if turn.node then
    return node_waits.prepare(engine, scope, "gone", path .. "/" .. turn.node)
  elseif turn.count then
    return node_waits.prepare(engine, scope, "crowd", path, nil, turn.count)
  end
  return node_waits.prepare(engine, scope, "there", path)
end

local function watch(self, turn)
  if self.turn ~= turn then return end
  if self.engine.state.is.closed then return fail(self, turn, "closed") end
  local watching = {}
  self.wait = waits.listen(node_wait_of(self, turn), self.scope, function(wait)
    watched(self, watching, wait)
  end)
  self.turn = watching
end

function watched(self, turn, wait)
  if self.turn ~= turn then return end
  if not wait.code then return ask(self) end
  fail(self, turn, wait.code, wait.reason)
end

-- The cleanup handler (protect.lua) of a call of fn. While fn waits, another
-- step() can deliver the same turn again, but fn must not be called twice. So
-- `turn.telling` is true until fn has ended; then the handler sets it to false.
local Telling = protect.class()

function Telling:finish() self.turn.telling = false end

local function call(self, turn)
  turn.telling = true
  self.engine.callbacks:call(turn.call, turn.leader or nil)
end

-- Returns the mark of a leader, which identifies it. The mark is the token, or
-- the node's name if the session may not read the token.
local function mark_of(leader, node)
  return leader and (leader.token or node)
end

local function tell(self, turn)
  if turn.telling then return end
  self.mark = mark_of(turn.leader, turn.node)
  protect.call(true, setmetatable({ turn = turn }, Telling), call, self, turn)
  watch(self, turn)
end

-- Stores the servers' answer in the turn. If the leader has changed, also
-- prepares the call of fn: `turn.item` runs tell(), which calls fn.
local function see(self, turn, contenders, count)
  local leader, node = surveys.leader_of(contenders, self.modes)
  turn.leader, turn.node = leader, leader and node
  turn.count = not leader and count
  if mark_of(leader, node) == self.mark then return end
  turn.call = { fn = self.fn, scope = self.scope }
  turn.item = { fn = function() tell(self, turn) end, scope = self.scope }
end

-- Continues the turn with the servers' answer. If the leader has changed, calls
-- fn; then watches for the next change. If `contenders` is nil, `count` is the
-- code of an error.
function asked(self, turn, contenders, count, reason)
  if self.turn ~= turn then return end
  if not contenders and count == "disconnected" then
    turn.count = ANY
    return watch(self, turn)
  elseif not contenders then
    return fail(self, turn, count, reason)
  end
  if not turn.item then see(self, turn, contenders, count) end
  if not turn.item then return watch(self, turn) end
  if turn.item.fn then return self.engine.events:call(turn.item) end
  tell(self, turn) -- repeats an interrupted report
end

-- Makes a ticket. Its cancel() ends the observer, so fn is not called again.
local new_ticket = ticket_of(function(self)
  self.turn = false
  if self.wait then waits.cancel(self.wait) end
end)

return {
  --- Begins to observe, and returns a ticket at once.  Calls `fn(leader)` now
  -- and at each change, with nil if there is no leader.  An error ends the
  -- observer with `fn(nil, message, code)`; cancel() ends it without a call.
  -- `modes`: the modes in which a holder leads.
  begin = function(engine, path, modes, fn)
    local self = {
      engine = engine,
      path = path,
      modes = modes,
      fn = fn,
      scope = engine.adapters:scope(),
      mark = nil, -- identifies the last reported leader (mark_of)
      turn = false,
      wait = false, -- the current wait for a change
    }
    local ticket = new_ticket(self)
    ask(self)
    return ticket
  end,
}
