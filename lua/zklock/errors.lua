--- The one funnel for errors.
-- Misuse raises with the caller's line; what the world does comes back as
-- `nil, message, code`.
local errors = {}

--- The stable words: `errors.codes.timeout == "timeout"`.
errors.codes = {}
for word in ([[timeout busy cancelled lost expired disconnected closed auth
    invalid deadlock unsupported]]):gmatch("%a+") do
  errors.codes[word] = word
end

--- Raises misuse.  `level` is the caller's, counted from our caller.
function errors.misuse(level, format, ...)
  error("zklock: " .. format:format(...), level + 1)
end

--- `nil, message, code`, as the world's refusals are returned.
function errors.refusal(code, format, ...)
  return nil, "zklock: " .. format:format(...), errors.codes[code]
end

--- 5 → "5 s", 0.25 → "0.25 s"
function errors.seconds(number)
  return ("%.4g s"):format(number)
end

return errors
