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

--- The servers are told that the connections are closed, the clients are not.
function Proxy:half_open() self:command "half_open" end

--- The connection that brings the client the Nth byte from now breaks there,
-- unless disarm() comes first.
function Proxy:cut_after(bytes) self:arm { left = bytes } end
function Proxy:disarm() self:arm {} end

return { start = start }
