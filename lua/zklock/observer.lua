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
-- `self.turn` is an object that stands for the current question, call or wait;
-- false when the observer has ended. If a debug hook raises an error, or fn
-- waits, a result can be delivered again. By then it belongs to an earlier turn
-- and is ignored.
local reasons = require "zklock.reasons"
local surveys = require "zklock.survey"
local new_ticket = require "zklock.ticket"
local node_waits = require "zklock.node_waits"
local waits = require "zklock.wait"

local Observer = {}
Observer.__index = Observer

-- Stands for an unknown number of contenders; no directory has this number. So
-- a wait until the number of contenders differs from ANY ends with the first
-- answer of a server.
local ANY = -1

-- Ends the observer: calls fn with the error, as its last call.
local function fail(self, code, reason)
  local _, message, word = reasons.of_question({ engine = self.engine,
    code = code, reason = reason }, "who leads", self.path)
  self.turn = false
  self.engine.events:call({ fn = self.fn, scope = self.scope }, nil, message,
    word)
end

local ask

-- Waits for the next possible change of the leader. `node`: the name of the
-- leader's node; the wait ends when it is deleted. Without a leader, it ends
-- when the number of contenders differs from `count`. If the path does not
-- exist, `count` is false, and the wait ends when the path is created.
local function watch(self, node, count)
  local turn, engine, what, at = {}, self.engine, "there", self.path
  if engine.state.is.closed then return fail(self, "closed") end
  if node then
    what, at = "gone", at .. "/" .. node
  elseif count then
    what = "crowd"
  end
  local wait = node_waits.prepare(engine, self.scope, what, at, nil,
    count or nil)
  self.wait = waits.listen(wait, self.scope, function()
    if self.turn ~= turn then return end
    if wait.code then return fail(self, wait.code, wait.reason) end
    ask(self)
  end)
  self.turn = turn
end

-- Calls fn with the leader, and then watches for the next change.
local function tell(self, leader, node, count)
  local turn, callbacks = {}, self.engine.callbacks
  self.turn = turn
  local ok, problem = pcall(callbacks.call, callbacks,
    { fn = self.fn, scope = self.scope }, leader or nil)
  if self.turn == turn then watch(self, node, count) end
  if not ok then error(problem, 0) end
end

-- Continues with the servers' answer. If the leader has changed, calls fn; then
-- watches for the next change. If `contenders` is nil, `count` is the code of
-- an error.
local function on_answer(self, turn, contenders, count, reason)
  if not contenders and count == "disconnected" then
    return watch(self, nil, ANY)
  elseif not contenders then
    return fail(self, count, reason)
  end
  local leader, node = surveys.leader_of(contenders, self.modes)
  -- If the session may not read the token, the node's name identifies the
  -- leader.
  local mark = leader and (leader.token or node)
  if mark == self.mark then return watch(self, node, count) end
  self.engine.events:call { scope = self.scope, fn = function()
    if self.turn ~= turn then return end
    self.mark = mark
    tell(self, leader, node, count)
  end }
end

function ask(self)
  local turn = {}
  self.wait = false -- a query cannot be cancelled
  surveys.begin_leader(self.engine, self.scope, self.path, self.modes,
    function(...)
      if self.turn == turn then on_answer(self, turn, ...) end
    end)
  self.turn = turn
end

-- Ends the observer, so that fn is not called again.
function Observer:cancel()
  self.turn = false
  if self.wait then self.wait:cancel() end
end

return {
  --- Begins to observe, and returns a ticket at once.  Calls `fn(leader)` now
  -- and at each change, with nil if there is no leader.  An error ends the
  -- observer with `fn(nil, message, code)`; cancel() ends it without a call.
  -- `modes`: the modes in which a holder leads.
  begin = function(engine, path, modes, fn)
    local self = setmetatable({
      engine = engine,
      path = path,
      modes = modes,
      fn = fn,
      scope = engine.adapters:scope(),
      mark = nil, -- identifies the last reported leader
      turn = false,
      wait = false, -- the current wait for a change
    }, Observer)
    local ticket = new_ticket(self)
    ask(self)
    return ticket
  end,
}
