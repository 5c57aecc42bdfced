--- What cannot be had in virtual time: a test that asks for it is pending.
local real = {}

local give_up = error

require "busted".subscribe({ "test", "start" }, function(element)
  give_up = element.env and element.env.pending or give_up
end)

--- Ends the test: `what` needs real servers, or another process.
function real.is_needed(what) give_up(what .. " is not in virtual time") end

return real
