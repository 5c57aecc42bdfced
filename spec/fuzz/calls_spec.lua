-- Calls of every kind, in random order (calls.lua), and calls of contenders
-- that meet (contend.lua): one process after the other, each with a seed of its
-- own, for FUZZ_SECONDS.
local support = require "support"

local SECONDS = tonumber(os.getenv "FUZZ_SECONDS") or 10
local ONE = 3 -- seconds, of one process
local first = tonumber(os.getenv "FUZZ_SEED") or os.time() % 100000 * 100

-- (The sanitizers' interpreter looks for leaks where that variable is not set.)
local COMMAND = "env -u SANITIZED_CHILD timeout -k 5 %d %s spec/fuzz/%s.lua "
  .. "%s %d %d 2>&1 || echo exit status $?" -- (124: it hung)

local function run(script)
  local deadline, seed = support.now() + SECONDS, first
  repeat
    local pipe = io.popen(COMMAND:format(ONE + 120, support.lua, script,
      support.hosts, ONE, seed))
    local output = pipe:read "*a"
    pipe:close()
    local tail = output:sub(-3000)
    if not tail:match(("seed %d\n$"):format(seed)) then
      error(("spec/fuzz/%s.lua with the seed %d: %s"):format(script, seed,
        tail))
    end
    io.stdout:write(tail:match "[^\n]*\n$")
    seed = seed + 1
  until support.now() > deadline and seed - first >= 3
end

describe("Whatever is called", function()
  it("the process lives, and the public API keeps its word", function()
    run "calls"
  end)

  it("contenders of one session leave nothing behind", function()
    run "contend"
  end)
end)
