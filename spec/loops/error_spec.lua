-- What callbacks and tasks raise: told in the loop's own way, and the loop's
-- reader goes on.
local runners = require "loops.runners"
local spawn = require "support.child".spawn
local support = require "support"
local connect = support.connect

-- The first lines: what comes out of a callback has a traceback.
local function first_lines(problems)
  local lines = {}
  for i, problem in ipairs(problems) do
    lines[i] = assert(problem:match "^([^\n]*)\nstack traceback:\n")
  end
  table.sort(lines)
  return lines
end

-- Three callbacks that raise, and one that shows that the reader lives.  (If
-- one step() calls them all: integration/loop_spec.lua.)
local function begin(session, finished)
  local lock = session:mutex(support.path())
  for i = 1, 4 do
    lock:acquire_async(nil, function(guard)
      guard:release()
      if i == 4 then return finished() end
      error("ouch " .. i, 0)
    end)
  end
end

describe("An error in a callback, without a log,", function()
  it("comes out of the loop of cqueues", function()
    local controller, heard, last = require "cqueues".new(), {}, false
    controller:wrap(function()
      begin(connect(), function() last = true end)
    end)
    while not last or #heard < 3 do
      assert.is_false(controller:empty()) -- the reader lives
      local ok, problem = controller:loop(5)
      if not ok then heard[#heard + 1] = problem end
    end
    assert.same({ "ouch 1", "ouch 2", "ouch 3" }, first_lines(heard))
    assert.is_true(controller:loop(5) and controller:empty())
  end)

  if not runners.copas.missing then
    it("goes to the error handler of copas", function()
      local copas = require "copas"
      local set = copas.seterrorhandler or copas.setErrorHandler
      local heard, last = {}, false
      copas.addthread(function()
        set(function(problem) heard[#heard + 1] = problem end, true)
        begin(connect(), function() last = true end)
      end)
      copas.loop()
      set(print, true)
      assert.is_true(last)
      assert.same({ "ouch 1", "ouch 2", "ouch 3" }, first_lines(heard))
    end)
  end

  it("is an error of a callback of luv's, which ends the program", function()
    local child = spawn([[
      local uv = require "luv"
      local path = ...
      coroutine.wrap(function()
        local session = assert(zklock.connect(hosts))
        session:mutex(path):acquire_async(nil, function(guard)
          guard:release()
          error "ouch"
        end)
      end)()
      uv.run()
      os.exit(0)
    ]], support.path())
    assert.equal(255, child:wait())
    assert.matches("Uncaught Error: .*ouch\n", child:output())
  end)
end)

describe("An error that ends a task", function()
  it("is not swallowed by luv: it is raised, with its traceback", function()
    local child = spawn([[
      local uv = require "luv"
      local path = ...
      local function section()
        error "ouch"
      end
      coroutine.wrap(function()
        local session = assert(zklock.connect(hosts,
          { log = function() end }))
        assert(session:mutex(path):acquire(30))
        section()
      end)()
      uv.run()
    ]], support.path())
    assert.equal(255, child:wait())
    assert.matches("ouch.*in %a+ '?section", child:output())
  end)

  it("comes out of the loop of cqueues, and the others go on", function()
    local cqueues = require "cqueues"
    local controller, others = cqueues.new(), 0
    local session = connect()
    local path = support.path()
    controller:wrap(function()
      assert(session:mutex(path):acquire(30)):release()
      error("ouch", 0)
    end)
    for _ = 1, 5 do
      controller:wrap(function()
        assert(session:mutex(path):acquire(30)):release()
        others = others + 1
      end)
    end
    local heard
    while others < 5 or not heard do
      local ok, problem = controller:loop(5)
      if not ok then heard = problem end
    end
    assert.equal("ouch", heard)
  end)
end)

describe("A program that leaves without close", function()
  local ways = {
    { "", 0 }, { "os.exit(3)", 3 }, { "os.exit(4, true)", 4 },
    { "error 'ouch'", 1 },
  }
  local loops = {
    luv = [[
      local uv = require "luv"
      coroutine.wrap(work)()
      uv.run() ]],
    cqueues = [[
      local controller = require "cqueues".new()
      controller:wrap(work)
      assert(controller:loop()) ]],
  }
  for name, run in pairs(loops) do
    it("ends as it is told to: " .. name, function()
      for _, way in ipairs(ways) do
        local child = spawn([[
          local path = ...
          local session, guard
          local function work()
            session = assert(zklock.connect(hosts))
            guard = assert(session:mutex(path):acquire(30))
            session:mutex(path .. "/other"):acquire(30):release()
          end
        ]] .. run .. way[1], support.path())
        assert.equal(way[2], child:wait(10), way[1])
      end
    end)
  end
end)
