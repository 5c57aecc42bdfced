-- `--once-per` and session:once, also where the servers' clock is or was wrong;
-- what `ls` shows of a job that was done, and `forget`.
local command = require "support.command"
local new_clock = require "support.clock".new
local runs = require "cli.runs"
local start_server = require "support.server".start
local support = require "support"

local RAN = { code = 0, out = "ran\n", err = "" }
local NOT = { code = 0, out = "", err = "" }

local function once(path, period, hosts, what)
  return runs.run(path, what or { "echo", "ran" }, { "-H",
    hosts or support.hosts, "--once-per", period or "1h" })
end

describe("once, with a server whose clock is wrong", function()
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
  end)

  -- A run that is noted by a clock so far ahead, and a look by the right one.
  local function run_ahead(path, seconds)
    clock:set(seconds)
    assert.same(RAN, once(path, "1h", server.hosts))
    clock:set(0)
    return once(path, "1h", server.hosts)
  end

  it("runs what is noted more than a period in the future", function()
    local path, day = support.path(), 86400
    local said = run_ahead(path, day)
    assert.same({ 0, "ran\n" }, { said.code, said.out })
    local seconds = said.err:match("^zklock: " .. path:gsub("%-", "%%-")
      .. "%.once lies (%d+) s in the future: ")
    assert.is_true(math.abs(seconds - day) < 600, said.err)
    -- It is noted by the right clock.
    assert.same(NOT, once(path, "1h", server.hosts))
  end)

  it("runs nothing that is noted by less, and always says so", function()
    local path = support.path()
    local said = run_ahead(path, 1800)
    assert.same({ 0, "" }, { said.code, said.out })
    assert.matches("^zklock: %S+ lies 1[78]%d%d s in the future: a server's "
      .. "clock is or was wrong%. The command is not run ", said.err)
    assert.matches("zklock forget " .. path, said.err, 1, true)
    -- Once that clock has passed the period, it runs.
    clock:set(1800 + 3500)
    assert.same(NOT, once(path, "1h", server.hosts))
    clock:set(1800 + 3700)
    assert.equal("ran\n", once(path, "1h", server.hosts).out)
  end)

  it("says how far it is in the future by session:once, and in ls", function()
    local path = support.path()
    local session = support.connect { hosts = server.hosts }
    clock:set(1800)
    assert.is_true(session:once(path, { per = 3600 }, function() end))
    clock:set(0)
    local said = command.run { "ls", "-H", server.hosts, path }
    assert.matches("once%s+done%s+%-[23]%dm", said.out)
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
    local it = runs.start(path, { "echo", "ran" }, { "-H", server.hosts,
      "--once-per", "0.5" })
    support.wait_until(function() return #holder:contenders(path) == 2 end)
    support.sleep(1.5) -- three periods
    assert(holder:touch(path .. ".once", "me", guard.node))
    guard:release()
    assert.equal(0, it:wait())
    assert.equal("", it:out() .. it:err())
    holder:close()
  end)
end)

describe("A job that was done with --once-per", function()
  it("is shown by ls: when, and by whom; by ls -R whether it is held or not",
  function()
    local path = support.path()
    once(path)
    local said = command.run { "ls", path }
    assert.equal(0, said.code)
    assert.matches('\n%-      once  done   %d+s +%-        %-      %S+%.once  '
      .. '"%S+:%d+ echo"\n', said.out)
    local row = command.rows(path)[1]
    local stat = support.connect():stat(path .. ".once")
    assert.same({ path, "once", stat.modified, false },
      { row.path, row.mode, row.done, row.holds })
    assert.matches("^%S+:%d+ echo$", row.data)
    support.hold(path)
    assert.equal(2, #command.rows(path))
    once(path .. "/idle")
    once(path .. "/held")
    support.hold(path .. "/held")
    local found = {}
    for i, one in ipairs(command.rows("-R", path)) do
      found[i] = one.mode .. one.path:sub(#path + 1)
    end
    assert.same({ "mutex", "mutex/held", "once/held", "once/idle" }, found)
  end)

  it("is run again once it is forgotten", function()
    local path = support.path()
    assert.same(RAN, once(path))
    assert.same(NOT, once(path))
    local said = command.run { "forget", path }
    assert.equal(0, said.code)
    assert.matches('^forgot the last run of ' .. path:gsub("%-", "%%-")
      .. ', by "%S+ echo"\n$', said.out)
    assert.same(RAN, once(path))
    command.run { "forget", path }
    said = command.run { "forget", path }
    assert.same({ 0, "no run of " .. path .. " is noted\n" },
      { said.code, said.out })
    assert.is_false(support.zk():exists(path .. ".once"))
  end)
end)

describe("zklock run --once-per", function()
  it("runs once in a period, and says with -v why not", function()
    local path = support.path()
    assert.same(RAN, once(path))
    assert.same(NOT, once(path))
    assert.same(NOT, once(path, "2d"))
    assert.equal("0x", support.zk():exists(path .. ".once").owner) -- persistent
    local said = runs.run(path, { "true" }, { "--once-per", "1h", "-v" })
    assert.truthy(said.err:find "zklock: not due: ", said.err)
    -- And a run that has failed does not count.
    path = support.path()
    assert.equal(3, once(path, "1h", nil, "exit 3").code)
    assert.is_false(support.zk():exists(path .. ".once"))
    assert.same(RAN, once(path))
  end)

  it("lets one of many run, and takes turns with session:once", function()
    local path, all, ran = support.path(), {}, ""
    for i = 1, 6 do
      all[i] = runs.start(path, "sleep 0.1; echo ran", { "--once-per", "1h" })
    end
    for i = 1, 6 do
      assert.equal(0, all[i]:wait())
      ran = ran .. all[i]:out()
    end
    assert.equal("ran\n", ran)
    local session = support.connect()
    path = support.path()
    assert.is_true(session:once(path, { per = 3600 }, function() end))
    assert.same(NOT, once(path))
    support.zk():delete(path .. ".once")
    assert.same(RAN, once(path))
    assert.is_false(session:once(path, { per = 3600 }, error))
  end)
end)
