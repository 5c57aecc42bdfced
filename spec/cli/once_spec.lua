-- `--once-per` and session:once where the servers' clock is or was wrong; what
-- `ls` shows of a job that was done, and `forget`.
local command = require "support.command"
local json = require "dkjson"
local new_clock = require "support.clock".new
local start_server = require "support.server".start
local support = require "support"

local DAY = 86400

local function once(hosts, path, period, ...)
  return command.run { "run", "-H", hosts, "--once-per", period, path, "--",
    "echo", "ran", ... }
end

describe("once, with a server whose clock is wrong #once #layer", function()
  local clock, server
  setup(function()
    clock = new_clock()
    server = start_server(1, "", clock.environment)
  end)
  teardown(function()
    server:stop()
    clock:close()
  end)
  before_each(function()
    clock:set(0)
    support.start()
  end)
  after_each(support.finish)

  local function run(path, period) return once(server.hosts, path, period) end

  -- A run that is noted by a clock so far ahead, and a look by the right one.
  local function run_ahead(path, seconds, period)
    clock:set(seconds)
    assert.same({ code = 0, out = "ran\n", err = "" }, run(path, period))
    clock:set(0)
    return run(path, period)
  end

  it("runs what is noted more than a period in the future", function()
    local path = support.path()
    local said = run_ahead(path, DAY, "1h")
    assert.equal("ran\n", said.out)
    assert.equal(0, said.code)
    local seconds = said.err:match("^zklock: " .. path:gsub("%-", "%%-")
      .. "%.once lies (%d+) s in the future: ")
    assert.is_true(math.abs(seconds - DAY) < 600, said.err)
    -- It is noted by the right clock.
    assert.same({ code = 0, out = "", err = "" }, run(path, "1h"))
  end)

  it("runs nothing that is noted by less, and always says so", function()
    local path = support.path()
    local said = run_ahead(path, 1800, "1h")
    assert.equal("", said.out)
    assert.equal(0, said.code)
    assert.matches("^zklock: %S+ lies 1[78]%d%d s in the future: a server's "
      .. "clock is or was wrong%. The command is not run ", said.err)
    assert.matches("zklock forget " .. path, said.err, 1, true)
  end)

  it("runs it once that clock has passed the period", function()
    local path = support.path()
    run_ahead(path, 1800, "1h")
    clock:set(1800 + 3500)
    assert.same({ code = 0, out = "", err = "" }, run(path, "1h"))
    clock:set(1800 + 3700)
    assert.equal("ran\n", run(path, "1h").out)
  end)

  it("says how far it is in the future by session:once, too", function()
    local path = support.path()
    local session = support.connect { hosts = server.hosts }
    clock:set(1800)
    assert.is_true(session:once(path, { per = 3600 }, function() end))
    clock:set(0)
    local ran, seconds = session:once(path, { per = 3600 }, error)
    assert.is_false(ran)
    assert.is_true(seconds < -1200 and seconds > -1801, seconds)
    assert.is_true(session:once(path, { per = 600 }, function() end))
    session:close()
  end)

  it("takes no wait that is longer than a period for a wrong clock", function()
    local path = support.path()
    local holder = support.connect { hosts = server.hosts }
    local guard = assert(holder:mutex(path):acquire(10))
    local it = command.start { "run", "-H", server.hosts, "--once-per", "0.5",
      path, "--", "echo", "ran" }
    support.wait_until(function() return #holder:contenders(path) == 2 end)
    support.sleep(1.5)
    assert(holder:stamp(path .. ".once", "me", guard.node))
    guard:release()
    assert.equal(0, it:wait())
    assert.equal("", it:out() .. it:err())
    holder:close()
  end)

  it("shows in ls a note of the future", function()
    local path = support.path()
    clock:set(7200)
    run(path, "1h")
    clock:set(0)
    local said = command.run { "ls", "-H", server.hosts, path }
    assert.matches("once%s+done%s+%-[12]h%d%dm ", said.out)
  end)
end)

describe("A job that was done with --once-per", function()
  before_each(support.start)
  after_each(support.finish)

  local function run(path) return once(support.hosts, path, "1h") end

  it("is shown by ls: when, and by whom", function()
    local path = support.path()
    run(path)
    local said = command.run { "ls", path }
    assert.equal(0, said.code)
    assert.matches('\n%-      once  done   %d+s +%-        %-      %S+%.once  '
      .. '"%S+:%d+ echo"\n', said.out)
    local row = json.decode(command.run({ "ls", "--json", path }).out)
    local stat = support.connect():stat(path .. ".once")
    assert.same({ path, "once", stat.modified, false },
      { row.path, row.mode, row.done, row.holds })
    assert.matches("^%S+:%d+ echo$", row.data)
    local guard = support.hold(path)
    local _, lines = command.run({ "ls", "--json", path }).out:gsub("\n", "")
    assert.equal(2, lines)
    guard:release()
  end)

  it("is shown by ls -R, whether it is held or not", function()
    local path = support.path()
    run(path .. "/idle")
    run(path .. "/held")
    local guard = support.hold(path .. "/held")
    local found = {}
    for line in command.run({ "ls", "-R", "--json", path }).out
      :gmatch "[^\n]+"
    do
      local row = json.decode(line)
      found[#found + 1] = row.mode .. row.path:sub(#path + 1)
    end
    assert.same({ "mutex/held", "once/held", "once/idle" }, found)
    guard:release()
  end)

  it("is run again once it is forgotten", function()
    local path = support.path()
    assert.equal("ran\n", run(path).out)
    assert.equal("", run(path).out)
    local said = command.run { "forget", path }
    assert.equal(0, said.code)
    assert.matches('^forgot the last run of ' .. path:gsub("%-", "%%-")
      .. ', by "%S+ echo"\n$', said.out)
    assert.equal("ran\n", run(path).out)
    command.run { "forget", path }
    said = command.run { "forget", path }
    assert.same({ 0, "no run of " .. path .. " is noted\n" },
      { said.code, said.out })
    assert.is_false(support.zk():exists(path .. ".once"))
  end)

  for _, option in ipairs { "--shared", "--permits=2" } do
    it("is no job of several at once: " .. option, function()
      local said = command.run { "run", "--once-per", "1h", option,
        support.path(), "--", "true" }
      assert.equal(64, said.code)
      assert.equal("zklock: --once-per takes a lock of one holder: it does not "
        .. "go with " .. option:match "%-%-%a+" .. "\n", said.err)
    end)
  end
end)
