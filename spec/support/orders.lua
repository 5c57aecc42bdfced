--- Every order in which the parts of a multi may be granted, refused and lost,
-- under the real Lua layer and a scripted core.
--
-- A world is one acquisition of a multi and all that befalls it. At each point
-- it says what may happen next and asks `choose` for one of those; explore()
-- runs it again and again until every sequence of answers was given.
local scripted = require "support.scripted_core"

local orders = {}

--- Calls `run(choose)` for every sequence of choices: how many there were.
function orders.explore(run)
  local prefix, runs = {}, 0
  while true do
    local taken, widths = {}, {}
    run(function(width)
      local i = #taken + 1
      taken[i], widths[i] = prefix[i] or 1, width
      return taken[i]
    end)
    runs = runs + 1
    local last = #taken
    while last > 0 and taken[last] == widths[last] do last = last - 1 end
    if last == 0 then return runs end
    prefix = {}
    for i = 1, last do prefix[i] = taken[i] end
    prefix[last] = prefix[last] + 1
  end
end

local World = {}
World.__index = World

local TIMEOUT = 60
local KILLED = "killed"
local RAISED = "raised by a callback"

-- Where yields do not cross pcall, a wait that does not block ends by itself
-- only when it is collected.
local can_kill = rawget(_G, "jit") ~= nil or _VERSION ~= "Lua 5.1"

function World:violation(format, ...)
  local deeds = {}
  for i, deed in ipairs(self.trace) do
    local what = deed[2] and (deed[2].path or deed[2].what)
    deeds[i] = table.concat({ deed[1], what, deed[3] }, " ")
  end
  error(("%s %s of %s: %s, after: %s"):format(self.case.way, self.case.verb,
    self.case.list, format:format(...), table.concat(deeds, ", ")), 0)
end

function World:expect(condition, format, ...)
  if not condition then self:violation(format, ...) end
end

-- What the user does.

