--- The one funnel for errors.
-- Misuse raises with the user's line; what the world does comes back as
-- `nil, message, code`.
local plain = require "zklock.plain"
local quote = require "zklock.quote"

local errors = {}

-- (A sandbox may have no debug library: then no line is blamed.)
local getinfo = debug and debug.getinfo or function() end

-- This library's own files, and the chunks that it loads.
local here = (getinfo(1, "S") or { source = "" }).source
  :match("^(.*)errors%.lua$") or "@?"

local function is_ours(source)
  return source:sub(1, #here) == here or source:sub(1, 7) == "=zklock"
end

-- The level of the innermost function that is neither ours nor C.
local function level_of_caller()
  local level = 3
  while true do
    local info = getinfo(level, "S")
    if not info then return 2 end
    if info.what ~= "C" and info.what ~= "tail"
        and not is_ours(info.source) then
      return level - 1
    end
    level = level + 1
  end
end

--- The stable words: `errors.codes.timeout == "timeout"`.  One that is
-- misspelt raises: compared with a code, nil would never be equal.
errors.codes = setmetatable({}, {
  __index = function(_, word)
    errors.misuse("there is no error code %q", tostring(word))
  end,
})
for word in ([[timeout busy cancelled lost expired disconnected closed auth
    denied invalid conflict deadlock unsupported]]):gmatch("%a+") do
  errors.codes[word] = word
end

-- So much is shown of what somebody has written.
local SHOWN = 200

-- What is given for each `%q`, which is somebody's text, quoted.  (Lua's own
-- `%q` leaves newlines in it.)
local function quote_each(format, ...)
  local given, n = { ... }, 0
  format = format:gsub("%%[%d.]*([%a%%])", function(conversion)
    if conversion ~= "%" then n = n + 1 end
    if conversion ~= "q" then return nil end
    given[n] = quote(given[n]:sub(1, SHOWN), #given[n] > SHOWN)
    return "%s"
  end)
  return format:format((table.unpack or unpack)(given, 1, select("#", ...)))
end

local function fill(format, ...)
  local fitting = format:find("%q", 1, true) and quote_each or string.format
  return "zklock: " .. plain.text(fitting(format, ...))
end

--- Raises misuse, at the line of the user's code that called us.
function errors.misuse(format, ...)
  error(fill(format, ...), level_of_caller())
end

--- `nil, message, code`, as the world's refusals are returned.
function errors.refusal(code, format, ...)
  return nil, fill(format, ...), errors.codes[code]
end

--- What tostring() says of an object.
function errors.describe(format, ...)
  return plain.text(format:format(...))
end

--- What ended a hold that its owner had not released: the words of
-- `guard:reason()`, and what they mean.
errors.losses = {
  max_hold = "it was held for as long as max_hold allows",
  deleted = "its node was deleted",
  silence = "no server answered until its lease was over",
  suspended = "the connection was lost, and on_suspend is \"lose\"",
  expired = "the ZooKeeper session expired",
  closed = "somebody else closed the ZooKeeper session",
}

--- ": …", as it goes on after "was lost"; nothing if it is not known.
function errors.because(reason)
  return reason and ": " .. errors.losses[reason] or ""
end

--- The refusal of who has lost the hold of `path`.
function errors.lost(path, reason)
  return errors.refusal("lost", "the hold of %s was lost%s", path,
    errors.because(reason))
end

--- What `on_lost` hears as the code.
function errors.code_of_loss(reason)
  local over = reason == "expired" or reason == "closed"
  return errors.codes[over and "expired" or "lost"]
end

--- "mutex" → "a mutex", "election" → "an election"
function errors.with_article(noun)
  return (noun:find "^[aeiou]" and "an " or "a ") .. noun
end

--- 5 → "5 s", 0.25 → "0.25 s"
function errors.seconds(number)
  return ("%.4g s"):format(number)
end

return errors
