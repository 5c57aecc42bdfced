--- What a process writes down while it happens: a file of its own, a line for
-- each fact, in one write, so that a killed process leaves what it knew.
--
--     wait N OWNER TIMEOUT PATHS KIND [CODES]
--                                      acquisition N begins; "-": no timeout;
--                                      CODES: refusals that may come of it
--     refused N CODE
--     granted N SESSION
--     hold N PATH MODE TOKEN TURN NODE
--                                      W: alone, R: shared, P3: of 3 permits
--     true N BEFORE, false N BEFORE    what is_held() said since BEFORE
--     lost N                           on_lost was called
--     released N OUTCOME               "true" or "lost"
--     abandoned N                      nobody refers to it any more
--     closed                           the session was closed with all it held
--     event NAME                       as session:on tells it
--     end                              the process has ended by itself
--
-- and the director:
--
--     stopped CLIENT BEGUN, killed CLIENT, fault KIND, violation KIND TEXT…
--
-- Each line begins with the time, by the one clock of this machine.
local core = require "zklock.core"

local Journal = {}
Journal.__index = Journal

local function create(name)
  local file = assert(io.open(name, "w"))
  file:setvbuf "full"
  return setmetatable({ file = file }, Journal)
end

--- Returns the time that was written down.
function Journal:note(...)
  local at = core.now()
  self.file:write(("%.9f "):format(at), table.concat({ ... }, " "), "\n")
  self.file:flush()
  return at
end

--- A list of { at =, word =, … } of the words after the first.
local function read(name)
  local list = {}
  local file = assert(io.open(name))
  -- (Who was killed may not have come to the end of its last line.)
  for line in file:read "*a":gmatch "([^\n]*)\n" do
    local entry = {}
    for word in line:gmatch "%S+" do
      if not entry.at then
        entry.at = tonumber(word)
      elseif not entry.word then
        entry.word = word
      else
        entry[#entry + 1] = word
      end
    end
    list[#list + 1] = entry
  end
  file:close()
  return list
end

return { create = create, read = read }
