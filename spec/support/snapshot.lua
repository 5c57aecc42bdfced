--- Makes a server believe that a directory has seen two milliards of creates:
-- writes the counter into the snapshot that it starts from. (ZooKeeper's
-- FileSnap: records of jute, sealed with their Adler-32.)
local snapshot = {}

local function bytes_of(value, width)
  local bytes = {}
  for i = width, 1, -1 do
    bytes[i] = string.char(value % 256)
    value = math.floor(value / 256)
  end
  return table.concat(bytes)
end

local function int(text, at)
  local a, b, c, d = text:byte(at, at + 3)
  local n = ((a * 256 + b) * 256 + c) * 256 + d
  return n >= 2 ^ 31 and n - 2 ^ 32 or n
end

local function string_of(text) return bytes_of(#text, 4) .. text end

local function adler32(text)
  local a, b = 1, 0
  for i = 1, #text do
    a = (a + text:byte(i)) % 65521
    b = (b + a) % 65521
  end
  return b * 65536 + a
end

local SEAL = string_of "/" -- ends the nodes, and the checksum behind them

-- Where the nodes end.
local function find_end(text)
  local at = 1
  repeat
    at = assert(text:find(SEAL, at, true), "no seal") + #SEAL
  until text:sub(at + 8, at + 7 + #SEAL) == SEAL
  return at - 1
end

local function with_counter(text, path, counter)
  local name = string_of(path)
  local at = assert(text:find(name, 1, true), "no such node") + #name
  at = at + 4 + math.max(0, int(text, at)) -- its data
  at = at + 8 + 4 * 8 + 4 -- acl; czxid, mzxid, ctime, mtime; version
  return text:sub(1, at - 1) .. bytes_of(counter, 4) .. text:sub(at + 4)
end

-- `text` up to the end of the nodes, sealed.
local function sealed(text)
  text = text:sub(1, find_end(text))
  return text .. bytes_of(adler32(text), 8) .. SEAL
end

local function lines_of(command)
  local pipe, lines = io.popen(command), {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

--- Of a single server (support.server): the next sequential node in a path of
-- `counters`, which exists, gets that number.
function snapshot.set_counters(server, counters)
  server:kill()
  server:restart() -- it takes a snapshot as it starts
  server:kill()
  local find = ("find '%s' -name '%%s'"):format(server.dir)
  local newest, highest = nil, -1
  for _, file in ipairs(lines_of(find:format "snapshot.*")) do
    local zxid = tonumber(file:match "%.(%x+)$", 16)
    if zxid > highest then newest, highest = file, zxid end
  end
  local file = assert(io.open(assert(newest, "no snapshot"), "rb"))
  local text = file:read "*a"
  file:close()
  for path, counter in pairs(counters) do
    text = with_counter(text, path, counter)
  end
  file = assert(io.open(newest, "wb"))
  assert(file:write(sealed(text)))
  file:close()
  for _, log in ipairs(lines_of(find:format "log.*")) do os.remove(log) end
  server:restart()
end

return snapshot
