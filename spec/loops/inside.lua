--- Integration specs once more, each test as a task of an event loop: what is
-- true where a wait blocks must be true where it suspends.
local support = require "support"

-- Tests whose point is a loop of their own, in the middle of ours.
local own_loop = {
  "lets its function wait in a coroutine, except on PUC 5.1",
  "a wait suspends its coroutine alone, and one holds at a time",
}

local function has_own_loop(title)
  for _, ending in ipairs(own_loop) do
    if title:sub(-#ending) == ending then return true end
  end
end

local sessions, runner -- those of the test that runs, and its loop

local connect = support.connect
function support.connect(options)
  if not sessions then return connect(options) end
  local copy = { loop = runner.loop }
  for key, value in pairs(options or {}) do copy[key] = value end
  local session = connect(copy)
  sessions[#sessions + 1] = session
  return session
end

-- A session with a callback that is still expected would keep the loop.
local function close_sessions()
  for _, session in ipairs(sessions) do session:close() end
  sessions = nil
end

local function run(fn)
  runner.run(function()
    local ok, problem = pcall(fn)
    close_sessions()
    if not ok then error(problem, 0) end
  end)
end

local function load_with(path, env)
  if not setfenv then return assert(loadfile(path, "t", env)) end
  return setfenv(assert(loadfile(path)), env)
end

--- Runs spec/integration/<name>_spec.lua of each name in the loop; `globals`
-- are those of the spec file that calls this.
return function(in_loop, globals, names)
  local env = setmetatable({}, { __index = globals })
  function env.it(title, fn)
    if has_own_loop(title) then return end
    globals.it(title, function() run(fn) end)
  end
  function env.before_each(fn)
    globals.before_each(function() runner.run(fn) end)
  end

  local root = os.getenv "SPEC_ROOT" or "."
  for name in names:gmatch "%S+" do
    globals.describe("In a loop, " .. name, function()
      globals.before_each(function() sessions, runner = {}, in_loop end)
      load_with(("%s/spec/integration/%s_spec.lua"):format(root, name), env)()
    end)
  end
end
