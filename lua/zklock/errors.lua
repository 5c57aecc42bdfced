--- The one funnel for errors.
-- Misuse raises with the user's line; what the world does comes back as
-- `nil, message, code`.
local errors = {}

-- This library's own files, and the chunks that it loads.
local here = debug.getinfo(1, "S").source:match("^(.*)errors%.lua$") or "@?"

local function is_ours(source)
  return source:sub(1, #here) == here or source:sub(1, 7) == "=zklock"
end

-- The level of the innermost function that is neither ours nor C.
local function level_of_caller()
  local level = 3
  while true do
    local info = debug.getinfo(level, "S")
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
    invalid deadlock unsupported]]):gmatch("%a+") do
  errors.codes[word] = word
end

--- Raises misuse, at the line of the user's code that called us.
function errors.misuse(format, ...)
  error("zklock: " .. format:format(...), level_of_caller())
end

--- `nil, message, code`, as the world's refusals are returned.
function errors.refusal(code, format, ...)
  return nil, "zklock: " .. format:format(...), errors.codes[code]
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

--- 5 → "5 s", 0.25 → "0.25 s"
function errors.seconds(number)
  return ("%.4g s"):format(number)
end

return errors
