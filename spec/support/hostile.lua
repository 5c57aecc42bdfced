--- A server that does what it should not: support.wire, at one address or
-- several.  `hostile.hosts` is where clients connect.
--
--     local hostile = start { count = 2 }
--     hostile:behave({ kind = "handshake", drop_after = 0 }, 1)
--
-- The manners of an address; each is replaced as a whole, for what is heard
-- from then on:
--
--     kind = "pass"       passes on to a server, but (what is given of it):
--       asks = seconds        asks that server for this session timeout
--       says = seconds        tells the client that it got this one
--       delay_all = seconds   all requests and replies come so much later,
--       delay_connect = s     or the connect reply only,
--       hold_connect = true   which waits for release()
--       lose_connect = n      n connect replies are lost, with the connection
--       mute_connect = n      n connect replies do not come (in virtual time)
--       mute = true           nothing comes but the connect reply
--       cut_auth = n          n connections end before an auth reply
--       mute_auth = n         n auth replies do not come, nor any after them
--       refuse_auth = n       n times a credential is refused
--       fails = n             n requests are answered by "marshalling error":
--                             what a server says when it has failed itself
--                             (in virtual time)
--       drop_at = n           the connection ends at the nth request
--       largest = bytes       a larger frame is not read, and the connection
--                             ends with all that is unanswered
--       refuse = true         accepts no connection
--       drop = "requests"     vanish; or "replies"
--       drip = seconds        pass between two bytes
--       lie = n               tells the lie of this number of support.lies
--     kind = "bytes"      passes on any protocol, unread:
--       rate = n              so many bytes a second of what servers say
--     kind = "silent"     accepts, and says nothing
--     kind = "close"      accepts, and closes at once
--     kind = "stranger"   speaks another protocol:
--       says = text           answers this to the first bytes (a space is %20),
--       stays = true          and does not close
--     kind = "frozen"     nothing passes and nothing breaks
--
-- Times of `n` may be "always".
local child = require "support.child"
local support = require "support"

local Hostile = {}
Hostile.__index = Hostile

--- `options`: `hosts`, those of the server to which "pass" passes (the first
-- that accepts); `count`, of addresses (1), each with a port of its own; or
-- `addresses`, a list of IPv4 addresses, all with the same port.  All pass at
-- first.
local function start(options)
  options = options or {}
  local self = setmetatable({}, Hostile)
  self.process = child.spawn([[require "support.wire"(...)]],
    options.hosts or support.hosts,
    table.concat(options.addresses or {}, ","),
    options.addresses and #options.addresses or options.count or 1)
  self.hosts = self.process:hear()
  if not self.hosts or self.hosts == "" then
    error("no address: " .. self.process:output(), 2)
  end
  return self
end

--- Does what support.wire has a command for: what that says.
function Hostile:command(name, i, words)
  self.process:say(("%s %d %s"):format(name, i or 0, words or ""))
  local answers = {}
  while true do
    local heard = self.process:hear()
    if not heard then
      error("the hostile server has gone: " .. self.process:output(), 2)
    end
    if heard == "done" then return answers end
    answers[#answers + 1] = heard
  end
end

--- Where address `i` is, "ip:port".
function Hostile:host(i) return support.host(self.hosts, i) end

local function words_of(map)
  local words = {}
  for key, value in pairs(map) do
    words[#words + 1] = key .. "=" .. tostring(value)
  end
  return table.concat(words, " ")
end

--- From now on; address `i`, or all.
function Hostile:behave(manners, i)
  self:command("behave", i, words_of(manners))
end

--- Sets traps, each for once: `lose` or `last`, ZooKeeper's number of a kind of
-- request; `left`, so many bytes for clients.
function Hostile:arm(traps, i) self:command("arm", i, words_of(traps)) end

--- Ends the connections of address `i`, or all.
function Hostile:cut(i) self:command("cut", i) end

--- The connect replies that are held at address `i`, or all, are told.
function Hostile:release(i) self:command("release", i) end

-- When this has happened at address `i`, or at all.
local function moments(self, what, i)
  local list = {}
  for _, line in ipairs(self:command("tell", i)) do
    local at, word = line:match "(%S+) (%S+)"
    if word == what then list[#list + 1] = tonumber(at) end
  end
  return list
end

--- How often: "connection" (accepted), "return" (a client asked for the session
-- that it had), "handshake" (a connect reply was sent), "auth" or "request".
function Hostile:count(what, i) return #moments(self, what, i) end

--- The most of one kind that happened within any `seconds` in a row.
function Hostile:most(what, seconds, i)
  local times, first, most = moments(self, what, i), 1, 0
  for last, at in ipairs(times) do
    while times[first] < at - seconds do first = first + 1 end
    most = math.max(most, last - first + 1)
  end
  return most
end

return { start = start, class = Hostile }
