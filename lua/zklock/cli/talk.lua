--- Talk: writes messages on standard error; standard output is for data.
local plain = require "zklock.plain"

local talk = {}

local stream                         -- set by talk.begin
local pending, is_busy = "", false   -- what stream.write has not got yet
local ROOM = 65536                   -- the longest `pending`

local function write_pending()
  local text = pending
  pending, is_busy = "", text ~= ""
  if is_busy then stream.write(2, text, write_pending) end
end

--- From now on, a blocked standard error does not block the loop. The guardian
-- must be forked before this call, while this process has only one thread.
function talk.begin() stream = require "zklock.cli.stream" end

--- Writes the text as it is. Drops the text if standard error is blocked and
-- much text waits already.
function talk.write(text)
  if not stream then
    io.stderr:write(text)
  elseif #pending + #text <= ROOM then
    pending = pending .. text
    if not is_busy then write_pending() end
  end
end

--- Returns whether everything was written.
function talk.is_idle() return not is_busy end

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
