-- The servers stop responding: when the holder notices, and when the lock
-- passes on.  The spec compares the numbers with the table of
-- doc/operations.md, for session_timeout = 10.
local Svg = require "svg"

local numbers = {
  timeout = 10,
  lost = { 4.9, 5.8 },         -- the hold is lost after
  lost_with_tick = { 6.8, 7.5 }, -- … with tick_time = 2
  passes = { 10, 13 },         -- the lock passes on after
}

local LEFT, SECOND = 20, 34.5 -- where 0 stands; units a second
local BAR = 26
local function x(seconds) return LEFT + seconds * SECOND end

local picture = Svg.new {
  width = 520, height = 468,
  title = "A holder whose servers fall silent, with the default "
    .. "session_timeout of 10 seconds",
  desc = ("A time line in seconds from the last answer. The holder's "
    .. "is_held() is true until %g to %g seconds, then it is false, and "
    .. "on_lost is called with the reason lease_expired. With tick_time "
    .. "= 2 it is true until %g to %g. The servers keep the session, and with "
    .. "it the lock's node, until %g to %g seconds; only then is the next in "
    .. "the queue granted the lock. In between no process holds it."):format(
    numbers.lost[1], numbers.lost[2], numbers.lost_with_tick[1],
    numbers.lost_with_tick[2], numbers.passes[1], numbers.passes[2]),
}

local function range(pair)
  return ("%g to %g s"):format(pair[1], pair[2])
end

-- What is certain, then the time in which it ends.
local function bar(y, class, pair)
  picture:rect(x(0), y, x(pair[1]) - x(0), BAR, class, 0)
  picture:rect(x(pair[1]), y, x(pair[2]) - x(pair[1]), BAR,
    class .. " dashed", 0)
end

local function inside(y, tone, words, seconds)
  picture:text(x(seconds or 0) + 8, y + 18, "small on-" .. tone, words)
end

local lost, ticked, passes = numbers.lost, numbers.lost_with_tick,
  numbers.passes
local END = 13.9

picture:text(LEFT, 30, "strong", "No server answers after 0 s")

-- Behind the first three: from the last belief of the holder to the next grant.
picture:rect(x(lost[2]), 74, x(passes[1]) - x(lost[2]), 196, "plain dashed", 0)
picture:text((x(lost[2]) + x(passes[1])) / 2, 67, "middle small soft",
  "no holder")

picture:text(LEFT, 67, "small", "The holder, by its clock")
bar(75, "good", lost)
inside(75, "good", "is_held() = true")
picture:rect(x(lost[2]), 75, x(END) - x(lost[2]), BAR, "bad", 0)
inside(75, "bad", "lost: false; on_lost is called", lost[2])
picture:text(x(lost[2]) - 5, 119, "small strong end", range(lost))

picture:text(LEFT, 154, "small", "The servers")
bar(162, "note", passes)
inside(162, "note", "the session, and its node, still count")
inside(162, "note", "may end", passes[1])
picture:text(x(passes[2]), 206, "small strong end", range(passes))

picture:text(LEFT, 236, "small", "The next in the queue")
bar(244, "wait", passes)
inside(244, "wait", "waits")
picture:rect(x(passes[2]), 244, x(END) - x(passes[2]), BAR, "good", 0)
inside(244, "wait", "is granted", passes[1])

picture:line(x(0), 290, x(END), 290, "stroke")
for _, second in ipairs { 0, 5, 10, 13 } do
  picture:line(x(second), 286, x(second), 294, "stroke")
  picture:text(x(second), 311, "small middle",
    second == 0 and "0" or second .. " s")
end

picture:text(LEFT, 352, "small", "The holder, with the option tick_time = 2")
bar(360, "good", ticked)
inside(360, "good", "is_held() = true")
picture:rect(x(ticked[2]), 360, x(END) - x(ticked[2]), BAR, "bad", 0)
inside(360, "bad", "lost", ticked[2])
picture:text(x(ticked[2]), 404, "small strong end", range(ticked))

picture:text(LEFT, 436, "small soft", {
  "Seconds from the last answer; session_timeout = 10, tickTime=2000;",
  "of a lock held for 3.3 s by then. Dashed: it ends in that time." }, 18)

return picture, numbers
