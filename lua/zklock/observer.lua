--- Observer: tells a callback who leads, and again at each change.
--
--     asking ──► telling ──► watching ──► asking …
--
--   asking    who leads
--   telling   it is another one: fn hears so, and is called again only when it
--             has returned
--   watching  the leader's node; where nobody leads, how many contend, or that
--             the path comes to be
--
-- Each is a turn, `self.turn`, which is false when all is over.  What ends a
-- turn may be told twice, if a hook has raised meanwhile: the last thing that
-- it does is to begin the next one.
local protect = require "zklock.protect"
local reasons = require "zklock.reasons"
local surveys = require "zklock.survey"
local ticket_of = require "zklock.ticket"
local vigils = require "zklock.vigils"
local waits = require "zklock.wait"

-- What no directory has: the first answer of a server is another one.
local ANY = -1

local asked, watched

local function ask(self)
  local turn = { item = false, call = false, telling = false }
  self.wait = false -- a question is not cancelled
  surveys.begin_leader(self.engine, self.scope, self.path, self.modes,
    function(...) asked(self, turn, ...) end)
  self.turn = turn
end

-- For the last time.
local function fail(self, turn, code, reason)
  local _, message, word = reasons.of_question({ engine = self.engine,
    code = code, reason = reason }, "who leads", self.path)
  turn.last = turn.last or { fn = self.fn, scope = self.scope }
  self.engine.events:call(turn.last, nil, message, word)
  self.turn = false
end

-- That of a turn which has seen so much.
local function vigil_of(self, turn)
  local engine, scope, path = self.engine, self.scope, self.path
  if turn.node then
    return vigils.prepare(engine, scope, "gone", path .. "/" .. turn.node)
  elseif turn.count then
    return vigils.prepare(engine, scope, "crowd", path, nil, turn.count)
  end
  return vigils.prepare(engine, scope, "there", path)
end

local function watch(self, turn)
  if self.turn ~= turn then return end
  if self.engine.state.is.closed then return fail(self, turn, "closed") end
  local watching = {}
  self.wait = waits.listen(vigil_of(self, turn), self.scope, function(wait)
    watched(self, watching, wait)
  end)
  self.turn = watching
end

function watched(self, turn, wait)
  if self.turn ~= turn then return end
  if not wait.code then return ask(self) end
  fail(self, turn, wait.code, wait.reason)
end

-- While fn waits, another step() may come here.
local Telling = protect.class()

function Telling:finish() self.turn.telling = false end

local function call(self, turn)
  turn.telling = true
  self.engine.callbacks:call(turn.call, turn.leader or nil)
end

-- Tells one leader from another: by its node's name where that is hidden.
local function mark_of(leader, node)
  return leader and (leader.token or node)
end

local function tell(self, turn)
  if turn.telling then return end
  self.mark = mark_of(turn.leader, turn.node)
  protect.call(true, setmetatable({ turn = turn }, Telling), call, self, turn)
  watch(self, turn)
end

-- What is seen of the servers' answer.
local function see(self, turn, contenders, count)
  local leader, node = surveys.leader_of(contenders, self.modes)
  turn.leader, turn.node = leader, leader and node
  turn.count = not leader and count
  if mark_of(leader, node) == self.mark then return end
  turn.call = { fn = self.fn, scope = self.scope }
  turn.item = { fn = function() tell(self, turn) end, scope = self.scope }
end

-- (In place of `count` a code, if there are no contenders to see.)
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
  tell(self, turn) -- as far as that has not been done
end

-- fn hears of nothing any more.
local new_ticket = ticket_of(function(self)
  self.turn = false
  if self.wait then waits.cancel(self.wait) end
end)

return {
  --- Begins, and returns at once: a ticket.  `fn(leader)`, or nil where nobody
  -- leads; at last `fn(nil, message, code)`, unless it is cancelled.  `modes`:
  -- those in which a node's owner leads.
  begin = function(engine, path, modes, fn)
    local self = {
      engine = engine,
      path = path,
      modes = modes,
      fn = fn,
      scope = engine.adapters:scope(),
      token = nil, -- the leader's that was told last; false: of nobody
      turn = false,
      wait = false, -- for what is watched
    }
    local ticket = new_ticket(self)
    ask(self)
    return ticket
  end,
}
