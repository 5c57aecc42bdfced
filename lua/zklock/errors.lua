--- Errors: makes all errors.  Misuse of the API raises an error at the user's
-- line; other failures return `nil, message, code`.
local plain = require "zklock.plain"
local quote = require "zklock.quote"

local errors = {}

-- Without a debug library, as in a sandbox, messages do not name a line.
local getinfo = debug and debug.getinfo or function() end

-- The directory of this library, with which the chunk names of its files begin.
local here = (getinfo(1, "S") or { source = "" }).source
  :match("^(.*)errors%.lua$") or "@?"

local function is_ours(source)
  return source:sub(1, #here) == here or source:sub(1, 7) == "=zklock"
end

-- Returns the level of the innermost Lua function that is not part of zklock.
-- The level is the second argument of error().
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

--- The error codes: `errors.codes.timeout == "timeout"`. A misspelt code raises
-- an error. Without this error, a misspelt code would be nil. A comparison with
-- nil would always be false, and the misspelling would go unnoticed.
errors.codes = setmetatable({}, {
  __index = function(_, word)
    errors.misuse("there is no error code %q", tostring(word))
  end,
})
for word in ([[timeout busy cancelled lost disconnected closed auth denied
    invalid conflict deadlock unsupported]]):gmatch("%a+") do
  errors.codes[word] = word
end

-- The most bytes of untrusted text that a message shows.
local SHOWN = 200

-- Formats like string.format, but uses quote.lua for each `%q`. Lua's own `%q`
-- keeps newlines, but a message must be one line.
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

--- Raises an error for misuse of the API, at the user's line that called
-- zklock.
function errors.misuse(format, ...)
  error(fill(format, ...), level_of_caller())
end

--- Returns `nil, message, code`; formats the message as string.format does.
function errors.refusal(code, format, ...)
  return nil, fill(format, ...), errors.codes[code]
end

--- Returns the text that tostring() returns for an object; formats it as
-- string.format does.
function errors.describe(format, ...)
  return plain.text(format:format(...))
end

--- The reasons why a hold is lost, as guard:reason() returns them. Each has its
-- text for messages.
errors.losses = {
  max_hold_reached = "it was held for as long as max_hold allows",
  node_deleted = "its node was deleted",
  lease_expired = "no server answered until its lease was over",
  connection_lost = "the connection was lost, and lose_on_suspend is true",
  session_expired = "the ZooKeeper session expired",
  session_closed = "another client closed the ZooKeeper session",
}

--- Returns a colon and the text of the reason, to append to a message that ends
-- in "was lost". Returns "" if the reason is unknown.
function errors.because(reason)
  return reason and ": " .. errors.losses[reason] or ""
end

--- Returns the error of a call on a hold of `path` that was lost.
function errors.lost(path, reason)
  return errors.refusal("lost", "the hold of %s was lost%s", path,
    errors.because(reason))
end

--- Adds the article: "mutex" → "a mutex", "election" → "an election".
function errors.with_article(noun)
  return (noun:find "^[aeiou]" and "an " or "a ") .. noun
end

--- Formats a time in seconds: 5 → "5 s", 0.25 → "0.25 s".
function errors.seconds(number)
  return ("%.4g s"):format(number)
end

return errors
