--- ZooKeeper's wire format: numbers, buffers, and the frames they travel in.
local frame = {}

function frame.int(n)
  n = math.floor(n) % 4294967296
  local a, b, c = math.floor(n / 16777216) % 256,
    math.floor(n / 65536) % 256, math.floor(n / 256) % 256
  return string.char(a, b, c, n % 256)
end

--- A buffer, and a frame as well: its size goes before it.
function frame.buffer(text) return frame.int(#text) .. text end

function frame.read_unsigned(text, at)
  local a, b, c, d = text:byte(at, at + 3)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

function frame.read_int(text, at)
  local n = frame.read_unsigned(text, at)
  return n >= 2147483648 and n - 4294967296 or n
end

--- The first whole frame of `text`, with its size, and the rest; nil: none.
function frame.split(text)
  if #text < 4 then return nil end
  local size = frame.read_unsigned(text, 1) + 4
  if #text < size then return nil end
  return text:sub(1, size), text:sub(size + 1)
end

return frame
