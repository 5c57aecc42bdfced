--- A wire between client and server that a spec can cut.  It is a process of
-- its own (support.wire); `proxy.hosts` is where clients connect.
local child = require "support.child"
local support = require "support"

local Proxy = {}
Proxy.__index = Proxy

--- Each new connection goes to the next of `hosts` that accepts one.
local function start(hosts)
  local self = setmetatable({ told = {} }, Proxy)
  self.process = child.spawn([[require "support.wire"((...))]],
    hosts or support.hosts)
  self.hosts = "127.0.0.1:" .. self.process:hear()
  return self
end

-- What the wire tells of itself may come before its answer.
local function command(self, line)
  self.process:say(line)
  local heard = self.process:hear()
  while heard ~= "done" do
    if not heard then error("the proxy has gone", 2) end
    self.told[heard] = true
    heard = self.process:hear()
  end
end

local function await(self, word)
  if not self.told[word] then self.process:expect(word) end
  self.told[word] = nil
end

--- Breaks the connections; new ones are welcome.
function Proxy:cut() command(self, "cut") end

-- These last until heal().

--- Breaks the connections and refuses new ones.
function Proxy:refuse() command(self, "refuse") end
--- Nothing passes and nothing breaks.
function Proxy:freeze() command(self, "freeze") end
--- Everything passes so many seconds later.
function Proxy:delay(seconds) command(self, "delay " .. seconds) end
--- "requests" or "replies" vanish; the other direction is open.
function Proxy:drop(what) command(self, "drop " .. what) end
--- The events of watches vanish, and nothing else does.
function Proxy:mute_events() command(self, "mute_events") end

function Proxy:heal() command(self, "heal") end

-- (Traps stay set until they are sprung, or disarm().)
function Proxy:disarm() command(self, "disarm") end

--- From now on it is at another address of this machine, with the same port;
-- false: somebody else is there.
function Proxy:move(address)
  command(self, "move " .. address)
  local moved = self.told.moved
  self.told.moved, self.told.stays = nil, nil
  return moved == true
end

--- The servers are told that the connections are closed, the clients are not.
function Proxy:half_open() command(self, "half_open") end

local kinds = { create = 15, delete = 2, exists = 3, get = 4, set = 5, list = 8,
  sync = 9, create_both = 1401, delete_both = 1402,
  create_if = 141301, delete_if = 141302, set_if = 141305 }

--- The next reply to a request of this kind is lost, and with it the
-- connection; until heal().  (An unfair lock's node is made, and deleted, with
-- another: create_both, delete_both.  What ends in _if is done only if another
-- node is there.)
function Proxy:lose_reply(kind) command(self, "lose " .. kinds[kind]) end
function Proxy:await_loss() await(self, "lost") end

--- The next request of one of these kinds reaches no server before
-- apply_late(), and its connection breaks.
function Proxy:keep_request(...)
  local numbers = {}
  for i, kind in ipairs { ... } do numbers[i] = kinds[kind] end
  command(self, "keep " .. table.concat(numbers, ","))
end
function Proxy:await_kept() await(self, "kept") end
--- A server reads it now, in the same session, and has answered.
function Proxy:apply_late()
  command(self, "apply")
  await(self, "applied")
end

--- The next reply to a request of this kind is the last thing that passes on
-- its connection.
function Proxy:cut_after_reply(kind)
  command(self, "cut_after_reply " .. kinds[kind])
end
--- The connection that brings the client the Nth byte from now breaks there.
function Proxy:cut_after(bytes) command(self, "cut_after " .. bytes) end
function Proxy:await_cut() await(self, "cut") end

return { start = start }
