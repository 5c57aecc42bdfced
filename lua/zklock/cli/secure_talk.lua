--- Speaks TLS over a TCP connection of luv, for `zklock check`.
local secure = require "zklock.secure"

local Talk = {}
Talk.__index = Talk

--- Returns the client's certificate, in the form in which `zklock check` shows
-- certificates. Returns nil if there is none, or if the files of the option
-- `tls` cannot be used.
function Talk.own_certificate(tls)
  local module = secure.load()
  if not module then return nil end
  local ok, names, expires, days = module.check(tls)
  return ok and names and { names = names, expires = expires, days = days }
    or nil
end

--- Begins TLS on the connection `tcp` to the server `host`. `say`: the text to
-- send when the handshake is done. Returns an object for the TLS connection; or
-- nil and what is wrong.
function Talk.begin(tcp, tls, host, say)
  local module, problem = secure.load()
  if not module then return nil, problem end
  local link, fault = module.link(tls, tls.name or host)
  if not link then return nil, fault end
  local self = setmetatable({ tcp = tcp, link = link, say = say }, Talk)
  return self:go_on() and self
end

function Talk:send_pending()
  local data = self.link:drain()
  if data ~= "" then self.tcp:write(data) end
end

-- Continues the handshake, and sends the bytes that it has produced. Returns
-- "done" when the handshake is complete; nil and a message if it fails;
-- otherwise another string.
function Talk:go_on()
  local state, problem = self.link:handshake()
  if state == "done" then
    self.is_done = true
    self.names, self.expires, self.days = self.link:certificate()
    self.link:send(self.say)
  end
  self:send_pending()
  return state, problem
end

--- Decrypts `chunk`, bytes that the server has sent. Returns the decrypted
-- text, which is "" if no text is complete yet; or nil and what is wrong.
function Talk:hear(chunk)
  if not self.has_heard and not chunk:find "^[\21\22]" then
    return nil, "speaks no TLS on this port"
  end
  self.has_heard = true
  self.link:feed(chunk)
  if not self.is_done then
    local state, problem = self:go_on()
    if state ~= "done" then return state and "", problem end
  end
  local parts = {}
  repeat
    local text, problem = self.link:receive()
    if not text then return nil, problem end
    parts[#parts + 1] = text
  until text == ""
  return table.concat(parts)
end

function Talk:close() self.link:close() end

return Talk
