--- A witness that does not know the library, for locks that several may hold:
-- a file that everybody appends one line to after the grant and one before
-- the release.  A line is one write, and the file is open for appending, so
-- the order of the lines is that of the writes, whoever made them.  Programs
-- in other languages write the same lines:
--
--     + MODE NAME   after the grant          MODE: R, W or P (a permit)
--     - MODE NAME   before the release
local socket = require "socket"

-- How long a holder stays for company, once and in all: who comes next may be
-- one who must wait for it.
local STAY_S, ALL_STAYS_S = 0.5, 4

local Tally = {}
Tally.__index = Tally

--- The same name makes the same witness, in any process.
local function open(name)
  local file = assert(io.open(name, "a"))
  file:setvbuf "full" -- a line leaves when it is whole
  return setmetatable({ name = name, file = file, left_s = ALL_STAYS_S },
    Tally)
end

local function create() return open(os.tmpname()) end

local function note(self, ...)
  self.file:write(table.concat({ ... }, " "), "\n")
  self.file:flush()
end

function Tally:enter(mode, name) note(self, "+", mode, name) end
function Tally:leave(mode, name) note(self, "-", mode, name) end

-- Have two been inside together?
local function have_met(self, mode)
  local inside = 0
  for line in io.lines(self.name) do
    local sign, its = line:match "^([+-]) ([RWP]) %S" -- or half a line
    if its == mode then inside = inside + (sign == "+" and 1 or -1) end
    if inside > 1 then return true end
  end
  return false
end

--- For a holder that is inside in a `mode` of several: stays until another is,
-- or any two have been, so that it is not chance whether two ever are. If they
-- exclude each other, nobody comes, and it goes after a while.
function Tally:wait_for_company(mode)
  local stay_s = math.min(STAY_S, self.left_s)
  local begun = socket.gettime()
  while not self.met and stay_s > 0 do
    self.met = have_met(self, mode)
    if socket.gettime() - begun >= stay_s then
      self.left_s = self.left_s - stay_s
      return
    end
    if not self.met then socket.sleep(0.002) end -- for the other's line
  end
end

--- How many have entered by now.
function Tally:count()
  local n = 0
  for line in io.lines(self.name) do
    if line:sub(1, 1) == "+" then n = n + 1 end
  end
  return n
end

local function check_inside(inside, permits, line, n)
  local bad
  if inside.W > 1 then
    bad = "two writers"
  elseif inside.W == 1 and inside.R > 0 then
    bad = "a writer beside a reader"
  elseif inside.P > permits then
    bad = ("%d permits of %d"):format(inside.P, permits)
  end
  if bad then error(("line %d (%s): %s"):format(n, line, bad), 0) end
end

--- Reads the history from its beginning; raises if at any moment more were
-- inside than may be.  Returns how many entered, by mode; the most that were
-- inside together, by mode; and how many entered, by name.
function Tally:check(permits)
  local inside = { R = 0, W = 0, P = 0 }
  local entered, most = { R = 0, W = 0, P = 0 }, { R = 0, W = 0, P = 0 }
  local names, open_by, n = {}, {}, 0
  for line in io.lines(self.name) do
    n = n + 1
    local sign, mode, name = line:match "^([+-]) ([RWP]) (%S+)$"
    if not sign then error(("line %d is broken: %q"):format(n, line), 0) end
    local key = mode .. name
    if sign == "+" then
      inside[mode] = inside[mode] + 1
      entered[mode] = entered[mode] + 1
      most[mode] = math.max(most[mode], inside[mode])
      names[name] = (names[name] or 0) + 1
      open_by[key] = (open_by[key] or 0) + 1
    else
      inside[mode] = inside[mode] - 1
      open_by[key] = (open_by[key] or 0) - 1
      if open_by[key] < 0 then
        error(("line %d (%s): left without entering"):format(n, line), 0)
      end
    end
    check_inside(inside, permits or 1, line, n)
  end
  for key, count in pairs(open_by) do
    if count ~= 0 then error(key .. " has not left", 0) end
  end
  return entered, most, names
end

function Tally:close()
  self.file:close()
  os.remove(self.name)
end

return { open = open, create = create }
