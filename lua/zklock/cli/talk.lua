--- Messages on standard error; standard output is for data.
local plain = require "zklock.plain"

local talk = {}

-- A standard error that blocks keeps so many bytes; later messages are lost.
local ROOM = 65536

local writer -- while a loop runs, which must not block

--- From now on a standard error that blocks does not block the loop.
function talk.use_loop() writer = require "zklock.cli.writer".new(2) end

--- Writes the text as it is.
function talk.write(text)
  if not writer then
    io.stderr:write(text)
  elseif writer.size + #text <= ROOM then
    writer:write(text)
  end
end

--- Has everything been written?
function talk.is_idle() return not writer or writer:is_idle() end

--- At the end of the process: waits until all output is written.  False: a
-- descriptor blocks for too long.
function talk.flush() return not writer or writer.flush() end

--- Writes a message.  Each line of it stays one line: untrusted text cannot
-- begin another.
function talk.say(message, ...)
  if select("#", ...) > 0 then message = message:format(...) end
  message = message:gsub("[^\n]+", plain.text)
  talk.write("zklock: " .. message .. "\n")
end

--- A message of the library without its name, which `say` writes before it.
function talk.bare(message) return (message:gsub("^zklock: ", "")) end

return talk
