-- A lock is a queue of nodes: three moments of it.
local Svg = require "svg"

local WIDTH, BOX, GAP = 520, 150, 20
local LEFT = (WIDTH - 3 * BOX - 2 * GAP) / 2

local picture = Svg.new {
  width = WIDTH, height = 548,
  title = "A lock is a queue of nodes, and each waiter watches the one before",
  desc = "Three moments. One: process A has the first node, number 31, and "
    .. "holds the lock; B, number 32, watches A's node; C, number 33, watches "
    .. "B's. Two: A releases, its node is deleted, and the server tells B, "
    .. "and no other process. Three: B has the first node and holds the lock; "
    .. "C goes on watching B; D comes now, has the last number, 34, and "
    .. "watches C.",
}

local function left_of(place) return LEFT + (place - 1) * (BOX + GAP) end

local function node(place, y, class, name, number, state)
  picture:box(left_of(place), y, BOX, 74, class,
    { "*process " .. name, "`…-00000000" .. number, state })
end

-- From the box at `place` to the one before it, below both.
local function below(place, y, tone, words, backwards)
  local from = left_of(place) + BOX / 2 - 18
  local to = left_of(place - 1) + BOX / 2 + 18
  if backwards then from, to = to, from end
  local class = tone and "line line-" .. tone or "stroke"
  picture:path(("M%g %gC%g %g %g %g %g %g"):format(from, y, from, y + 26, to,
    y + 26, to, y + 8), class .. (tone and "" or " dashed"))
  picture:head(to, y + 1, 0, -1, tone and "head-" .. tone or "head")
  picture:text((from + to) / 2, y + 38,
    "small middle " .. (tone and "strong on-" .. tone or "soft"), words)
end

local function title(y, words)
  picture:text(LEFT, y, "strong", words)
end

title(32, "1. A holds. Each waiter watches one node.")
node(1, 46, "good", "A", 31, "holds the lock")
node(2, 46, "wait", "B", 32, "waits")
node(3, 46, "wait", "C", 33, "waits")
below(2, 122, nil, "B watches A")
below(3, 122, nil, "C watches B")

title(206, "2. A releases: its node is deleted.")
node(1, 220, "plain dashed open", "A", 31, "released")
node(2, 220, "wait", "B", 32, "is told")
node(3, 220, "wait", "C", 33, "waits")
below(2, 296, "note", "the server tells B", true)
below(3, 296, nil, "C watches B")

title(380, "3. B is first, and holds. D comes: to the end.")
node(1, 394, "good", "B", 32, "holds the lock")
node(2, 394, "wait", "C", 33, "waits")
node(3, 394, "wait", "D", 34, "waits")
below(2, 470, nil, "C watches B")
below(3, 470, nil, "D watches C")
picture:text(LEFT, 534, "small soft",
  "If A dies, the server deletes its node when A's session ends.")

return picture
