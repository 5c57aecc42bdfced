--- Engine: the inner object of a session, to which all its locks and guards
-- refer. The engine has parts, such as `state` and `meters`. Each part is
-- defined in its own file, and only that file writes the part's fields.
local Adapters = require "zklock.adapters"
local Callbacks = require "zklock.callbacks"
local core = require "zklock.core"
local Events = require "zklock.events"
local State = require "zklock.state"
local Meters = require "zklock.meters"
local loops = require "zklock.loop"
local misuse = require "zklock.errors".misuse
local protect = require "zklock.protect"
local waits = require "zklock.wait"

local Engine = {}
Engine.__index = Engine

local PATIENCE = 2 -- seconds that close() waits for the I/O thread

-- Returns the schemes of the credentials, such as "digest, x509"; "" without
-- credentials.
local function schemes_of(auth)
  local schemes = {}
  for i, entry in ipairs(auth) do schemes[i] = entry.scheme end
  return table.concat(schemes, ", ")
end

--- Makes the engine of a session. `session`: the user's object; `handle`: the C
-- core's session; `given`: the checked settings.
function Engine.new(session, handle, given)
  local pid = core.pid()
  local engine = setmetatable({
    session = session,
    core = handle,
    pid = pid,
    hosts = given.hosts,
    chroot = given.chroot,
    connect_timeout = given.connect_timeout,
    schemes = schemes_of(given.auth), -- the schemes, for messages
    data = ("%s:%d"):format(core.hostname(), pid), -- the nodes' default data
    state = State.new(),
    waits = waits.tables(),
    scopes = {}, -- of nginx requests: ngx/scope.lua
    runs = setmetatable({}, { __mode = "k" }), -- run() calls of elections
    retired = false,
    -- Maps a hold's number to its oldest guard that is not yet released. Weak,
    -- so that the collector can free the guards that the program no longer
    -- reaches.
    holds = setmetatable({}, { __mode = "v" }),
    owners = setmetatable({}, { __mode = "v" }), -- owners by path
    lines = {}, -- lines of local turns, by the number of their root
  }, Engine)
  engine.callbacks = Callbacks.new(given.log, function()
    if not engine.state.is.left then handle:nudge() end
  end)
  engine.meters = Meters.new(engine.callbacks)
  engine.adapters = Adapters.new(engine, given.loop)
  engine.events = Events.new(engine, given.on_event)
  return engine
end

function Engine:is_ours()
  return core.pid() == self.pid
end

--- Raises an error in another process; otherwise returns the engine.
function Engine:check_process()
  if not self:is_ours() then
    misuse("this session belongs to process %d", self.pid)
  end
  return self
end

--- Raises an error in another process or after close; otherwise returns the
-- engine.
function Engine:check_open()
  if core.pid() ~= self.pid then self:check_process() end
  if self.state.is.closed then misuse("the session is closed") end
  return self
end

--- Returns the maximum time, in seconds, that a call waits for a server's
-- reply. This is the session timeout; before the first connection, it is the
-- connect timeout. It does not limit waits for a lock's holder. If the
-- connection is lost later, the C core refuses such a call at once.
function Engine:patience()
  local timeout = self.core:timeout()
  return timeout > 0 and timeout or self.connect_timeout
end

--- Prepares for the end of the process. Makes elections' run() calls return,
-- and ends waits that have no time limit. Later waits get a time limit from
-- Adapters:limit.
function Engine:retire()
  if self.retired then return end
  self.retired = true
  for run in pairs(self.runs) do run:stop() end
  waits.end_endless(self.waits, self:patience())
end

-- Closing.

local function await_end(self)
  local deadline = core.now() + PATIENCE
  while self.state.is.name == "closed" do
    local left = deadline - core.now()
    if left <= 0 then return end
    self.core:wait(left)
    self.events:step()
  end
end

local function leave(self)
  if self.state.is.left then return end
  self.adapters:close()
  self.state.last = self.state.last
    or { id = self.core:id(), stats = self.core:stats() }
  self.core:leave()
  self.state:enter "left"
end

local function enter_closed(self)
  self.core:close()
  self.state:enter "closed"
  self.events:tell_closed()
end

local function close(self)
  self.events:tell_losses()
  if self.state.is.closed then return end -- a callback has closed the session
  enter_closed(self)
  if loops.may_block(self.adapters.loop) then await_end(self) end
end

-- The cleanup handler (protect.lua) of close(). If close() is interrupted, the
-- handler closes the session without waiting for the servers.
local Closing = protect.class()

function Closing:finish()
  local engine = self.engine
  if not self.fine and not engine.state.is.left then enter_closed(engine) end
  leave(engine)
end

--- Releases all locks, ends the ZooKeeper session, and ends all waits.
function Engine:close()
  self:check_process()
  if self.state.is.closed then return end
  local closing = setmetatable({ engine = self }, Closing)
  protect.call(loops.may_block(self.adapters.loop), closing, close, self)
end

return Engine
