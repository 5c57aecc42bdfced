--- What is said to people, on standard error; standard output is for data.
local plain = require "zklock.plain"

local talk = {}

--- Each line of it is a line: no stranger's text may begin one.
function talk.say(message, ...)
  if select("#", ...) > 0 then message = message:format(...) end
  message = message:gsub("[^\n]+", plain.text)
  io.stderr:write("zklock: ", message, "\n")
end

--- A message of the library's without its name, which stands before it here.
function talk.bare(message) return (message:gsub("^zklock: ", "")) end

return talk
