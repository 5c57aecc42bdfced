-- Thousands of tasks in one process; `CROWD=10000` for the full number.
local runners = require "loops.runners"
local support = require "support"

local TASKS = tonumber(os.getenv "CROWD") or 1000
local LOCKS, ROUNDS = 100, 12

local function use(env, session, path)
  local inside, finished = {}, 0
  for i = 1, TASKS do
    env.spawn(function()
      local name = ("%s/%d"):format(path, i % LOCKS)
      local guard = assert(session:mutex(name):acquire(120))
      assert.is_nil(inside[name])
      inside[name] = true
      env.sleep(0.001) -- the others run
      inside[name] = nil
      assert.is_true(guard:release())
      finished = finished + 1
    end)
  end
  env.until_true(function() return finished == TASKS end)
end

-- Two rounds more have taken no quarter of a KiB for each task.  (The first
-- ones do, and how many these are depends on who was held up.)
local function is_flat(sizes)
  local n = #sizes
  return n > 2 and sizes[n] - math.min(sizes[n - 1], sizes[n - 2])
    < TASKS / 4 + 512
end

describe("A crowd of tasks #stock", function()
  for _, name in ipairs { "luv", "cqueues" } do
    it("waits for a hundred locks, and memory stays flat: " .. name, function()
      local sizes = {}
      runners[name].run(function(env)
        local session = support.connect { session_timeout = 30 }
        repeat
          local begun = env.now()
          use(env, session, support.path())
          support.collect()
          sizes[#sizes + 1] = support.memory()
          if os.getenv "CROWD" then
            print(("%s: %d tasks, round %d: %.2f s, %d KiB resident"):format(
              name, TASKS, #sizes, env.now() - begun, sizes[#sizes]))
          end
        until is_flat(sizes) or #sizes == ROUNDS
        session:close()
      end)
      assert.is_true(is_flat(sizes), table.concat(sizes, " "))
    end)
  end
end)
