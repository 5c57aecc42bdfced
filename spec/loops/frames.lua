--- The game loop that doc/loops.md shows, as a module: `{ adapter, spawn,
-- sleep, run }`.
local files = require "support.files"

local function read(name)
  return files.read((os.getenv "SPEC_ROOT" or ".") .. "/" .. name)
end

local frames = {}

--- The code as it stands on that page.
frames.source = assert(read "doc/loops.md":match
  "```lua\n(%-%- A game loop.-)```", "doc/loops.md has no game loop")

--- The example that has a game around it.
frames.example = read "examples/game_loop.lua"

local code = frames.source .. [[
return { adapter = adapter, spawn = spawn, sleep = sleep, frame = frame,
  is_idle = function() return #ready == 0 and not next(parked) end }
]]
local loop = assert((loadstring or load)(code, "=doc/loops.md"))(...)

frames.adapter, frames.spawn, frames.sleep =
  loop.adapter, loop.spawn, loop.sleep

--- Two hundred frames a second.
function frames.run(limit)
  local socket, now = require "socket", require "zklock".now
  local deadline = now() + limit
  while not loop.is_idle() and now() < deadline do
    loop.frame()
    socket.sleep(0.005)
  end
end

return frames
