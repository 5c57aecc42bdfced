--- A hook that raises between any two instructions of the library's files: for
-- the specs that look at what is left behind then.
local support = require "support"
local waits = require "zklock.wait"

local strikes = {}

-- (Under a hook, or a sanitizer, on a busy machine, a second is a short time.)
function strikes.connect(options)
  options = options or {}
  options.session_timeout = 60
  return support.connect(options)
end

local here = debug.getinfo(require "zklock.errors".refusal, "S").source
  :match "^(.*)errors%.lua$"

local STRIKE = setmetatable({}, { __tostring = function() return "strike" end })
strikes.STRIKE = STRIKE

local getinfo, sethook = debug.getinfo, debug.sethook

-- A call that needs more instructions waits for what never comes: in virtual
-- time nothing does while it spins.
local LONGEST = 1e6

-- The hook strikes at each third instruction: three seeds strike at all.
local STRIDE = 3
local FIRST = (tonumber(os.getenv "SPEC_SEED") or 1) % STRIDE + 1 - STRIDE

-- What LuaJIT has compiled calls no hooks.
if rawget(_G, "jit") then require "jit".off() end

-- Which functions are the library's.
local is_ours = setmetatable({}, {
  __mode = "k",
  __index = function(known, fn)
    known[fn] = getinfo(fn, "S").source:sub(1, #here) == here
    return known[fn]
  end,
})

-- Calls `fn` with a hook that strikes at the `n`th instruction: true if it got
-- through, and its results.
local function call(n, fn)
  local left = LONGEST
  local function hook()
    left = left - 1
    if left == 0 then
      sethook()
      error("it spins", 0)
    end
    if not is_ours[getinfo(2, "f").func] then return end
    n = n - 1
    if n > 0 then return end
    sethook()
    error(STRIKE, 0)
  end
  local function through(ok, ...)
    sethook()
    if not ok and (...) ~= STRIKE then error((...), 0) end
    return ok, ...
  end
  sethook(hook, "", 1)
  return through(pcall(fn))
end

-- Is the server looked at?
local is_thorough = true

--- Does the same thing again and again: the hook strikes at a later instruction
-- each time, until the call gets through.  The collector stands still
-- meanwhile.  `before()` gives what `fn` and `after` get; `after(it,
-- got_through)` looks at it.
function strikes.at_each_instruction(before, fn, after)
  collectgarbage()
  collectgarbage "stop"
  local ok, problem = pcall(function()
    local n = FIRST
    local got_through
    repeat
      n = n + STRIDE
      local subject = before()
      got_through = call(n, function() return fn(subject) end)
      is_thorough = got_through or n % 16 < STRIDE
      local good, why = pcall(after, subject, got_through)
      if not good then
        error(("struck at the instruction %d: %s"):format(n, tostring(why)), 0)
      end
    until got_through
    assert(n > 20, "the hook has struck in vain")
  end)
  collectgarbage "restart"
  is_thorough = true
  if not ok then error(problem, 0) end
end

--- Nobody waits for anything, and nothing is held: the session is as good as
-- new.
function strikes.check_idle(session)
  support.step_until(session, function()
    local stats = session:stats()
    local engine = session._engine
    return stats.holding == 0 and stats.waiting == 0
      and not waits.exist(engine.waits)
      and not next(engine.events.due)
  end, 5, "a session as good as new")
  for _, served in pairs(session._engine.adapters.served) do
    assert(next(served.waiting) == nil, "a loop still attends")
  end
end

--- Nobody holds or waits for the lock, and the session is as good as new.  What
-- is left at the server stays there: it is looked for at each sixteenth strike,
-- and behind the last.
function strikes.check_free(session, lock, path)
  assert(not pcall(lock.release, lock), "the owner holds it")
  if is_thorough then
    lock:acquire(30):release { wait = true }
    assert(#support.zk():queue(path) == 0, "a contender is left")
  end
  strikes.check_idle(session)
end

return strikes
