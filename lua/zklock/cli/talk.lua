--- Talk: writes messages on standard error; standard output is for data.
local plain = require "zklock.plain"

local talk = {}

local guardian, writer -- set by talk.begin
local PATIENCE = 1000 -- milliseconds to wait for the last writes of the process

--- From now on, a thread writes the messages, so that a blocked standard error
-- does not block the loop. The guardian must be forked before this call, while
-- this process has only one thread.
function talk.begin()
  guardian = require "zklock.guardian"
  writer = writer or guardian.writer(2)
end

--- Writes the text as it is. Returns false, and writes nothing, if there is no
-- room for the text because standard error is blocked.
function talk.write(text)
  if writer then return guardian.take(writer, text, true) == #text end
  io.stderr:write(text)
  return true
end

--- Returns whether everything was written.
function talk.is_idle() return not writer or (guardian.is_idle(writer)) end

--- Waits until everything is written, for PATIENCE at most. Called at the end
-- of the process.
function talk.finish()
  if writer then guardian.finish(writer, PATIENCE) end
end

--- Writes a message. Escapes each of its lines, so that untrusted text in it
-- cannot begin a new line.
function talk.say(message, ...)
  if select("#", ...) > 0 then message = message:format(...) end
  message = message:gsub("[^\n]+", plain.text)
  talk.write("zklock: " .. message .. "\n")
end

--- Returns a message of the library without its prefix "zklock: ", because
-- talk.say adds the prefix again.
function talk.bare(message) return (message:gsub("^zklock: ", "")) end

return talk
