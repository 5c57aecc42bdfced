--- Takes somebody else's session over and closes it, as anybody can who knows
-- its id and its password.  ZooKeeper derives the password from the id:
-- sixteen bytes of Java's Random, seeded with the id xor 0xB3415C00.
local transport = require "support.transport"

local WORD = 2 ^ 24 -- 48 bits are two words: their products are exact

local function xor(a, b)
  local result, bit = 0, 1
  while a > 0 or b > 0 do
    if a % 2 ~= b % 2 then result = result + bit end
    a, b, bit = math.floor(a / 2), math.floor(b / 2), bit * 2
  end
  return result
end

-- `id`: hex, as session:id() has it.
local function password(id)
  local digits = ("0"):rep(16) .. id:gsub("^0x", "")
  -- The secret and what Random scrambles its seed with, at once.
  local high = xor(tonumber(digits:sub(-12, -7), 16), 0x00056D)
  local low = xor(tonumber(digits:sub(-6), 16), 0xADBA6D)
  local bytes = {}
  for _ = 1, 4 do
    local product = low * 0xECE66D + 0xB
    high = (math.floor(product / WORD) + high * 0xECE66D + low * 0x5DE) % WORD
    low = product % WORD
    local number = math.floor((high * WORD + low) / 65536)
    for _ = 1, 4 do
      bytes[#bytes + 1] = string.char(number % 256)
      number = math.floor(number / 256)
    end
  end
  return table.concat(bytes)
end

-- "closed"; "refused": there is no such session; nil: nobody knows.
local function try(host, id)
  local ok, connection = pcall(transport.open, host, { session = id,
    password = password(id), timeout = 5000, patience = 3 })
  if not ok then return nil end
  local result = "refused"
  if connection.session.timeout > 0 then
    connection:send { op = "close" }
    local _, item = pcall(connection.receive, connection)
    result = type(item) == "table" and item.kind == "reply" and "closed" or nil
  end
  connection:hang_up()
  return result
end

--- Closes session `id` through the server at `host` ("ip:port"): true, or
-- false if there was no such session; nil: nobody knows.  (A server that has
-- the session's own connection closes that one first, and now and then ours
-- with it, before or after it has done what we ask.)
local function seize(host, id)
  for attempt = 1, 10 do
    local result = try(host, id)
    if result == "closed" then return true end
    if result == "refused" then return attempt > 1 end
  end
end

return { seize = seize }
