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

local MOST = 200000 -- frames in which a loop has to end

--- A thousand frames a second, so that waits end nearly in time.
function frames.run()
  local sleep = require "socket".sleep
  for _ = 1, MOST do
    if loop.is_idle() then return end
    loop.frame()
    sleep(0.001) -- until the next frame
  end
end

return frames
