--- A connection to a server of the model, as support.transport has it to a real
-- one.  `wait(until)` lets time pass until then, in seconds of the ensemble.
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

return { open = open }
