--- Every order in which the parts of a multi may be granted, refused and lost,
-- in virtual time.
--
-- A world is one acquisition of a multi and all that befalls it.  At each point
-- it lists what may happen next and asks `choose` for one of those; explore()
-- runs it again and again until every sequence of answers was given.  A rival
-- stands in the queue of each part, and a client of our own lets it go, or
-- deletes a node of the multi's: what is true is what the server has.
local new_proxy = require "support.proxy".start
local raw = require "support.raw"
local seize = require "support.seizure".seize
local socket = require "socket"
local support = require "support"

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

local TIMEOUT = 20
local KILLED, RAISED = "killed", "raised by a callback"

function World:expect(condition, format, ...)
  if condition then return end
  self.failed = true
  error(("%s %s of %s: %s, after: %s"):format(self.case.way, self.case.verb,
    self.case.list, format:format(...), table.concat(self.trace, ", ")), 0)
end

-- An error that the library would catch: it comes out at the next check.
function World:note(format, ...)
  self.problem = self.problem or format:format(...)
end

-- The loop of the session: one that does what `choose` says.

local function is_readable(self)
  return not self.closed and #socket.select(self.source, nil, 0) > 0
end

local function new_adapter(self)
  return { new = function(session)
    self.source = { { getfd = function() return session:fd() end } }
    local function wait(w)
      local task, is_main = coroutine.running()
      if task and not is_main then
        w.task = task
        self.parked[task] = w
        if coroutine.yield() == KILLED then error(KILLED, 0) end
      elseif self.is_free then
        socket.select(self.source, nil, 1)
        session:step()
      else
        self:settle()
        local deed = self:act()
        if deed == "kill" then error(KILLED, 0) end
        self:expect(deed, "nothing will ever wake it")
      end
    end
    return {
      wait = wait,
      wake = function(w)
        if w.task and self.parked[w.task] == w then
          self.ready[#self.ready + 1] = w.task
        end
      end,
      arm = function() end, disarm = function() end, close = function() end,
    }
  end }
end

-- While nothing is chosen.
local function freely(self, fn)
  local before = self.is_free
  self.is_free = true
  fn()
  self.is_free = before
end

-- The server.

-- The nodes of the multi's, by the paths of its parts; what each waits for.
function World:look()
  local nodes, waits = {}, {}
  for i, path in ipairs(self.paths) do
    for _, name in ipairs(self.zk:queue(path)) do
      if name ~= self.rivals[path] then nodes[path] = name end
    end
    waits[path] = nodes[path] and self.rivals[path]
    if nodes[path] and i > self.asked then
      if i > self.asked + 1 then self:note("%s is asked too early", path) end
      self.asked = i
    end
  end
  for i = 1, self.asked - 1 do
    if waits[self.paths[i]] then self:note "asked before a grant" end
  end
  self.nodes, self.waits = nodes, waits
end

local function pass(seconds) socket.sleep(seconds or 0.5) end

-- What the user does.

function World:options_of_call()
  local case = self.case
  return { owner = case.owner,
    timeout = case.verb ~= "try_acquire" and case.timeout or nil }
end

function World:answer(guard, message, code)
  self.answers, self.awaited = self.answers + 1, false
  if not guard then
    self.over = true
    return self:check_refusal(message, code)
  end
  self.guard = guard
  self:check_grant()
  guard:on_lost(function() error(RAISED) end)
  guard:on_lost(function(mine, why)
    self.told = self.told + 1
    if mine ~= guard then self:note "on_lost names another guard" end
    if not self.losses[why] then self:note("on_lost says %s", why) end
    if guard:is_held() then self:note "lost, and held" end
  end)
  guard:on_revoke(function()
    self.revocations = self.revocations + 1
    error(RAISED)
  end)
end

-- In with_lock: what happens until fn returns, or raises.
function World:inside(guard)
  self:answer(guard)
  self.within = true
  local deed
  repeat deed = self:act() until deed == "leave" or deed == "raise"
  self.within, self.over = false, true
  if deed == "raise" then error(RAISED, 0) end
  return "result"
end

function World:call()
  local verb, multi = self.case.verb, self.multi
  if verb ~= "with_lock" then
    return self:answer(multi[verb](multi, self:options_of_call()))
  end
  local ok, message, code, result = multi:with_lock(function(guard)
    return self:inside(guard)
  end, self:options_of_call())
  if not self.guard then
    self:answer(ok, message, code)
  elseif ok then
    if message ~= "result" then self:note "with_lock lost the result" end
    if self:is_lost() then self:note "with_lock does not report the loss" end
  elseif code ~= "lost" or result ~= "result" or not self:is_lost() then
    self:note("with_lock says %s", tostring(code))
  end
end

-- An error that ends the task, or the call of the main chunk.
function World:ended_by(problem)
  if self.failed then error(problem, 0) end
  self.over = true
  if problem == KILLED and self.killed then
    self.awaited, self.confirming = false, false
  elseif problem ~= RAISED then
    self:note("the call raised %s", tostring(problem))
  end
end

function World:resume(task, ...)
  self.parked[task] = nil
  local ok, problem = coroutine.resume(task, ...)
  if not ok then self:ended_by(problem) end
end

function World:begin()
  self.awaited, self.due = true, support.now() + TIMEOUT
  if self.case.way == "main" then
    local ok, problem = pcall(self.call, self)
    if not ok then self:ended_by(problem) end
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

function World:is_lost() return next(self.losses) ~= nil end

local deeds = {}

function deeds:grant(path)
  self.zk:delete(path .. "/" .. self.rivals[path])
  self.rivals[path] = nil
end

-- (By then a heartbeat has found it out.)
function deeds:lose(path)
  self.zk:delete(path .. "/" .. self.nodes[path])
  self.losses.lost, self.lost_path = true, path
  pass(3)
end

-- Waits begin again; of a hold may be heard first that its node is deleted.
function deeds:expire()
  seize(support.hosts, self.session:id())
  for path in pairs(self.nodes) do
    if not self.waits[path] then
      self.losses.lost, self.losses.expired = true, true
    end
  end
  pass(3)
end

function deeds:deny(path)
  self.denied = path
  self.zk:set_acl(path, support.everybody(25)) -- nobody may create
end

function deeds:revoke()
  for _, path in ipairs(self.paths) do
    local name = self.nodes[path]
    if name then self.zk:set(path .. "/" .. name, "\nzklock:revoke") end
  end
end

function deeds:wait_long()
  self.late = true
  pass(math.max(self.due - support.now(), 0) + 0.1)
end

function deeds:hear() self.session:step() end
function deeds:resume() self:resume(table.remove(self.ready, 1)) end

function deeds:cancel(by_ticket)
  self.cancelled = self.asked
  if by_ticket then self.ticket:cancel() else self.multi:cancel() end
end

function deeds:close()
  self.closed = true
  freely(self, function() self.session:close() end)
end

function deeds:kill(closes)
  self.killed, self.ready = true, {}
  if self.case.way == "main" then return end
  if not closes then return self:resume(self.task, KILLED) end
  self.parked[self.task] = nil
  coroutine.close(self.task)
  self:ended_by(KILLED)
end

function deeds:leave() end
deeds["raise"] = deeds.leave

function World:check_release(ok, code)
  if self.closed then return end
  if (ok and true or false) == self:is_lost() then
    self:note("release says %s", tostring(ok or code))
  elseif not ok and code ~= "lost" then
    self:note("release says %s", tostring(code))
  end
end

function deeds:release()
  self.over = true
  local ok, _, code = self.guard:release()
  self:check_release(ok, code)
end

-- A task of its own waits for the confirmation, which comes when the link does.
function deeds:release_and_wait()
  self.over, self.confirming = true, true
  self.proxy:freeze()
  self.task = coroutine.create(function()
    local ok, _, code = self.guard:release { wait = true }
    self.confirming = false
    if self.closed then return end
    self:check_release(ok, code)
    if ok and self.frozen then self:note "it was not confirmed" end
  end)
  self.frozen = true
  self:resume(self.task)
end

function deeds:heal()
  self.frozen = false
  self.proxy:heal()
end

local function add(options, deed, argument)
  options[#options + 1] = { deed, argument }
end

-- What the server does by itself, and what the holder may do.
function World:turns(options)
  for _, path in ipairs(self.paths) do
    if self.waits[path] then add(options, "grant", path) end
  end
  if is_readable(self) then add(options, "hear") end
  if self.ready[1] and not self.within then add(options, "resume") end
  if self.frozen then add(options, "heal") end
  if self.within then
    add(options, "leave")
    add(options, "raise")
  elseif self.guard and not self.over then
    add(options, "release")
    if self.case.way == "task" then add(options, "release_and_wait") end
  end
end

-- What the server, and others, may do to it.
function World:harms(options)
  for i, path in ipairs(self.paths) do
    if self.nodes[path] and not self.waits[path] then
      add(options, "lose", path)
    elseif i > self.asked and self.awaited then
      add(options, "deny", path)
    end
  end
  if next(self.nodes) then add(options, "expire") end
  if self.guard then add(options, "revoke") end
end

-- What the user may do who waits, or another task.
function World:interruptions(options)
  if self.awaited then
    if not self.cancelled then add(options, "cancel") end
    if not self.cancelled and self.ticket then add(options, "cancel", true) end
    if self.case.timeout and not self.late then add(options, "wait_long") end
  end
  if not self.within then add(options, "close") end
end

function World:murders(options)
  local is_main = self.case.way == "main"
  if is_main and self.awaited or self.parked[self.task or false] then
    add(options, "kill")
    if not is_main and coroutine.close then add(options, "kill", true) end
  end
end

-- What was asked for is at the server.
function World:settle()
  pass()
  self:check()
end

--- One thing happens: its name; nil if nothing can.
function World:act()
  local options = {}
  self:turns(options)
  local progress = #options
  if self.budget > 0 and not self.closed
      and (not self.over or self.confirming) then
    if not self.over then self:harms(options) end
    self:interruptions(options)
    self:murders(options)
  end
  if #options == 0 then return nil end
  local pick = #options == 1 and 1 or self.choose(#options)
  local deed, argument = options[pick][1], options[pick][2]
  if pick > progress then self.budget = self.budget - 1 end
  table.insert(self.trace, deed .. " " .. tostring(argument or ""))
  self:expect(#self.trace < 60, "there is no end")
  deeds[deed](self, argument)
  pass()
  self:check(deed)
  return deed
end

-- What must be true.

function World:check_grant()
  self:look()
  local tokens, nodes = self.guard:tokens(), {}
  if self.closed then self:note "a guard of a closed session" end
  if self.cancelled and self.cancelled < #self.paths then
    self:note "it was cancelled, and granted"
  end
  for i, path in ipairs(self.paths) do
    local node = path .. "/" .. (self.nodes[path] or "nothing")
    local stat = self.zk:exists(node)
    if not stat or self.waits[path] then
      return self:note("a guard, and %s is not held", path)
    end
    if tokens[path].token ~= stat.czxid then self:note "a wrong token" end
    if tokens[path].turn ~= 0 then self:note "a wrong turn" end
    nodes[i] = node
  end
  if self.guard.node ~= table.concat(nodes, ",") then
    self:note "wrong nodes"
  end
end

local PATTERNS = {
  timeout = "^zklock: timed out after %g s waiting for ",
  busy = "^zklock: .* is taken",
  cancelled = "^zklock: the wait for .* was cancelled$",
  closed = "^zklock: the session was closed while waiting for ",
  lost = "^zklock: the hold of .* was lost",
  denied = "^zklock: .*ACL",
}

-- Why it may be refused so.
function World:check_refusal(message, code)
  local case, rival = self.case, next(self.rivals)
  local causes = {
    timeout = self.late or case.timeout == 0 and rival,
    busy = case.verb == "try_acquire" and rival,
    cancelled = self.cancelled, closed = self.closed,
    lost = self:is_lost(), denied = self.denied,
  }
  if not causes[code] then
    return self:note("%s, and nothing has failed", tostring(code))
  end
  if not message:match(PATTERNS[code]:format(case.timeout or 0)) then
    self:note("%s: %s", code, message)
  end
  local names = code == "denied" and self.denied
    or code == "lost" and self.lost_path
  if names and not message:find(names, 1, true) then
    self:note("%s does not name %s", message, names)
  end
end

function World:check(deed)
  self:look()
  self:expect(not self.problem, "%s", self.problem)
  self:expect(self.answers <= 1, "a second answer")
  local is_hopeless = self.cancelled or self.late or self:is_lost()
  -- (The main chunk is answered when it waits no more.)
  if is_hopeless and self.awaited
      and not (self.case.way == "main" and deed) then
    self:expect(self.ready[1] or self.frozen or self.killed
      or is_readable(self), "it waits in vain")
  end
  local guard = self.guard
  if not guard then return end
  local held = not self.over and not self.closed and not self:is_lost()
  self:expect(guard:is_held() == held, "is_held() is %s", tostring(not held))
  self:expect((guard:lease() > 0) == held, "lease() is not is_held()")
  self:expect(self.told <= 1, "on_lost was called twice")
  self:expect(self.revocations <= 1, "on_revoke was called twice")
  if deed == "hear" and self:is_lost() and not self.over then
    self:expect(self.told == 1, "on_lost was called %d times", self.told)
    self:expect(not next(self.nodes), "a part is kept")
  end
end

-- Nothing is left of it in the Lua layer.
function World:check_session()
  local engine = self.engine
  self:expect(not require "zklock.wait".any(engine.waits.answers),
    "a wait is left")
  self:expect(not next(engine.waits.removals), "a removal is waited for")
  self:expect(not engine.events.due[1], "a callback is left")
  for _, served in pairs(engine.adapters.served) do
    self:expect(not next(served.waiting), "a wait is attended")
    self:expect(not next(served.holds) or self.closed, "a hold is listened to")
  end
  for _, owners in pairs(engine.owners) do
    for _, kind in ipairs { "mutex", "multi" } do
      for _, stack in pairs(rawget(owners, kind) or {}) do
        self:expect(#stack == 0, "a guard is left with its owner")
      end
    end
  end
end

-- Nothing that has happened is in the way of the same owner.
function World:acquire_again()
  for path, rival in pairs(self.rivals) do
    self.zk:delete(path .. "/" .. rival)
  end
  if self.denied then
    self.zk:set_acl(self.denied, support.everybody(31))
  end
  local guard, message = self.multi:acquire { timeout = TIMEOUT,
    owner = self.case.owner }
  self:expect(guard, "it cannot be had again: %s", tostring(message))
  self:expect(guard:release { wait = true }, "it cannot be released again")
end

function World:finish()
  self.budget = 0
  while self:act() do end
  pass(0.2)
  self:look()
  self:expect(self.over, "there is no answer")
  self:expect(self.answers == 1 or self.killed, "no answer")
  self:expect(not self.guard or self.closed
    or self.told == (self:is_lost() and 1 or 0),
    "on_lost was called %d times", self.told)
  local left = next(self.nodes)
  self:expect(not left, "%s is left", left)
  self.is_free = true
  if not self.closed then
    self.session:step()
    self:check_session()
    self:acquire_again()
  end
  self:check_session()
  self.session:close()
end

-- Paths of a run: "b a" is of these names, in the multi's order without those
-- that are in it twice.
local function make_paths(self, list)
  local seen = {}
  for name in list:gmatch "%a" do
    local path = self.directory .. "/" .. name
    if not seen[path] then
      seen[path] = true
      self.paths[#self.paths + 1] = path
      self.zk:make(path)
      if self.case.timeout ~= 0 and self.case.verb ~= "try_acquire"
          or self.choose(2) == 1 then
        self.rivals[path] = self.zk:create(path .. "/x-lock-",
          { ephemeral = true, sequential = true }):match "[^/]*$"
      end
    end
  end
  table.sort(self.paths)
end

--- What runs need: a client of our own, and a link.
function orders.stage()
  local proxy = support.closing(new_proxy(), function() end)
  return { proxy = proxy,
    zk = support.closing(raw.connect(support.hosts, { timeout = 60 })) }
end

--- One acquisition, from its beginning to its end.
-- `case`: way = "main", "task" or "async"; verb; list = "b a"; timeout; owner;
-- budget = how many times something is to go wrong.
function orders.run(stage, library, case, choose)
  local self = setmetatable({ case = case, choose = choose,
    budget = case.budget, trace = {}, parked = {}, ready = {}, paths = {},
    rivals = {}, nodes = {}, waits = {}, losses = {}, asked = 0, answers = 0,
    told = 0, revocations = 0, is_free = true,
    proxy = stage.proxy, zk = stage.zk,
    directory = support.path() }, World)
  make_paths(self, case.list)
  self.session = support.closing(assert(library.connect(self.proxy.hosts,
    { loop = new_adapter(self), session_timeout = 6, log = function() end })))
  self.engine = self.session._engine
  local locks = {}
  for name in case.list:gmatch "%a" do
    locks[#locks + 1] = self.session:mutex(self.directory .. "/" .. name)
  end
  self.multi = self.session:multi(locks)
  self.is_free = false
  self:begin()
  self:settle()
  while not self.over or self.confirming do
    self:expect(self:act(), "nothing happens any more")
  end
  self:finish()
end

return orders
