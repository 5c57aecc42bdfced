-- The reference: its examples run as they stand, and rows have the fields that
-- it tells of.
local files = require "support.files"
local kinds = require "integration.family.kinds"
local reference = require "support.reference"
local shell = require "support.shell"
local support = require "support"

local all = reference.read()

local OWN = "zk1:2181,zk2:2181,zk3:2181/app"

-- One program for all examples, whose time and server are its own: each with
-- the session that the reference says is around it, below a chroot of its own.
local EXAMPLE = [[
  local function example(name, fn)
    print("example " .. name)
    local ok, problem = xpcall(fn, debug.traceback)
    print(ok and "is well" or problem)
  end
]]
local HEAD = [[
  local virtual = require "zklock.virtual"
  virtual.ensemble { addresses = { "127.0.0.1:2181" } }
  virtual.limit(1e6)
  package.loaded.socket = { sleep = virtual.sleep, gettime = virtual.now }
]] .. EXAMPLE
local AROUND = [[
  example(%q, function()
    local zklock = require "zklock"
    local session = assert(zklock.connect "%s")
    %s
    session:close()
  end)
]]

-- Another one for zklock.testing, which comes before the rest, and makes its
-- own server.
local AROUND_TESTING = [[
  example(%q, function()
    local testing = require "zklock.testing"
    local zklock = require "zklock"
    testing.reset()
    local server = testing.server()
    local session = assert(zklock.connect(server.hosts))
    %s
  end)
]]

local function program(examples, is_testing)
  local parts = { is_testing and EXAMPLE or HEAD }
  for i, one in ipairs(examples) do
    parts[i + 1] = is_testing and AROUND_TESTING:format(one.name, one.code)
      or AROUND:format(one.name, OWN, one.code):gsub(OWN:gsub("%p", "%%%0"),
        "127.0.0.1:2181/app" .. i)
  end
  return table.concat(parts)
end

-- Behind `-->` is what a line prints: in this order, and more may be between.
local function find_lines(code, output)
  local at = 1
  for expected in code:gmatch "%-%->%s*([^\n]*)" do
    local _, last = output:find("\n" .. expected .. "\n", at, true)
    assert.is_truthy(last, ("%q is not printed here, in\n%s\nbut\n%s")
      :format(expected, code, output))
    at = last
  end
end

