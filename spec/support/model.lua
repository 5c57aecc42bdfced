--- The model of ZooKeeper (src/virtual) without a scheduler: ensembles with a
-- time of their own, and connections to them, as support.transport has them to
-- real servers.
local Connection = {}
Connection.__index = Connection

local function receive(self, patience)
  local deadline = self.ensemble:now() + patience
  while true do
    local item = self.client:take()
    if item then return item end
    local now, next = self.ensemble:now(), self.ensemble:next()
    assert(now < deadline, "timeout")
    self.wait(math.max(math.min(next, deadline), now))
  end
end

--- `wait(until)` lets time pass until then, in seconds of the ensemble.
local function open(ensemble, address, options, wait)
  local self = setmetatable({ ensemble = ensemble, wait = wait,
    patience = options.patience or 30 }, Connection)
  self.client = ensemble:open(address, options)
  local session = receive(self, self.patience)
  assert(session.kind == "connected", session.how)
  self.session = session
  return self
end

local XIDS = { ping = -2, auth = -4 }

function Connection:send(request)
  request.xid = XIDS[request.op] or nil
  return self.client:send(request)
end

function Connection:receive() return receive(self, self.patience) end
function Connection:hang_up() self.client:hang_up() end

-- The module of virtual time has it.
local function load()
  local file = assert(package.searchpath("zklock.virtual", package.cpath))
  return assert(package.loadlib(file, "luaopen_zklock_ensemble"))()
end

--- An ensemble, whose servers are at 127.0.0.1:2181, 2182, ...; `settings` as
-- lua_ensemble.c reads them.
local function new(settings, seed)
  return load().new(settings or {}, seed or 1)
end

--- Connects to the first of its servers, or to another; time passes while
-- something is waited for.
local function connect(ensemble, options, address)
  return open(ensemble, address or "127.0.0.1:2181", options or {},
    function() ensemble:step() end)
end

return { new = new, connect = connect, open = open }