local function new_adapter(self)
  return {
    wait = function(w)
      local task, is_main = coroutine.running()
      if task == nil or is_main then return self:block() end
      w.task = task
      self.parked[task] = w
      if coroutine.yield() == KILLED then error(KILLED, 0) end
    end,
    wake = function(w)
      if w.task and self.parked[w.task] == w then
        self.ready[#self.ready + 1] = w.task
      end
    end,
    arm = function() self.armed = self.armed + 1 end,
    disarm = function() self.armed = self.armed - 1 end,
  }
end

local function log(self)
  return function(level, message)
    if message:find "^the hold of /%w+ was lost: " then
      return
    elseif message:find(RAISED, 1, true) then
      self.raised = self.raised + 1
    else
      self:note("the log says %s: %s", level, message)
    end
  end
end

-- An error that the library would catch: it comes out at the next check.
function World:note(format, ...)
  self.problem = self.problem or format:format(...)
end

-- A lock of each name; "b*" is a semaphore, "b!" both sides of a rwlock.
local function make_locks(session, list)
  local locks = {}
  for name, mark in list:gmatch "(%a+)([*!]?)" do
    local path = "/" .. name
    if mark == "!" then
      local side = session:rwlock(path)
      locks[#locks + 1] = side.read
      locks[#locks + 1] = side.write
    else
      locks[#locks + 1] = mark == "*" and session:semaphore(path, 3)
        or session:mutex(path)
    end
  end
  return locks
end

-- The claims that a multi of `list` is to make, in order: their paths.
local known_paths = {}

local function expected_paths(list)
  if known_paths[list] then return known_paths[list] end
  local paths, seen = {}, {}
  for name, mark in list:gmatch "(%a+)([*!]?)" do
    if not seen[name] then
      seen[name] = true
      for _ = 1, mark == "!" and 2 or 1 do paths[#paths + 1] = "/" .. name end
    end
  end
  table.sort(paths)
  known_paths[list] = paths
  return paths
end

function World:options_of_call()
  local case = self.case
  if case.verb == "try_acquire" then return { owner = case.owner } end
  return { timeout = case.timeout, owner = case.owner }
end

-- What was asked for is here, or it was refused.
function World:answer(guard, message, code)
  self.answers = self.answers + 1
  if self.answers > 1 then self:note "a second answer" end
  self.awaited = false
  if guard then
    self.guard = guard
    self:check_grant()
    guard:on_lost(function() error(RAISED) end)
    guard:on_lost(function(mine, why) self:hear_of_loss(mine, why) end)
    guard:on_revoke(function()
      self.revocations = self.revocations + 1
      error(RAISED)
    end)
  else
    self.over = true
    self:check_refusal(message, code)
  end
end

function World:hear_of_loss(guard, code)
  self.told = self.told + 1
  if guard ~= self.guard then self:note "on_lost names another guard" end
  if code ~= self.first_loss then
    self:note("on_lost says %s, the core %s", tostring(code),
      tostring(self.first_loss))
  end
  if guard:is_held() then self:note "lost, and held" end
end

-- In with_lock: what happens until fn returns, or raises.
function World:inside(guard)
  self:answer(guard)
  self.within = true
  while self:act() ~= "leave" do end
  self.within, self.over = false, true
  self.sound = self:all_held() and not self.script.core.closed
  if self.raise then error(RAISED, 0) end
  return "result"
end

function World:call()
  local verb, multi = self.case.verb, self.multi
  if verb ~= "with_lock" then
    self:answer(multi[verb](multi, self:options_of_call()))
    return
  end
  local ok, message, code, result = multi:with_lock(function(guard)
    return self:inside(guard)
  end, self:options_of_call())
  if not self.guard then
    self:answer(ok, message, code)
  elseif ok then
    if message ~= "result" then self:note "with_lock lost the result" end
    if not self.sound and not self.closed then
      self:note "with_lock does not say that the hold was lost"
    end
  else
    if code ~= "lost" or result ~= "result" or self.sound then
      self:note("with_lock says %s", tostring(code))
    end
  end
end

-- An error that ends the task, or the call of the main chunk.
function World:ended_by(problem)
  self.over = true
  -- (What could not wait where that raised was left to a turn of the loop.)
  if self.case.way == "task" and not self.engine.state.is.closed then
    self.session:step()
  end
  if problem == KILLED and self.killed then
    self.awaited, self.confirming = false, false
  elseif not (problem == RAISED and self.raise) then
    self:note("the call raised %s", tostring(problem))
  end
end

function World:resume(task, ...)
  self.parked[task] = nil
  local ok, problem = coroutine.resume(task, ...)
  if not ok then self:ended_by(problem) end
end

function World:begin()
  self.awaited = true
  if self.case.way == "main" then
    local ok, problem = pcall(self.call, self)
    if not ok then
      if self.failed then error(problem, 0) end
      self:ended_by(problem)
    end
  elseif self.case.way == "task" then
    self.task = coroutine.create(function() self:call() end)
    self:resume(self.task)
  else
    self.ticket = self.multi:acquire_async(self:options_of_call(),
      function(...)
        self:answer(...)
        error(RAISED)
      end)
  end
end

-- What may happen.

function World:all_held()
  for _, claim in ipairs(self.script.claims) do
    if not self.script:is_held(claim) then return false end
  end
  return true
end

local deeds = {}

function deeds:obey() self.script:obey() end
function deeds:grant(claim) self.script:grant(claim) end
function deeds:remove(claim) self.script:remove(claim) end
function deeds:lose(claim) self.script:lose(claim, "deleted") end
function deeds:expire() self.script:expire() end
function deeds:end_lease() self.script.lease_until = self.script.clock end
function deeds:revoke()
  for _, claim in ipairs(self.script.claims) do
    if claim.state == "held" then self.script:revoke(claim) end
  end
end

function deeds:refuse(claim, verdict)
  self.refused = self.refused or claim
  self.script:refuse(claim, verdict, "its reason")
end

function deeds:wait_long()
  self.late = true
  self.script.clock = self.script.clock + 2 * TIMEOUT
end

function deeds:hear()
  if not self.blocked then self.session:step() end
end

function deeds:resume()
  self:resume(table.remove(self.ready, 1))
end

-- Who blocks in the main chunk can do something else in a callback only.
local function by_user(self, fn)
  if not self.blocked then return fn() end
  self.in_event = fn
  self.script:enter "suspended"
  self.script:enter "connected"
end

function deeds:cancel()
  by_user(self, function()
    self.cancelled = #self.script.claims
    self.multi:cancel()
  end)
end

function deeds:cancel_ticket()
  self.cancelled = #self.script.claims
  self.ticket:cancel()
end

function deeds:close()
  by_user(self, function()
    self.closed = true
    self.session:close()
  end)
end

-- What is to wake the task finds nobody.
local function mark_killed(self)
  self.killed, self.ready = true, {}
end

function deeds:kill()
  mark_killed(self)
  if self.blocked then
    self.blocked = false
    error(KILLED, 0)
  end
  self:resume(self.task, KILLED)
end

function deeds:close_task()
  mark_killed(self)
  self.parked[self.task] = nil
  coroutine.close(self.task)
  self:ended_by(KILLED)
end

function deeds:leave() end

function deeds:leave_raising() self.raise = true end

function World:check_release(sound, ok, code)
  if not self.closed and sound ~= (ok and true or false) then
    self:note("release says %s", tostring(ok or code))
  elseif not ok and code ~= "lost" and not self.closed then
    self:note("release says %s", tostring(code))
  end
end

function deeds:release()
  self.over = true
  local sound = self:all_held()
  local ok, _, code = self.guard:release()
  self:check_release(sound, ok, code)
end

-- A task of its own waits for the confirmation.
function deeds:release_and_wait()
  self.over = true
  local sound = self:all_held()
  self.task = coroutine.create(function()
    self.confirming = true
    local ok, _, code = self.guard:release { wait = true }
    self.confirming = false
    if sound then
      for _, claim in ipairs(self.script.claims) do
        if claim.state == "lost" then sound = false end
        if ok and claim.joined then self:note "it was not confirmed" end
      end
    end
    if self.closed and self.unconfirmed then
      if ok or code ~= "closed" then
        self:note("release says %s", tostring(ok or code))
      end
    else
      self:check_release(sound, ok, code)
    end
  end)
  self:resume(self.task)
end

-- A release alone cannot be overtaken by anything: it is decided in Lua.
local function only_releases(commands)
  for _, message in ipairs(commands) do
    if message.kind ~= "release" then return false end
  end
  return true
end

local function add(options, ...) options[#options + 1] = { ... } end

-- (Where more goes wrong one code stands for those that are treated alike.)
local function add_refusals(self, options, claim)
  add(options, "refuse", claim, "auth")
  if self.case.budget == 1 then
    add(options, "refuse", claim, "disconnected")
    add(options, "refuse", claim, "invalid")
  end
  if not claim.patient then add(options, "refuse", claim, "busy") end
end

-- A lock is granted to one of this session's claims at a time.
local function is_free(script, claim)
  if claim.writer_token or claim.kind == "permit" then return true end
  for _, other in ipairs(script.claims) do
    if other.path == claim.path
        and (other.state == "held" or other.leaving) then
      return false
    end
  end
  return true
end

-- What the servers may do.
function World:harms(options)
  local script, holds, waits = self.script, false, false
  for _, claim in ipairs(script.claims) do
    if claim.state == "waiting" and claim.joined then
      waits = true
      add_refusals(self, options, claim)
    elseif claim.state == "held" then
      holds = true
      add(options, "lose", claim)
    end
  end
  if holds or waits then add(options, "expire") end
  if holds and script.lease_until == math.huge then
    add(options, "end_lease")
  end
  if self.guard and not self.over and holds then add(options, "revoke") end
end

-- What the user may do who waits, or somebody else.
function World:interruptions(options)
  if self.awaited and not self.closed then
    if not self.cancelled then add(options, "cancel") end
    if self.ticket and not self.cancelled then add(options, "cancel_ticket") end
    if self.case.timeout and not self.late then add(options, "wait_long") end
  end
  if not self.closed and not self.within and not self.in_event then
    add(options, "close")
  end
end

function World:murders(options)
  local task = not self.blocked and can_kill and self.task
  if self.blocked and self.awaited and not self.closed then
    add(options, "kill")
  end
  if task and self.parked[task] and (self.awaited or self.confirming) then
    add(options, "kill")
    if coroutine.close and self.case.budget == 1 then
      add(options, "close_task")
    end
  end
end

-- What the holder may do.
function World:ends(options)
  if self.within then
    add(options, "leave")
    add(options, "leave_raising")
  elseif self.guard and not self.over then
    add(options, "release")
    if self.case.way == "task" then add(options, "release_and_wait") end
  end
end

-- What was posted arrives.
function World:turns()
  local script, options = self.script, {}
  if script:is_asked() then add(options, "obey") end
  if script:has_news() and not self.engine.state.is.left then
    add(options, "hear")
  end
  if self.ready[1] and not self.within then add(options, "resume") end
  return options
end

function World:options()
  local script, options = self.script, self:turns()
  for _, claim in ipairs(script.claims) do
    if claim.state == "waiting" and claim.joined then
      if is_free(script, claim) then add(options, "grant", claim) end
      if script.clock >= claim.deadline then
        add(options, "refuse", claim, claim.patient and "timeout"
          or "disconnected")
      end
    elseif claim.leaving and claim.report then
      add(options, "remove", claim)
    end
  end
  self:ends(options)
  self.progress = #options
  if self.budget > 0 and (not self.over or self.confirming) then
    self:harms(options)
    self:interruptions(options)
    self:murders(options)
  end
  return options
end

function World:auto()
  local script = self.script
  if script:is_asked() and only_releases(script.core.commands) then
    script:obey()
  end
  for _, claim in ipairs(script.claims) do
    if claim.leaving and not claim.report then script:remove(claim) end
  end
end

--- One thing happens: its name; nil if nothing can.
function World:act()
  self:auto()
  local options = self:options()
  if #options == 0 then return nil end
  local pick = #options == 1 and 1 or self.choose(#options)
  local deed = options[pick]
  if pick > self.progress then self.budget = self.budget - 1 end
  self.trace[#self.trace + 1] = deed
  if #self.trace > 99 then self:violation "there is no end" end
  deeds[deed[1]](self, deed[2], deed[3])
  self:check()
  return deed[1] == "leave_raising" and "leave" or deed[1]
end

-- The main chunk blocks, until there is news.
function World:block()
  local outer = self.blocked
  self.blocked = true
  repeat
    local name = self:act()
    if not name then
      self.failed = true
      self:violation "nobody will ever wake it"
    end
  until name == "hear"
  self.blocked = outer
end

-- What must be true.

function World:check_grant()
  local script, paths = self.script, expected_paths(self.case.list)
  if #script.claims ~= #paths then self:note "a guard without all parts" end
  if script.core.closed then self:note "a guard of a closed session" end
  if not self:all_held() then self:note "a guard, and a part is not held" end
  local guard, nodes = self.guard, {}
  local tokens = guard:tokens()
  for i, claim in ipairs(script.claims) do
    local token = ("%019d"):format(claim.token)
    local part = tokens[claim.path]
    if part.token ~= token then self:note "a wrong token" end
    if part.turn ~= 0 then self:note "a wrong turn" end
    nodes[i] = claim.path .. (claim.kind == "permit" and "/leases/" or "/")
      .. claim.node
  end
  if guard.node ~= table.concat(nodes, ",") then self:note "wrong nodes" end
  if self.cancelled and self.cancelled < #paths then
    self:note "it was cancelled, and granted"
  end
end

-- The holds that have ended: their paths.
local function lost_paths(self)
  local paths = {}
  for _, claim in ipairs(self.script.claims) do
    if claim.granted and (claim.state == "lost"
        or not self.script:stands(claim)) then
      paths[#paths + 1] = claim.path
    end
  end
  return paths
end

local function names_one(message, paths)
  for _, path in ipairs(paths) do
    if (message .. " "):find(path .. "[%s:,]") then return true end
  end
end

local patterns = {
  timeout = "^zklock: timed out after %g s waiting for ",
  busy = "^zklock: .* is taken$",
  cancelled = "^zklock: the wait for .* was cancelled$",
  closed = "^zklock: the session was closed while waiting for ",
  lost = "^zklock: the hold of .* was lost",
  disconnected = "^zklock: no server of host:1 answered",
  auth = "^zklock: ZooKeeper refused a node under .*: its reason ",
  invalid = "^zklock: ZooKeeper cannot make a lock at .*: its reason$",
}

-- The claim that failed, and the code that its user is to hear.
function World:failure()
  local claims = self.script.claims
  local last = claims[#claims]
  if last.state == "refused" then
    local code = last.verdict
    if code == "busy" and self.case.verb ~= "try_acquire" then
      code = "timeout"
    elseif code == "cancelled" and not self.cancelled then
      return nil -- by ourselves: a part was lost
    end
    return last, code
  end
end

-- Nothing was refused by the core.
function World:check_justified(message, code, closed, lost)
  local justified = code == "closed" and closed
    or code == "cancelled" and self.cancelled
    or code == "lost" and lost[1] and not closed
  if not justified then self:note("%s, and nothing has failed", code) end
  if code == "lost" and not names_one(message, lost) then
    self:note("%s does not name what was lost", message)
  end
end

function World:check_refusal(message, code)
  local pattern = patterns[code]
  if not pattern then
    return self:note("the code is %s: %s", tostring(code), tostring(message))
  end
  if not message:match(pattern:format(self.case.timeout or 0)) then
    self:note("%s: %s", code, message)
  end
  local part, why = self:failure()
  local closed, lost = self.script.core.closed, lost_paths(self)
  -- What was refused need not have been heard.
  if part and not (closed and code == "closed")
      and not (why == "cancelled" and code == "lost") then
    if code ~= why then self:note("%s, but it was %s", code, why) end
    if not names_one(message, { part.path }) then
      self:note("%s does not name %s", message, part.path)
    end
    return
  end
  self:check_justified(message, code, closed, lost)
end

-- The parts are asked for in order, each when the last is granted.
function World:on_claim(claim)
  local claims, paths = self.script.claims, expected_paths(self.case.list)
  local last, i = claims[#claims - 1], #claims
  if claim.path ~= paths[i] then
    self:note("%s is asked for as the %d. part", claim.path, i)
  end
  if last and not last.heard then
    self:note "asked before the last was granted"
  end
  if not self.awaited then self:note "asked, and nobody waits" end
  local timeout, tries = self.case.timeout, self.case.verb == "try_acquire"
  if claim.patient ~= not (tries or timeout == 0) then
    self:note "a wrong patience"
  end
  if not tries and timeout and timeout > 0 then
    local due = math.max(claims[1].asked + timeout, claim.asked)
    if math.abs(claim.deadline - due) > 1e-3 then
      self:note("a deadline %g s off", claim.deadline - due)
    end
  elseif timeout == nil and not tries and claim.deadline ~= math.huge then
    self:note "a deadline that nobody gave"
  end
end

function World:on_news(kind, claim)
  if kind == "granted" then claim.heard = true end
  if kind ~= "lost" then return end
  if self.awaited and self.engine.holds[claim.number] then
    self.doomed = true
  end
  -- (After a close nobody hears of anything.)
  if not self.over and not self.engine.state.is.closed then
    self:on_find(claim)
  end
end

-- Heard of, or found out by a call that must tell it.
function World:on_find(claim)
  if not self.guard or self.first_loss then return end
  self.first_loss = claim.loss == "expired" and "expired" or "lost"
end

function World:check()
  if self.problem then
    self.failed = true
    self:violation("%s", self.problem)
  end
  if self.awaited and (self.doomed or self.cancelled) then
    for _, claim in ipairs(self.script.claims) do
      self:expect(claim.state ~= "waiting" or claim.orders.cancel
        or self.engine.state.is.closed, "it waits for %s in vain", claim.path)
    end
  end
  local guard = self.guard
  if not guard then return end
  local held = not self.over and self:all_held()
  if self.was_lost and held then self:note "held again" end
  self.was_lost = not held
  if guard:is_held() ~= held then
    self:violation("is_held() is %s", tostring(not held))
  end
  self:expect(held == (guard:lease() > 0), "lease() is not is_held()")
  self:expect(self.told == (self.first_loss and 1 or 0),
    "on_lost was called %d times", self.told)
  self:expect(self.revocations <= 1, "on_revoke was called twice")
end

-- At the end.

function World:check_claims()
  for _, claim in ipairs(self.script.claims) do
    self:expect(claim.state ~= "waiting" and claim.state ~= "held",
      "%s is left %s", claim.path, claim.state)
    self:expect(not claim.granted or claim.shares == 0 or self.closed,
      "%s has %d shares left", claim.path, claim.shares)
  end
end

local function check_owners(self, owners)
  for _, kind in ipairs { "mutex", "read", "write", "permit", "multi" } do
    for _, stack in pairs(rawget(owners, kind) or {}) do
      self:expect(#stack == 0, "a guard is left with its owner")
    end
  end
end

function World:check_session()
  local engine = self.engine
  self:expect(not require "zklock.wait".any(engine.waits.answers),
    "a wait is left")
  self:expect(not next(engine.waits.removals), "a removal is waited for")
  self:expect(not engine.events.due[1], "a callback is left")
  for _, served in pairs(engine.adapters.served) do
    self:expect(not next(served.waiting), "a wait is attended")
    self:expect(not next(served.holds) or self.closed, "a hold is listened to")
    self:expect(not served.armed or self.closed, "the loop is kept")
  end
  for _, owners in pairs(engine.owners) do check_owners(self, owners) end
end

-- Nothing that has happened is in the way of the same owner.
function World:acquire_again()
  local script = self.script
  script.lease_until = math.huge
  local claims, answer = #script.claims
  self.cancelled, self.late, self.guard, self.doomed = nil, nil, nil, nil
  script.on_claim = nil
  local function call()
    local guard, message = self.multi:acquire { owner = self.case.owner }
    answer = guard or message
    if guard then guard:release() end
  end
  script.on_wait = function() script:grant(script.claims[#script.claims]) end
  if self.case.way == "main" then
    call()
  else
    local task = coroutine.create(call)
    self:resume(task)
    while self.parked[task] do
      script.on_wait()
      self.session:step()
      self:resume(table.remove(self.ready, 1))
    end
  end
  self:expect(type(answer) == "table", "it cannot be had again: %s",
    tostring(answer))
  self:expect(#script.claims == claims + #expected_paths(self.case.list),
    "not all parts were asked for again")
  script:obey()
  for _, claim in ipairs(script.claims) do
    if claim.leaving then script:remove(claim) end
  end
end

local function script_ends(self)
  self.script.on_wait = function() self.script:obey() end
  self.session:close()
end

function World:finish()
  self.budget = 0
  while true do
    self.script:obey()
    if not self:act() then break end
  end
  self:check()
  self:expect(self.over, "there is no answer")
  self:expect(self.answers == 1 or self.killed, "%d answers", self.answers)
  self:check_claims()
  self:check_session()
  if self.closed then return end
  if self.case.budget < 2 then
    self:acquire_again()
    self:check_claims()
    self:check_session()
  end
  script_ends(self)
end

local function new_world(library, case, choose)
  local script = scripted.new()
  local self = setmetatable({
    case = case, choose = choose, budget = case.budget, script = script,
    trace = {}, parked = {}, ready = {}, armed = 0,
    answers = 0, told = 0, revocations = 0,
  }, World)
  script.on_wait = function() script:enter "connected" end
  self.session = library.connect("host:1", {
    loop = "poll", log = log(self),
    on_event = function()
      local fn = self.in_event
      self.in_event = nil
      if fn then fn() end
    end,
  })
  self.engine = self.session._engine
  if case.way ~= "main" then self.engine.adapters.loop = new_adapter(self) end
  return self, script
end

--- One acquisition, from its beginning to its end.
-- `case`: way = "main", "task" or "async"; verb; list = "b a"; timeout; owner;
-- budget = how many times something is to go wrong.
function orders.run(library, case, choose)
  local self, script = new_world(library, case, choose)
  script.on_wait = function() self:block() end
  script.on_claim = function(claim) self:on_claim(claim) end
  script.on_news = function(kind, claim) self:on_news(kind, claim) end
  script.on_find = function(claim) self:on_find(claim) end
  self.multi = self.session:multi(make_locks(self.session, case.list))
  self:begin()
  while not self.over or self.confirming do
    self:expect(self:act(), "nothing happens any more")
  end
  self:finish()
end

-- Several multis that share parts, each taken and released once: by tasks of
-- their own, or all by one owner, which enters what it holds again.

local Crowd = setmetatable({}, { __index = World })
Crowd.__index = Crowd

-- What holds its paths now.
local function claims_of(self, user)
  local claims = {}
  for _, claim in ipairs(self.script.claims) do
    if user.paths[claim.path] and self.script:is_held(claim) then
      claims[claim.path] = claim
    end
  end
  return claims
end

function Crowd:answer(user, guard, _, code)
  user.answers = user.answers + 1
  if user.answers > 1 then self:note "a second answer" end
  user.guard, user.code, user.over = guard, code, not guard
  if not guard then
    if not self.harmed then self:note("refused: %s", code) end
    return
  end
  user.claims = claims_of(self, user)
  for path in pairs(user.paths) do
    if not user.claims[path] then self:note("granted without %s", path) end
  end
  local tokens = guard:tokens()
  for path, claim in pairs(user.claims) do
    local token = ("%019d"):format(claim.token)
    if tokens[path].token ~= token then self:note "a wrong token" end
  end
  guard:on_lost(function() user.told = user.told + 1 end)
end

function Crowd:ask(user)
  user.asked = true
  local owner = self.case.owner
  if self.case.way == "task" then
    user.task = coroutine.create(function()
      self:answer(user, user.multi:acquire { owner = owner })
    end)
    self:resume(user.task)
  elseif self.case.way == "async" then
    user.multi:acquire_async({ owner = owner }, function(...)
      self:answer(user, ...)
    end)
  else
    self:answer(user, user.multi:acquire())
  end
end

function Crowd:let_go(user)
  user.over = true
  local sound = true
  for _, claim in pairs(user.claims) do
    if not self.script:is_held(claim) then sound = false end
  end
  local ok, _, code = user.guard:release()
  if not self.closed and (ok and true or false) ~= sound then
    self:note("release says %s", tostring(ok or code))
  end
end

function Crowd:harm(claim)
  self.harmed = true
  if claim.what == "close" then
    self.closed = true
    self.session:close()
  elseif claim.what == "cancel" then
    self.users[1].multi:cancel()
  else
    self.script:lose(claim, "deleted")
  end
end

function Crowd:options()
  local script, options = self.script, self:turns()
  for _, claim in ipairs(script.claims) do
    if claim.state == "waiting" and is_free(script, claim) then
      add(options, "grant", claim)
    end
  end
  for i, user in ipairs(self.users) do
    local before = self.users[i - 1]
    -- One owner does one thing after the other.
    local may = not before or not self.case.owner or before.guard
    if not user.asked and may and not self.harmed then
      add(options, "ask", user)
    elseif user.guard and not user.over then
      add(options, "let_go", user)
    end
  end
  self.progress = #options
  if self.budget > 0 then self:harms(options) end
  return options
end

function Crowd:harms(options)
  for _, claim in ipairs(self.script.claims) do
    if claim.state == "held" then add(options, "harm", claim) end
  end
  if self.case.way ~= "main" then
    if not self.closed then add(options, "harm", { what = "close" }) end
    add(options, "harm", { what = "cancel" })
  end
end

function deeds:ask(user) self:ask(user) end
function deeds:let_go(user) self:let_go(user) end
function deeds:harm(claim) self:harm(claim) end

function Crowd:check()
  if self.problem then self:violation("%s", self.problem) end
  for _, user in ipairs(self.users) do
    if user.guard then
      local held = not user.over and not self.closed
      for _, claim in pairs(user.claims) do
        held = held and self.script:is_held(claim)
      end
      -- (Where a part is lost all are given back, when it is heard.)
      if user.guard:is_held() ~= held and user.told == 0 then
        self:violation("is_held() is %s", tostring(not held))
      end
      self:expect(user.told <= 1, "on_lost was called twice")
      self:expect(user.told == 0 or not user.guard:is_held(), "told, and held")
    end
  end
end

-- Of each hold as many listen as there are guards on it.
local function check_listeners(self)
  for _, hold in pairs(self.engine.holds) do
    if not hold.ended and not self.closed and hold.lost == false then
      local listening = 0
      for _, user in ipairs(self.users) do
        if user.asked and not user.over and user.told == 0
            and user.paths[hold.owners.path] then
          listening = listening + 1
        end
      end
      self:expect(#hold.listeners <= listening, "who let go still listens")
    end
  end
end

function orders.run_crowd(library, case, choose)
  local self, script = new_world(library, case, choose)
  setmetatable(self, Crowd)
  self.users = {}
  for list in case.list:gmatch "[^,]+" do
    local user = { path = list, answers = 0, told = 0, paths = {}, claims = {} }
    user.multi = self.session:multi(make_locks(self.session, list))
    for _, path in ipairs(expected_paths(list)) do user.paths[path] = true end
    self.users[#self.users + 1] = user
  end
  script.on_wait = function()
    for _, claim in ipairs(script.claims) do
      if claim.state == "waiting" then script:grant(claim) end
    end
  end
  if not case.owner then
    for _, user in ipairs(self.users) do self:ask(user) end
  end
  while self:act() do check_listeners(self) end
  for _, user in ipairs(self.users) do
    self:expect(user.answers == (user.asked and 1 or 0), "%d answers to %s",
      user.answers, user.path)
  end
  script:obey()
  for _, claim in ipairs(script.claims) do
    if claim.leaving then script:remove(claim) end
  end
  self:check_claims()
  self:check_session()
  if not self.closed then script_ends(self) end
end

return orders