describe("The examples of the reference", function()
  local groups = { [true] = {}, [false] = {} }
  for _, entry in ipairs(reference.functions(all)) do
    local name = reference.name(entry)
    -- (Signals are not virtual: server/signal_spec.lua.)
    local example = entry.example
    if example and example.language == "lua"
        and name ~= "zklock.release_on_signal" then
      table.insert(groups[entry.class:find "^zklock%.testing%." ~= nil],
        { name = name, code = example.code })
    end
  end

  for is_testing, examples in pairs(groups) do
    it(is_testing and "of zklock.testing run" or "run", function()
      assert.is_true(#examples > (is_testing and 5 or 50), #examples)
      local _, output = files.with(program(examples, is_testing),
        function(name)
          return shell.run(("timeout 60 '%s' '%s' </dev/null"):format(
            support.lua, name))
        end)
      for _, one in ipairs(examples) do
        local _, from = output:find("example " .. one.name .. "\n", 1, true)
        assert.is_truthy(from, one.name .. " did not begin:\n" .. output)
        local said = output:sub(from, (output:find("\nexample ", from, true)))
        assert.is_truthy(said:find("\nis well\n", 1, true), one.name .. said)
        find_lines(one.code, said)
      end
    end)
  end
end)

-- (The methods of their classes: spec/unit/reference_spec.lua.)
describe("Objects have the documented", function()
  it("fields, and no others that do not begin with an underscore", function()
    local session, path = support.connect(), support.path()
    local mutex = session:mutex(path .. "/a")
    local multi = session:multi { mutex, session:mutex(path .. "/b") }
    for class, object in pairs {
      ["zklock.Session"] = session,
      ["zklock.Lock"] = mutex,
      ["zklock.Multi"] = multi,
      ["zklock.RWLock"] = session:rwlock(path .. "/c"),
      ["zklock.Guard"] = mutex:acquire(),
      ["zklock.MultiGuard"] = multi:acquire(),
      ["zklock.Election"] = session:election(path .. "/d"),
      ["zklock.Barrier"] = session:barrier(path .. "/e"),
      ["zklock.DoubleBarrier"] = session:double_barrier(path .. "/f", 2),
      ["zklock.Ticket"] = session:mutex(path .. "/g"):acquire_async(type),
    } do
      local fields = reference.fields(all, class)
      for field in pairs(object) do
        assert.is_true(field:find "^_" ~= nil or fields[field] ~= nil,
          ("%s.%s is not documented"):format(class, field))
      end
      for field in pairs(fields) do
        assert.is_truthy(object[field],
          ("%s.%s is not there"):format(class, field))
      end
    end
    -- A guard tells its own without having them.
    local known = files.read((os.getenv "SPEC_ROOT" or ".")
      .. "/lua/zklock/guard.lua"):match "local known = (%b{})"
    for field in known:gmatch "\n  ([%l_]+) =" do
      assert.is_truthy(reference.fields(all, "zklock.Guard")[field], field)
    end
  end)

  it("events of a session", function()
    local session, words = support.connect(), {}
    local _, problem = pcall(session.on, session, "nothing", print)
    for word in problem:match " must be (.-) got ":gmatch "%l+" do
      words[word] = word ~= "or" or nil
    end
    assert.same(reference.words(all, "zklock.Event"), words)
  end)
end)

describe("Rows have the documented fields", function()
  -- These, and no others; `absent` are those that are missing just here.
  local function check(class, row, absent)
    local documented, missing = reference.fields(all, class), {}
    for word in (absent or ""):gmatch "%S+" do missing[word] = true end
    for name in pairs(row) do
      assert.is_truthy(documented[name], name .. " is not documented")
    end
    for name in pairs(documented) do
      assert.equal(missing[name] == nil, row[name] ~= nil, name)
    end
  end

  local digest = { scheme = "digest", credential = "ann:secret" }

  it("of contenders", function()
    local path, session = support.path(), support.connect()
    local guard = assert(session:mutex(path):acquire(30))
    check("zklock.Contender", session:contenders(path)[1], "size path")
    guard:release { wait = true }
    guard = assert(session:mutex(path .. "-u", { fair = false }):acquire(30))
    check("zklock.Contender", session:contenders(path .. "-u")[1],
      "size path sequence")
    guard:release()
  end)

  it("of holders of a multi, of a leader, and of stat", function()
    local path, session = support.path(), support.connect()
    local multi = session:multi { session:mutex(path) }
    assert(multi:acquire(30))
    check("zklock.Contender", multi:holders()[1], "size")
    local election = session:election(path .. "-e")
    assert(election:campaign(30))
    check("zklock.Leader", election:leader(), "size")
    check("zklock.Stat", session:stat "/", "data")
    check("zklock.Stat", session:stat("/", true))
  end)

  it("of nodes whose data the session may not read", function()
    local path = support.path()
    -- (Who lists must read the directory, which somebody else has made, and
    -- which stays while something is in it.)
    local inside = support.hold(path .. "/inside")
    local session = support.connect { auth = digest, acl = "creator" }
    local guard = assert(session:election(path):campaign(30))
    local other = support.connect()
    local hidden = support.zk():sees(guard.node) and "data"
      or "data token session created since size"
    check("zklock.Contender", other:contenders(path)[1], hidden .. " path")
    check("zklock.Leader", other:election(path):leader(), hidden)
    guard:release()
    inside:release()
  end)

  it("of trace events", function()
    local path, session = support.path(), support.connect()
    local events = {}
    session:on_trace(function(event) events[event.what] = event end)
    local mutex = session:mutex(path)
    local guard = assert(mutex:acquire(30))
    guard:release { wait = true }
    local holder = support.hold(path)
    assert.is_nil(mutex:acquire(0.05))
    holder:release()
    guard = assert(mutex:acquire(30))
    support.lose(guard)
    guard:release()
    check("zklock.TraceEvent", events.wait, "waited held token code reason")
    check("zklock.TraceEvent", events.grant, "timeout held code reason")
    check("zklock.TraceEvent", events.refuse, "timeout held token reason")
    check("zklock.TraceEvent", events.release, "timeout waited code reason")
    check("zklock.TraceEvent", events.loss, "timeout waited code")
    local words = {}
    for word in pairs(events) do words[word] = true end
    assert.same(reference.words(all, "zklock.Trace"), words)
  end)

  it("of all modes", function()
    local path, session = support.path(), support.connect()
    local modes = {}
    for _, name in ipairs { "mutex", "unfair", "semaphore", "read", "write",
        "double barrier" } do
      local at = path .. "/" .. name
      local make = kinds.makers[name] or kinds.of[name].make
      support.keep(make(session, at):acquire(30))
      modes[session:contenders(at)[1].mode] = true
    end
    assert.same(reference.words(all, "zklock.Mode"), modes)
  end)
end)
