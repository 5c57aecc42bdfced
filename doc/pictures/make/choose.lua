-- Which lock, and which loop: questions, from the top.
local Svg = require "svg"

local WIDTH, ASK, GIVE = 520, 262, 190
local LEFT, RIGHT = 14, 520 - 190 - 14

local picture = Svg.new {
  width = WIDTH, height = 1154,
  title = "Which lock to take, and which event loop",
  desc = "Questions from the top; the first yes decides. One process is to "
    .. "lead for long: election. A job once in each period: once. Processes "
    .. "wait for each other, or for a start: double_barrier, barrier. Several "
    .. "locks at once: multi. Up to n may hold it: semaphore. Many read, few "
    .. "write: rwlock. Many tasks of one process contend: mutex with "
    .. "local_turns. The order does not matter, few wait: mutex with fair = "
    .. "false. Else: mutex. For the loop, loop = \"auto\" finds the one that "
    .. "runs. Plain script: poll. OpenResty or nginx: the module zklock.ngx. "
    .. "luv, cqueues, copas, skynet: the loop of that name, in a task of it. A "
    .. "loop of your own: an adapter.",
}

local y = 36

local function heading(words, small)
  picture:text(LEFT, y, "large strong", words)
  picture:text(LEFT, y + 22, "small soft", small)
  y = y + 36
end

-- A question, to whose right stands what "yes" leads to.
local function ask(question, answer)
  picture:box(LEFT, y, ASK, 50, "plain", question)
  picture:box(RIGHT, y, GIVE, 50, "good", answer)
  picture:arrow { { LEFT + ASK, y + 25 }, { RIGHT, y + 25 } }
  picture:text((LEFT + ASK + RIGHT) / 2 - 3, y + 18, "small middle soft", "yes")
  picture:arrow { { LEFT + 40, y + 50 }, { LEFT + 40, y + 70 } }
  picture:text(LEFT + 54, y + 65, "small soft", "no")
  y = y + 70
end

local function otherwise(words)
  picture:box(LEFT, y, ASK, 40, "good", words)
  y = y + 40
end

heading("Which lock?", "From the top: the first “yes” decides.")
ask({ "Shall one of many processes", "lead, for long?" }, "`election")
ask({ "Shall a job run once", "in each period?" }, "`once")
ask({ "Do processes wait for a start,", "or for each other?" },
  { "`barrier", "`double_barrier" })
ask({ "Several locks at a time,", "all or none?" }, "`multi")
ask({ "May up to n hold it", "at a time?" }, "`semaphore")
ask({ "Do many read what", "few write?" }, "`rwlock")
ask({ "Do many tasks of one process", "contend for it?" },
  { "`mutex", "`local_turns = 64" })
ask({ "Do few wait, and does", "their order not matter?" },
  { "`mutex", "`fair = false" })
otherwise "`mutex"

y = y + 50
heading("Which loop?", "loop = \"auto\", the default, finds the one that runs.")

local function row(where, what)
  picture:box(LEFT, y, ASK, 44, "plain", where)
  picture:box(RIGHT, y, GIVE, 44, "note", what)
  picture:arrow { { LEFT + ASK, y + 22 }, { RIGHT, y + 22 } }
  y = y + 54
end

row("a plain script", "`poll")
row("nginx, OpenResty", "`zklock.ngx")
row("a coroutine in luv", "`luv")
row("a task of cqueues", "`cqueues")
row("a thread of copas", "`copas")
row("a service of skynet", "`skynet")
row({ "another loop, or a", "scheduler of your own" }, "an adapter table")

return picture
