--- Messages on standard error; standard output is for data.
local plain = require "zklock.plain"

local talk = {}

local guardian, writer -- set once a loop runs, which must not block
local PATIENCE = 1000 -- milliseconds for the last writes of the process

--- Makes messages not block any more when standard error does. This starts a
-- thread, so the guardian must be forked before.
function talk.begin()
  guardian = require "zklock.guardian"
  writer = writer or guardian.writer(2)
end

--- Writes the text as it is. Returns false if standard error blocks and there
-- is no room for the text.
function talk.write(text)
  if writer then return guardian.take(writer, text, true) == #text end
  io.stderr:write(text)
  return true
end

--- Returns true if everything has been written.
function talk.is_idle() return not writer or (guardian.is_idle(writer)) end

--- Called at the end of the process. Waits until everything is written, if that
-- does not take long.
function talk.finish()
  if writer then guardian.finish(writer, PATIENCE) end
end

--- Writes a message. Each line of it stays one line, so that untrusted text
-- cannot begin another.
function talk.say(message, ...)
  if select("#", ...) > 0 then message = message:format(...) end
  message = message:gsub("[^\n]+", plain.text)
  talk.write("zklock: " .. message .. "\n")
end

--- Returns a message of the library without its prefix, which `say` adds.
function talk.bare(message) return (message:gsub("^zklock: ", "")) end

return talk
