-- Calls of every kind, in random order (calls.lua): one process after the
-- other, each with a seed of its own, for FUZZ_SECONDS; or the same three.
local output_of = require "support.shell".output
local support = require "support"

local SECONDS = tonumber(os.getenv "FUZZ_SECONDS")
local CALLS = 5000 -- of one process
local first = tonumber(os.getenv "FUZZ_SEED")
  or SECONDS and os.time() % 100000 * 100 or 1

-- (The sanitizers' interpreter looks for leaks where that variable is not set.)
local COMMAND = "env -u SANITIZED_CHILD timeout -k 5 600 %s "
  .. "spec/fuzz/calls.lua %d %d 2>&1 || echo exit status $?" -- (124: it hung)

-- (os.time is the servers'.)
local function now() return tonumber(output_of "date +%s") end

local function call(seed)
  local output = output_of(COMMAND:format(support.lua, seed, CALLS))
  local last = output:sub(-3000)
  if not last:match(("seed %d\n$"):format(seed)) then
    error(("spec/fuzz/calls.lua with the seed %d: %s"):format(seed, last))
  end
  return last:match "[^\n]*\n$"
end

describe("Whatever is called", function()
  it("the process survives, and the API works as documented", function()
    local seed, deadline = first, now() + (SECONDS or 0)
    repeat
      io.stdout:write(call(seed))
      seed = seed + 1
    until now() > deadline and seed - first >= 3
  end)

  it("is called again, from the same seed", function()
    assert.equal(call(first), call(first))
  end)
end)
