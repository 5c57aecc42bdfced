-- zklock.testing, as users have it: the module beside the real core, which is
-- not loaded here.
for name in pairs(package.loaded) do -- (spec/run --zk virtual loads it)
  if name:find "^zklock" then package.loaded[name] = nil end
end

local shell = require "support.shell"
local testing = require "zklock.testing"
local zklock = require "zklock"

local output_of = shell.program

local function raises(message, fn, ...)
  local ok, problem = pcall(fn, ...)
  assert.is_false(ok)
  assert.truthy(problem:find(message, 1, true), problem)
  assert.truthy(problem:find("testing_spec.lua", 1, true), problem)
end

local function elapsed(fn, ...)
  local begun = testing.now()
  fn(...)
  return testing.now() - begun
end

local function about(seconds, actual)
  assert.is_true(actual > seconds - 0.01 and actual < seconds + 0.5,
    ("%.6f is not about %g"):format(actual, seconds))
end

describe("zklock.testing", function()
  local server, session

  before_each(function()
    server = testing.server()
    session = assert(zklock.connect(server.hosts))
  end)
  after_each(testing.reset)

  describe("has a clock that", function()
    it("is that of the library, and stands still while the test does",
      function()
        testing.advance(100)
        assert.is_true(zklock.now() - testing.now() < 0.001)
        local now, wall = testing.now(), os.clock()
        repeat local _ = {} until os.clock() > wall + 0.01
        assert.equal(now, testing.now())
      end)
  end)

  it("connects sessions with the option tls, and reads no file", function()
    local secure = assert(zklock.connect(server.hosts,
      { tls = { ca = "/nowhere/ca.pem" } }))
    local guard = assert(secure:mutex "/lock":acquire(5))
    server:disconnect(secure)
    testing.advance(1)
    server:reconnect(secure)
    testing.advance(1)
    assert.is_true(guard:verify())
  end)

  describe("calls callbacks", function()
    it("not in sleep(), but in the step() after it", function()
      local guard = assert(session:mutex "/lock":acquire { max_hold = 10 })
      local lost = false
      guard:on_lost(function() lost = true end)
      testing.sleep(60)
      assert.is_false(lost)
      session:step()
      assert.is_true(lost)
    end)

    it("of all sessions, in the order of their moments", function()
      local other = assert(zklock.connect(server.hosts))
      local order = {}
      server:hold("/a", { seconds = 20 })
      server:hold("/b", { seconds = 10 })
      session:mutex "/a":acquire_async(function(guard)
        order[#order + 1] = guard.path
      end)
      other:mutex "/b":acquire_async(function(guard)
        order[#order + 1] = guard.path
      end)
      testing.advance(30)
      assert.same({ "/b", "/a" }, order)
    end)

    it("and what one raises comes out of advance()", function()
      session:mutex "/lock":acquire_async(function() error "mine" end)
      assert.has_error(function() testing.advance(1) end)
      testing.advance(1)
    end)
  end)

  describe("runs after()", function()
    it("in advance(), sleep() and a call that waits", function()
      local heard = {}
      local function note() heard[#heard + 1] = testing.now() end
      local begun = testing.now()
      testing.after(7, note)
      testing.after(3, note)
      testing.after(20, note)
      testing.advance(5)
      testing.sleep(5)
      server:hold "/lock"
      session:mutex "/lock":acquire(30)
      for i, seconds in ipairs { 3, 7, 20 } do
        about(seconds, heard[i] - begun)
      end
    end)

    it("in the order in which they were asked for, at one moment", function()
      local order = ""
      for i = 1, 5 do
        testing.after(1, function() order = order .. i end)
      end
      testing.advance(2)
      assert.equal("12345", order)
    end)

    it("also if it waits itself", function()
      local seen
      testing.after(1, function()
        seen = session:mutex "/lock":acquire(1) ~= nil
      end)
      testing.advance(2)
      assert.is_true(seen)
    end)
  end)

  describe("has other clients that", function()
    it("hold it though the test does not keep the object", function()
      server:hold("/lock", { data = "batch 7" })
      collectgarbage()
      collectgarbage()
      testing.advance(1)
      assert.is_nil(session:mutex "/lock":try_acquire())
      assert.equal("batch 7", session:contenders "/lock"[1].data)
    end)

    it("hold each kind of lock", function()
      local rwlock = session:rwlock "/rw"
      local read = server:hold("/rw", { kind = "read" })
      assert.is_truthy(rwlock.read:try_acquire():release())
      assert.is_nil(rwlock.write:try_acquire())
      read:release()
      server:hold("/rw", { kind = "write" })
      assert.is_nil(rwlock.read:try_acquire())
      server:hold("/permits", { kind = "permit", permits = 2 })
      local semaphore = session:semaphore("/permits", 2)
      assert.is_truthy(semaphore:try_acquire())
      assert.is_nil(semaphore:try_acquire())
    end)

    it("wait for it, or stop waiting", function()
      local guard = assert(session:mutex "/lock":acquire())
      local other, one_more = server:contend "/lock", server:contend "/lock"
      testing.advance(1)
      assert.is_false(other:is_held())
      assert.equal(3, #session:contenders "/lock")
      one_more:release()
      testing.advance(1)
      assert.equal(2, #session:contenders "/lock")
      guard:release()
      testing.advance(1)
      assert.is_true(other:is_held())
    end)

    it("lose their sessions, too", function()
      local hold = server:hold "/lock"
      server:expire(hold)
      testing.advance(1)
      assert.is_false(hold:is_held())
      assert.is_truthy(session:mutex "/lock":try_acquire())
    end)
  end)

  describe("lets a server", function()
    local events
    before_each(function()
      events = {}
      for _, event in ipairs { "suspended", "reconnected", "expired",
          "connected" } do
        session:on(event, function() events[#events + 1] = event end)
      end
    end)

    local function hold()
      return assert(session:mutex "/lock":acquire())
    end

    it("disconnect one session, and let it come back", function()
      local other = assert(zklock.connect(server.hosts))
      local guard = hold()
      server:disconnect(session)
      testing.advance(3)
      assert.equal("suspended", session:state())
      assert.equal("connected", other:state())
      assert.is_nil(server:server_of(session))
      assert.is_true(guard:is_held())
      server:reconnect(session)
      testing.advance(3)
      assert.same({ "suspended", "reconnected" }, events)
      assert.is_true(guard:is_held())
    end)

    it("disconnect all, also those to come", function()
      server:disconnect()
      testing.advance(1)
      assert.equal("suspended", session:state())
      local none, _, code = zklock.connect(server.hosts,
        { connect_timeout = 3 })
      assert.is_nil(none)
      assert.equal("disconnected", code)
      server:reconnect()
      testing.advance(3)
      assert.equal("connected", session:state())
    end)
  end)

  describe("has ensembles", function()
    local three
    before_each(function() three = testing.server { servers = 3 } end)

    it("beside each other, with nothing in common", function()
      local zk = assert(zklock.connect(three.hosts))
      assert(session:mutex "/lock":acquire())
      assert.is_truthy(zk:mutex "/lock":try_acquire())
      raises("is connected to another testing server", server.expire, server,
        zk)
      raises("another testing server's", zklock.connect,
        server.hosts .. "," .. three.hosts)
    end)
  end)

  describe("gives servers", function()
    it("the names that the program uses", function()
      local named = testing.server { hosts = "zk1:2181,zk2,zk3:2182" }
      assert.equal("zk1:2181,zk2:2181,zk3:2182", named.hosts)
      local zk = assert(zklock.connect("zk2:2181,zk3:2182,zk1:2181/app"))
      assert.equal("zklock session to zk2:2181,zk3:2182,zk1:2181/app "
        .. "(connected)", tostring(zk))
      assert.is_truthy(zk:mutex "/lock":acquire(1))
    end)

    it("a tick", function()
      local slow = testing.server { tick_time = 5 }
      local zk = assert(zklock.connect(slow.hosts))
      assert.equal(10, zk:timeout())
      zk = assert(zklock.connect(slow.hosts, { session_timeout = 4 }))
      assert.equal(10, zk:timeout())
    end)

    it("a latency", function()
      local far = testing.server { latency = 0.2 }
      local zk = assert(zklock.connect(far.hosts))
      assert.is_true(elapsed(function() zk:contenders "/lock" end) >= 0.4)
    end)
  end)

  describe("is the same each time", function()
    local story = [[
      local testing = require "zklock.testing"
      local zklock = require "zklock"
      testing.seed(%d)
      local server = testing.server { servers = 3 }
      local sessions = {}
      for i = 1, 3 do
        sessions[i] = assert(zklock.connect(server.hosts))
        sessions[i]:mutex "/lock":acquire_async(function(guard)
          print(i, guard:token(), testing.now())
          testing.after(i, function() guard:release() end)
        end)
      end
      testing.after(1.5, function() server:stop(server:leader()) end)
      testing.advance(60)
      for i = 1, 3 do print(sessions[i]:id(), server:server_of(sessions[i])) end
    ]]

    it("for the same seed, and not for another", function()
      local first = output_of(story:format(7))
      assert.equal(6, select(2, first:gsub("\n", "")), first)
      for _ = 1, 4 do assert.equal(first, output_of(story:format(7))) end
      assert.are_not.equal(first, output_of(story:format(8)))
    end)
  end)

  describe("begins again with reset(), which", function()
    it("closes sessions, holds and servers, and forgets timers", function()
      local hold = server:hold "/lock"
      local rang = false
      testing.after(10, function() rang = true end)
      testing.reset()
      assert.equal("closed", session:state())
      assert.is_false(hold:is_held())
      testing.advance(20)
      assert.is_false(rang)
      raises("this testing server is closed", server.stop, server)
      assert.equal(server.hosts, testing.server().hosts)
    end)

    it("can be called a hundred times, whatever is down", function()
      server:disconnect()
      local three = testing.server { servers = 3 }
      assert(zklock.connect(three.hosts))
      three:stop()
      testing.server():pause()
      for _ = 1, 100 do
        testing.reset()
        local zk = assert(zklock.connect(testing.server().hosts))
        assert(zk:mutex "/lock":acquire(1))
      end
    end)
  end)

  it("ends a wait that nothing in the test will end", function()
    server:hold "/lock"
    raises("will end its wait", function() session:mutex "/lock":acquire() end)
    assert.equal(1, #session:contenders "/lock")
  end)

  it("tells what it is", function()
    assert.equal("virtual", zklock.backend)
    assert.equal("testing server " .. server.hosts, tostring(server))
    assert.equal("another client's hold of /lock",
      tostring(server:hold "/lock"))
    assert.equal("another client's wait of /lock",
      tostring(server:contend "/lock"))
  end)

  describe("refuses", function()
    it("hosts that are no testing servers", function()
      raises('has "zk1:2181", which is no testing server', zklock.connect,
        "zk1:2181")
      testing.reset()
      raises("there is no testing server", zklock.connect, "zk1:2181")
      raises("argument 1 of connect (hosts)", zklock.connect, "zk1:2181,,")
    end)

    it("to be a server for other processes", function()
      for _, name in ipairs { "port", "host", "bind", "listen" } do
        raises("serves this process alone", testing.server, { [name] = 1 })
      end
    end)

    it("options and arguments that are not right", function()
      for message, options in pairs {
        ['unknown option "seed"'] = { seed = 1 },
        ["option 'servers' must be a number"] = { servers = "3" },
        ["option 'servers' must be a whole number"] = { servers = 1.5 },
        ["servers' must be a whole number from 1 to 9"] = { servers = 10 },
        ["must be how many option 'hosts' names"] = { servers = 2,
          hosts = "zk1:1" },
        ["must have no chroot"] = { hosts = "zk1:1/app" },
        ["which another testing server has"] = { hosts = server.hosts },
        ["'tick_time' must be a number of seconds"] = { tick_time = 2000 },
      } do
        raises(message, testing.server, options)
      end
      for message, call in pairs {
        ["option 'kind' must be"] = { "hold", "/a", { kind = "lock" } },
        ["option 'permits' goes with"] = { "hold", "/a",
          { kind = "permit" } },
        ["and only with it"] = { "hold", "/a", { permits = 1 } },
        ['unknown option "second"'] = { "contend", "/a", { second = 1 } },
        ["must be a session"] = { "expire", 7 },
        ["must be the number of a server, 1 to 1"] = { "stop", 2 },
        ["must be the number of a server"] = { "isolate", 2 },
        ["argument 1 of hold"] = { "hold", "lock" },
      } do
        raises(message, server[call[1]], server, call[2], call[3])
      end
      raises("must be called with a colon", server.stop)
      raises("argument 1 of testing.advance must be a number",
        testing.advance, "1")
      raises("not negative", testing.sleep, -1)
      raises("argument 2 of testing.after must be a function", testing.after,
        1)
      raises("argument 1 of testing.seed must be a whole number",
        testing.seed, 1.5)
    end)

    it("more servers than there is room for, and forgets them", function()
      for _ = 1, 10 do testing.server() end
      raises("call testing.reset after each test", function()
        for _ = 1, 10 do testing.server() end
      end)
      testing.reset()
      assert.equal(server.hosts, testing.server().hosts)
    end)

    it("to hold what is held", function()
      local guard = assert(session:mutex "/lock":acquire())
      raises("cannot hold /lock at once", server.hold, server, "/lock")
      assert.is_true(guard:is_held())
    end)

    it("sessions that are closed", function()
      session:close()
      raises("argument 1 of expire is closed", server.expire, server, session)
    end)

    it("loops that have a clock of their own", function()
      for _, name in ipairs { "luv", "cqueues", "ngx", "skynet" } do
        raises("has a clock of its own", zklock.connect, server.hosts,
          { loop = name })
      end
      raises("this copas was loaded with the system's clock", zklock.connect,
        server.hosts, { loop = "copas" })
    end)

    local has_cqueues, cqueues = pcall(require, "cqueues")
    if has_cqueues then
      it("a loop that runs here, by whatever name", function()
        local cq, problem = cqueues.new(), nil
        cq:wrap(function()
          problem = select(2, pcall(session.contenders, session, "/lock"))
        end)
        assert(cq:loop())
        assert.matches("cqueues has a clock of its own", problem, 1, true)
      end)
    end

    it("to be loaded after the library", function()
      local output = output_of 'require "zklock" require "zklock.testing"'
      assert.matches('require "zklock.testing" before "zklock"', output, 1,
        true)
    end)

    it("to be loaded without its C module", function()
      local output = output_of [[
        package.cpath = "" package.path = package.path:gsub("?%.so", "?.none")
        require "zklock.testing"
      ]]
      assert.matches("C module zklock.virtual, which zklock.testing needs",
        output, 1, true)
    end)

    if has_cqueues then
      it("another thread of the process", function()
        local output = output_of [[
          local testing = require "zklock.testing"
          assert(testing.server())
          local thread, pipe = require "cqueues.thread".start(function(pipe)
            local _, problem = pcall(require, "zklock.testing")
            pipe:write(tostring(problem), "\n")
            pipe:flush()
          end)
          print(pipe:read "*l")
          thread:join()
        ]]
        assert.matches("^zklock: zklock.testing works in one thread", output)
      end)
    end

    local has_unistd, unistd = pcall(require, "posix.unistd")
    if has_unistd then
      it("to serve a child", function()
        local wait = require "posix.sys.wait".wait
        local child = unistd.fork()
        if child == 0 then
          local _, problem = pcall(zklock.connect, server.hosts)
          local _, other = pcall(server.stop, server)
          unistd._exit(tostring(problem):find("no other process", 1, true)
            and tostring(other):find("no other process", 1, true) and 7 or 1)
        end
        assert.equal(7, select(3, wait(child)))
        assert.is_truthy(session:mutex "/lock":acquire(1))
      end)
    end
  end)

  it("is loaded by nothing else", function()
    local output = output_of [[
      require "zklock"
      for name in pairs(package.loaded) do -- (spec/run --zk virtual loads it)
        if name:find "^zklock.testing" or name == "zklock.virtual" then
          print(name)
        end
      end
    ]]
    assert.equal("", output)
  end)
end)

describe("testing.copas()", function()
  local function has(name)
    return output_of(("io.write(tostring((pcall(require, %q))))"):format(name))
      == "true"
  end

  if has "copas" then
    it("lets its threads pass the time together", function()
      assert.equal("tick 7\ntick 14\nheld at 20\nlost\n", output_of [[
        local testing = require "zklock.testing"
        local copas = testing.copas()
        local zklock = require "zklock"
        local server = testing.server()
        local begun = testing.now()
        local function say(...)
          io.write(string.format(...), "\n")
        end
        local function seconds() return math.floor(testing.now() - begun) end
        copas.loop(function()
          local session = assert(zklock.connect(server.hosts))
          server:hold("/lock", { seconds = 20 })
          copas.addthread(function()
            for _ = 1, 2 do copas.pause(7) say("tick %d", seconds()) end
          end)
          local guard = assert(session:mutex "/lock":acquire(60))
          say("held at %d", seconds())
          guard:on_lost(function() say "lost" end)
          assert(not pcall(testing.advance, 1))
          server:expire(session)
          copas.pause(1)
          session:close()
        end)
        testing.reset()
      ]])
    end)
  else
    it("says that there is none", function()
      local ok, problem = pcall(testing.copas)
      assert.is_false(ok)
      assert.matches("testing.copas needs copas", problem, 1, true)
    end)
  end

  it("comes before copas", function()
    local output = output_of [[
      package.loaded.copas = {}
      local testing = require "zklock.testing"
      testing.copas()
    ]]
    assert.matches("copas is loaded already", output, 1, true)
  end)
end)

describe("The example for busted", function()
  it("passes", function()
    local output = shell.output(("busted --lua='%s' -o TAP '%s/examples/"
      .. "testing_spec.lua' 2>&1"):format(os.getenv "SPEC_LUA",
      os.getenv "SPEC_ROOT" or "."))
    assert.equal(6, select(2, ("\n" .. output):gsub("\nok ", "")), output)
    assert.is_nil(output:find("not ok", 1, true), output)
  end)
end)

-- (LuaSocket tells whether this is worth a try.)
if pcall(require, "socket") then
  describe("testing.socket()", function()
    after_each(testing.reset)

    it("is LuaSocket by this clock", function()
      local socket = testing.socket()
      about(5, elapsed(socket.sleep, 5))
      assert.equal(testing.time(), socket.gettime())
      assert.equal(require "socket".bind, socket.bind)
    end)

    it("select() sees what a session has to tell, and timers", function()
      local socket = testing.socket()
      local server = testing.server()
      local session = assert(zklock.connect(server.hosts))
      local reader = { getfd = function() return session:fd() end }
      local rang
      testing.after(2, function() rang = testing.now() end)
      local begun = testing.now()
      local _, _, problem = socket.select({ reader }, nil, 1)
      assert.equal("timeout", problem)
      session:mutex "/lock":acquire_async(5, function() end)
      local ready
      repeat
        ready = socket.select({ reader }, nil, 60)
        session:step()
      until rang or #ready == 0
      about(2, rang - begun)
    end)
  end)
end
