--- The C core with a script in the place of its I/O thread: what a server
-- answers, when, and what the clock says, the spec decides, and no two threads
-- race but in the order that it asks for.
--
-- It accepts what the userdata of src/lua accept, and raises
-- for anything else, also for what they would take and never answer.
-- integration/scripted_core_spec.lua holds it against the real one.
local real = require "zklock.core"

local scripted = {}

-- (busted's assert is slow.)
local function insist(condition, message)
  if not condition then error(message or "the core never does that", 2) end
  return condition
end

-- Lua 5.1 collects tables without telling anybody: there the objects are
-- userdata, whose environments are what they know.  (Who knows itself would
-- never leave a weak table there.)
local get_state, set_state
if rawget(_G, "newproxy") then
  get_state, set_state = debug.getfenv, debug.setfenv
else
  local states = setmetatable({}, { __mode = "k" })
  function get_state(object) return states[object] end
  function set_state(object, state) states[object] = state end
end

local function new_class(name)
  local class = { name = name, methods = {} }
  local function collect(object)
    local state = get_state(object)
    if state and state.class == class then class.collect(state) end
  end
  local meta = { __index = class.methods, __gc = collect }
  local prototype
  if rawget(_G, "newproxy") then
    prototype = newproxy(true)
    local of_proxies = getmetatable(prototype)
    for key, value in pairs(meta) do of_proxies[key] = value end
  end
  function class.new(state)
    local object = prototype and newproxy(prototype) or setmetatable({}, meta)
    state.class = class
    set_state(object, state)
    return object
  end
  function class.check(object)
    local state = get_state(object)
    if not state or state.class ~= class then
      error("bad argument (" .. name .. " expected)", 3)
    end
    return state
  end
  return class
end

local Session, Hold = new_class "zklock.session", new_class "zklock.hold"

local function check(value, expected, name)
  if type(value) ~= expected then
    error(("bad argument '%s' (%s expected, got %s)"):format(name, expected,
      type(value)), 3)
  end
  return value
end

local function check_seconds(value, name)
  if value == nil then return math.huge end
  check(value, "number", name)
  if value ~= value or value < 0 then
    error(("bad argument '%s': %s seconds"):format(name, tostring(value)), 3)
  end
  return value
end

local function check_word(value, words, name)
  if value == nil then return words:match "%S+" end
  if not (" " .. words .. " "):find(" " .. tostring(value) .. " ", 1, true) then
    error(("bad argument '%s' (invalid option '%s')"):format(name,
      tostring(value)), 3)
  end
  return value
end

-- Messages: a slot of what it speaks of is in a queue once at a time.

local function post(queue, slots, kind, subject)
  if slots[kind] then return false end
  slots[kind] = true
  queue[#queue + 1] = { kind = kind, slots = slots, subject = subject }
  return true
end

local function take(queue)
  local message = table.remove(queue, 1)
  if message then message.slots[message.kind] = nil end
  return message
end

-- The script: the I/O thread, the servers and the clock.

local Script = {}
Script.__index = Script

local current

--- From now on `zklock.core` is at this script's orders.
function scripted.new()
  current = setmetatable({
    clock = 1000,
    lease_until = math.huge,
    claims = {},
    zxid = 0,
    collected = 0, -- holds that the collector has ended
    on_wait = function() error "nobody is to wait here" end,
  }, Script)
  return current
end

local function post_event(self, claim, kind)
  post(self.core.events, claim.slots, kind, claim)
end

function Script:grant(claim)
  insist(claim.state == "waiting" and claim.joined and not self.core.ended)
  self.zxid = self.zxid + 1
  claim.token = claim.writer_token or self.zxid
  claim.node = ("lock-%010d"):format(self.zxid)
  claim.hold_until = self.clock + claim.max_hold
  claim.state, claim.granted = "held", true
  post_event(self, claim, "granted")
end

function Script:refuse(claim, verdict, reason)
  insist(claim.state == "waiting" and claim.joined and not self.core.ended)
  claim.state, claim.verdict, claim.reason = "refused", verdict, reason
  claim.joined = false
  post_event(self, claim, "refused")
end

--- What no longer is a hold of Lua's is lost without a word.
function Script:lose(claim, reason)
  insist(claim.granted and not self.core.ended)
  claim.joined = false
  if claim.state ~= "held" then return end
  claim.state, claim.loss = "lost", reason
  post_event(self, claim, "lost")
end

function Script:revoke(claim)
  insist(claim.state == "held")
  post_event(self, claim, "revoked")
end

--- A server has confirmed that a node which was given back is gone.
function Script:remove(claim)
  insist(claim.leaving)
  claim.leaving, claim.joined = false, false
  if claim.report then post_event(self, claim, "gone") end
end

function Script:enter(state)
  local core = self.core
  core.state = state
  core.states[#core.states + 1] = state
  post(core.events, core.slots, "state")
end

--- The session is another one: holds are lost, waits go on.
function Script:expire()
  for _, claim in ipairs(self.claims) do
    if claim.joined and claim.granted then self:lose(claim, "expired") end
    if claim.leaving then self:remove(claim) end
    if claim.state == "waiting" and claim.writer_token then
      self:refuse(claim, "lost")
    end
  end
  self:enter "expired"
  self:enter "connected"
end

--- Is it provable by the clock, as far as that goes?
function Script:stands(claim)
  return self.clock < math.min(claim.hold_until, self.lease_until)
end

function Script:is_held(claim)
  return claim.state == "held" and not self.core.closed and self:stands(claim)
end

local commands = {}

function commands.cancel(self, claim)
  if claim.state == "waiting" then self:refuse(claim, "cancelled") end
end

function commands.release(self, claim)
  claim.leaving = claim.joined
  if not claim.joined and claim.report then post_event(self, claim, "gone") end
end

function commands.abandon(self, claim)
  if claim.state == "waiting" then self:refuse(claim, "cancelled") end
  if claim.state ~= "held" then return end -- else the grant was first
  claim.state = "released"
  claim.leaving = claim.joined
end

function commands.lose(self, claim)
  if not claim.joined then return end
  claim.leaving = true
  post_event(self, claim, "lost")
end

function commands.close(self)
  for _, claim in ipairs(self.claims) do
    if claim.state == "waiting" then self:refuse(claim, "closed") end
    if claim.state == "held" then claim.state = "released" end
    claim.joined, claim.leaving = false, false
  end
  self:enter "closed"
  self.core.ended = true
  post(self.core.events, self.core.slots, "closed")
end

--- Are there commands that the I/O thread has not seen?
function Script:is_asked()
  return #self.core.commands > 0
end

function Script:obey()
  while true do
    local message = take(self.core.commands)
    if not message then return end
    local obey = commands[message.kind]
    if not self.core.ended then obey(self, message.subject) end
  end
end

-- `zklock.core`

scripted.core = {
  data_max = real.data_max,
  backend = "scripted",
  check_path = real.check_path,
  check_node = real.check_node,
  check_hosts = real.check_hosts,
  contender_in = real.contender_in,
  sha256 = real.sha256,
  hostname = real.hostname,
  survey = real.survey,
  own_data = real.own_data,
  pid = real.pid,
}

function scripted.core.now() return current.clock end

-- What sees to endings is the real one's.
for _, name in ipairs { "call", "trace", "struck", "close", "protect",
    "method" } do
  scripted.core[name] = real[name]
end

function scripted.core.session() return Session.new {} end
function scripted.core.way(lock) return lock end
function scripted.core.hold() return Hold.new { empty = true } end

function scripted.core.open(settings, session)
  check(settings.hosts, "string", "hosts")
  check(settings.session_timeout, "number", "session_timeout")
  insist(not current.core, "one session for each script")
  current.core = {
    state = "connecting", states = {}, untold = {}, events = {}, commands = {},
    slots = {}, log = settings.log, numbers = 0,
  }
  session = session or Session.new {}
  local box = Session.check(session)
  insist(not box.core, "a session that is open already")
  box.core, box.script = current.core, current
  return session
end

-- The session's userdata.

local function check_open(object)
  local box = Session.check(object)
  if not box.core then error("zklock: the session is closed", 3) end
  return box.core, box.script
end

local tell = {}

function tell.granted(claim) return "granted", claim.number end
function tell.lost(claim) return "lost", claim.number, claim.loss end
function tell.revoked(claim) return "revoked", claim.number end
function tell.gone(claim) return "gone", claim.number end
function tell.log(line) return "log", line.level, line.text end
function tell.closed() return "closed" end

function tell.refused(claim)
  return "refused", claim.number, claim.verdict, 0, claim.reason
end

function Session.methods.next(object)
  local core = Session.check(object).core
  while core do
    if core.untold[1] then return "state", core.untold[1] end
    if core.told then return tell[core.told.kind](core.told.subject) end
    local message = take(core.events)
    if not message then return end
    if message.kind == "state" then
      core.untold, core.states = core.states, {}
    elseif message.kind ~= "nudge" then
      local script = Session.check(object).script
      if script.on_news then script.on_news(message.kind, message.subject) end
      core.told = message
    end
  end
end

function Session.methods.noted(object, queue, item)
  local core = Session.check(object).core
  if item ~= nil then queue[#queue + 1] = item end
  if not core then return end
  if core.untold[1] then
    table.remove(core.untold, 1)
  else
    core.told = nil
  end
end

--- Are there events that Lua has not heard?
function Script:has_news()
  local core = self.core
  return #core.events > 0 or #core.untold > 0 or core.told ~= nil
end

function Session.methods.wait(object, seconds)
  local _, script = check_open(object)
  if seconds ~= nil then check(seconds, "number", "seconds") end
  script.on_wait(seconds)
  return script:has_news()
end

function Session.methods.fd(object) check_open(object) return 0 end
function Session.methods.id(object) check_open(object) return "0x1" end
function Session.methods.timeout(object) check_open(object) return 10 end
function Session.methods.stats(object) check_open(object) return {} end
function Session.methods.lease(object) check_open(object) return 5 end
function Session.methods.error(object) check_open(object) return "" end

function Session.methods.state(object)
  local core = Session.check(object).core
  return core and core.state or "closed"
end

function Session.methods.nudge(object)
  local core = check_open(object)
  post(core.events, core.slots, "nudge")
end

function Session.methods.close(object)
  local core = Session.check(object).core
  if not core or core.closed then return end
  core.closed = true
  post(core.commands, core.slots, "close")
end

function Session.methods.leave(object)
  Session.methods.close(object)
  Session.check(object).core = nil
end

function Session.collect(box)
  if box.core then box.core.closed = true end
end

local function fill(share, claim, core, script)
  claim.shares = claim.shares + 1
  share = share or Hold.new { empty = true }
  local box = Hold.check(share)
  insist(box.empty, "a share that is not empty")
  box.empty = nil
  box.claim, box.core, box.script, box.live = claim, core, script, true
  return share
end

function Session.methods.acquire(object, path, seconds, patient, data,
    max_hold, way, share)
  local core, script = check_open(object)
  check(path, "string", "path")
  insist(not real.check_path(path), "a path that was not checked")
  check(data, "string", "data")
  check(way, "table", "lock")
  check_word(way.layout, "curator kazoo", "layout")
  check_word(way.wait, "predecessor parent poll", "wait")
  insist(not core.closed, "a wait that the closed core would never answer")
  local writer = way.writer ~= nil and Hold.check(way.writer).claim
  core.numbers = core.numbers + 1
  local claim = {
    number = core.numbers,
    path = path,
    kind = check_word(way.kind, "mutex read write permit unfair", "kind"),
    asked = script.clock,
    deadline = script.clock + check_seconds(seconds, "seconds"),
    patient = patient and true or false,
    data = data,
    max_hold = check_seconds(max_hold, "max_hold"),
    writer_token = writer and writer.token or nil,
    state = "waiting",
    joined = true,
    slots = {},
    orders = {},
    shares = 0,
    token = 0,
    node = "",
  }
  script.claims[#script.claims + 1] = claim
  if script.on_claim then script.on_claim(claim) end
  return fill(share, claim, core, script), claim.number
end

-- The hold's userdata.

local function command(self, kind)
  post(self.core.commands, self.claim.orders, kind, self.claim)
end

local function is_held(self)
  return self.live and self.script:is_held(self.claim)
end

local function give_back(self, report)
  local claim = self.claim
  self.live = false
  claim.shares = claim.shares - 1
  if claim.state == "waiting" then
    if not self.core.closed then command(self, "abandon") end
    return true
  end
  if claim.shares > 0 then return claim.state ~= "lost" end
  if claim.state ~= "held" then return claim.state == "released" end
  claim.state = "released"
  if not self.core.closed then
    claim.report = report
    command(self, "release")
  end
  return true
end

function Hold.methods.release(object, report)
  local self = Hold.check(object)
  if self.live then
    Hold.methods.find_loss(object)
    local waiting = self.claim.state == "waiting"
    local provable = is_held(self) or self.core.closed
    self.kept = give_back(self, report and true or false)
      and (provable or waiting)
    self.last = self.claim.shares == 0
  end
  return self.kept or false, self.last or false -- no local turns
end

function Hold.collect(self)
  if not self.live then return end
  local held = self.claim.state == "held"
  give_back(self, false)
  if not held or self.claim.shares > 0 or self.core.closed then return end
  self.script.collected = self.script.collected + 1
  if not self.core.log then return end
  local line = { level = "warn", text = ("a guard of %s was collected without "
    .. "release; it is released"):format(self.claim.path) }
  post(self.core.events, {}, "log", line)
end

function Hold.methods.again(object, share)
  local self = Hold.check(object)
  return fill(share, self.claim, self.core, self.script)
end

function Hold.methods.cancel(object)
  local self = Hold.check(object)
  if not self.core.closed then command(self, "cancel") end
end

function Hold.methods.is_held(object)
  return is_held(Hold.check(object))
end

function Hold.methods.lease(object)
  local self = Hold.check(object)
  if not is_held(self) then return 0 end
  return math.min(self.claim.hold_until, self.script.lease_until)
    - self.script.clock
end

function Hold.methods.state(object)
  local self = Hold.check(object)
  local state = self.claim.state
  if state == "held" and (not self.live or self.core.closed) then
    return "released"
  elseif state == "held" and (self.core.state ~= "connected"
      or not is_held(self)) then
    return "suspended"
  end
  return state
end

function Hold.methods.reason(object)
  return Hold.check(object).claim.loss
end

function Hold.methods.find_loss(object)
  local self = Hold.check(object)
  local claim, script = self.claim, self.script
  if claim.state == "held" and not self.core.closed
      and not script:stands(claim) then
    claim.state = "lost"
    claim.loss = claim.hold_until <= script.lease_until and "max_hold"
      or "silence"
    command(self, "lose")
  end
  if claim.loss and script.on_find then script.on_find(claim) end
  return claim.loss
end

function Hold.methods.token(object)
  return ("%019d"):format(Hold.check(object).claim.token)
end

function Hold.methods.token_number(object)
  return Hold.check(object).claim.token
end

function Hold.methods.number(object)
  return Hold.check(object).claim.number
end

local function granted(object)
  local claim = Hold.check(object).claim
  insist(claim.granted)
  return claim
end

function Hold.methods.take(object)
  local claim = granted(object)
  claim.taken = Hold.check(object).script.clock
  return claim.taken - claim.asked
end

function Hold.methods.waited(object)
  local self = Hold.check(object)
  return self.script.clock - self.claim.asked
end

function Hold.methods.held(object)
  local claim = granted(object)
  return Hold.check(object).script.clock - claim.taken,
    claim.kind == "permit" and "lease" or claim.kind
end

function Hold.methods.node(object)
  local claim = Hold.check(object).claim
  return claim.path .. (claim.kind == "permit" and "/leases/" or "/")
    .. claim.node
end
function Hold.methods.watch(object) Hold.check(object) end
function Hold.methods.turn(object) Hold.check(object) return 0 end

-- The library that stands on it.

local function read_source(name)
  for template in package.path:gmatch "[^;]+" do
    local path = template:gsub("%?", (name:gsub("%.", "/")))
    local file = io.open(path)
    if file then
      local source = file:read "*a"
      file:close()
      return source, "@" .. path
    end
  end
  error("there is no " .. name)
end

local function take_modules()
  local taken = {}
  for name, module in pairs(package.loaded) do
    if name:match "^zklock" then taken[name] = module end
  end
  for name in pairs(taken) do package.loaded[name] = nil end
  return taken
end

--- The library itself over this core: `zklock`, and its modules by name.
-- `edit(source)` changes that of `module`.
function scripted.load(module, edit)
  local before = take_modules()
  package.loaded["zklock.core"] = scripted.core
  if module then
    local source, name = read_source(module)
    package.preload[module] = insist((loadstring or load)(edit(source), name))
  end
  local ok, library = pcall(require, "zklock")
  require "zklock.loop.poll" -- it is asked for late
  if module then package.preload[module] = nil end
  local loaded = take_modules()
  for name, of_before in pairs(before) do package.loaded[name] = of_before end
  insist(ok, library)
  return library, loaded
end

return scripted
