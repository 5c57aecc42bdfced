-- A late writer is refused by its fencing token.
local Svg = require "svg"

local A, B, STORE = 84, 262, 432 -- the lanes

local picture = Svg.new {
  width = 520, height = 500,
  title = "A late writer is refused by its fencing token",
  desc = "Process A is granted the lock with token 33, writes with it, and "
    .. "the storage accepts: the greatest token it has seen is 33. Then A is "
    .. "paused, for longer than its lease; its session ends, and process B is "
    .. "granted the lock with token 34. B writes with 34, which the storage "
    .. "accepts. A goes on and writes with 33, not knowing that it is late. "
    .. "The storage has seen 34, and refuses.",
}

local function lane(centre, name, last)
  picture:line(centre, 62, centre, last, "stroke dashed")
  picture:box(centre - 72, 22, 144, 38, "plain", "*" .. name)
end

local function write(from, y, tone, words)
  picture:arrow({ { from, y }, { STORE - 81, y } }, tone)
  picture:text(from + 10, y - 7, "small on-" .. tone, words)
end

local function label(y, class, words)
  picture:box(STORE - 80, y, 160, 44, class, words)
end

lane(A, "process A", 480)
lane(B, "process B", 480)
lane(STORE, "storage", 480)

picture:box(A - 72, 76, 144, 44, "good", { "is granted", "*token 33" })
write(A + 6, 150, "good", "write, with 33")
label(130, "good", { "33: accepted", "greatest: 33" })

picture:box(A - 72, 196, 144, 170, "plain dashed",
  { "is paused,", "for longer", "than its lease" })
picture:box(B - 72, 206, 144, 82, "good",
  { "A's session ends;", "is granted", "*token 34" })
write(B + 6, 330, "good", "with 34")
label(310, "good", { "34: accepted", "greatest: 34" })

picture:box(A - 72, 382, 144, 26, "wait", "goes on")
write(A + 6, 446, "bad", "write, with 33")
label(424, "bad", { "*33 < 34: refused", "greatest: 34" })

return picture
