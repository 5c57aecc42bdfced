--- A wire between client and server that a spec can cut; `proxy.hosts` is where
-- clients connect.  What support.hostile can do, under other names: those that
-- the links of virtual time have, too.
local hostile = require "support.hostile"

local Proxy = setmetatable({}, { __index = hostile.class })
Proxy.__index = Proxy

--- Each new connection goes to the next of `hosts` that accepts one.
local function start(hosts)
  return setmetatable(hostile.start { hosts = hosts }, Proxy)
end

-- These last until heal().

--- Breaks the connections and refuses new ones.
function Proxy:refuse()
  self:behave { refuse = true }
  self:cut()
end
--- Nothing passes and nothing breaks.
function Proxy:freeze() self:behave { kind = "frozen" } end
--- Everything passes so many seconds later.
function Proxy:delay(seconds) self:behave { delay_all = seconds } end
--- "requests" or "replies" vanish; the other direction is open.
function Proxy:drop(what) self:behave { drop = what } end

function Proxy:heal() self:behave {} end

--- From now on it is at another address of this machine, with the same port;
-- false: somebody else is there.
function Proxy:move(address)
  return self:command("move", 0, address)[1] == "moved"
end

--- The servers are told that the connections are closed, the clients are not.
function Proxy:half_open() self:command "half_open" end

-- Traps stay set until they are sprung, another one is set, or disarm().

local KINDS = { create = 15, delete = 2, get = 4, list = 8 }

function Proxy:disarm() self:arm {} end

--- The next reply to a request of this kind is lost, and with it the
-- connection; until heal().
function Proxy:lose_reply(kind) self:arm { lose = KINDS[kind] } end

--- The next reply to a request of this kind is the last thing that passes on
-- its connection.
function Proxy:cut_after_reply(kind) self:arm { last = KINDS[kind] } end
--- The connection that brings the client the Nth byte from now breaks there.
function Proxy:cut_after(bytes) self:arm { left = bytes } end

return { start = start }
