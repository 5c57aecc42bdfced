--- The same as loop_poll, by cqueues.
local cqueues = require "cqueues"

local loop = { option = "cqueues" }
local controller = cqueues.new()

function loop.spawn(fn, ...) controller:wrap(fn, ...) end

loop.sleep = cqueues.sleep

function loop.listen(fn)
  controller:wrap(function()
    repeat
      cqueues.poll { pollfd = 0, events = "r" }
      local line = io.read()
      fn(line)
    until not line or loop.stopped
  end)
end

function loop.run()
  while not loop.stopped do assert(controller:step()) end
end

function loop.stop() loop.stopped = true end

return loop
