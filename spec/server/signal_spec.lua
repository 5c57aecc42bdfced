-- Signals that end a plain script: with release_on_signal it holds nothing any
-- more when it is gone, and nothing of it runs beside the next holder.
local command = require "support.command"
local each = require "support.each"
local support = require "support"
local output = require "support.shell".output
local read = require "support.files".read
local forker = require "support.forker"
local lfs = require "lfs"
local spawn = require "support.child".spawn
local zklock = require "zklock"

local STATUS = { HUP = 129, INT = 130, QUIT = 131, TERM = 143 }

-- What a holder is at when the signal comes.
local STATES = {
  { "is busy in with_lock", [[
    mutex:with_lock(function() say "held" while true do end end)
  ]] },
  { "is busy in a coroutine", [[
    coroutine.wrap(function()
      local guard = assert(mutex:acquire(30))
      say "held"
      while guard do end
    end)()
  ]] },
  { "allocates", [[
    mutex:with_lock(function()
      say "held"
      local t = {}
      while true do t[#t % 1000 + 1] = ("x"):rep(#t * 8) .. #t end
    end)
  ]] },
  { "sleeps in a function of C", [[
    mutex:with_lock(function() say "held" socket.sleep(60) end)
  ]] },
  { "waits for another program", [[
    mutex:with_lock(function() say "held" os.execute "exec sleep 30" end)
  ]] },
  { "waits for another lock", [[
    mutex:with_lock(function()
      say "held"
      session:mutex(path .. "/taken"):acquire()
    end)
  ]] },
}

local HOLDER = [[
  local path, signal = ...
  assert(zklock.release_on_signal(signal))
  local session = assert(zklock.connect(hosts,
    { session_timeout = 30, loop = "poll" }))
  local mutex = session:mutex(path)
]]

describe("A holder that a signal ends", function()
  it("releases first, whatever it is at, and however often it is sent",
  function()
    local session = support.connect()
    each(STATES, function(row)
      for _, signal in ipairs { "TERM", "HUP" } do
        local path = support.path()
        local taken = support.hold(path .. "/taken")
        local child = spawn(HOLDER .. row[2], path, signal)
        child:expect "held"
        local guard
        session:mutex(path):acquire_async(nil, function(g) guard = g end)
        support.wait_for_queue(path, 2)
        for _ = 1, signal == "HUP" and 5 or 1 do child:signal(signal) end
        support.step_until(session, function() return guard end, 1)
        assert.equal(STATUS[signal], child:wait())
        taken:release()
        guard:release()
      end
    end, true)
  end)

  it("runs nothing beside the next holder", function()
    local path = support.path()
    for _ = 1, 10 do
      local name = os.tmpname()
      local child = spawn(HOLDER .. ([[
        local file = io.open(%q, "w")
        file:setvbuf "no"
        mutex:with_lock(function()
          say "held"
          while true do file:write "." end
        end)
      ]]):format(name), path, "TERM")
      child:expect "held"
      local lock = support.connect():mutex(path)
      child:signal "TERM"
      local guard = assert(lock:acquire(10))
      local size = lfs.attributes(name, "size")
      assert.equal(STATUS.TERM, child:wait())
      assert.equal(size, lfs.attributes(name, "size"))
      guard:release()
      os.remove(name)
    end
  end)

  -- (As doc/api.md says.)
  it("does not end a program that os.execute has started", function()
    local path = support.path()
    local name = support.closing(os.tmpname(), function(file)
      os.execute(("kill $(cat '%s') 2>/dev/null; rm '%s'"):format(file, file))
    end)
    local child = spawn(HOLDER .. ([[
      mutex:with_lock(function()
        os.execute "echo $$ >%s; exec sleep 600"
      end)
    ]]):format(name), path, "TERM")
    local pid
    support.wait_until(function()
      pid = read(name):match "^(%d+)\n"
      return pid
    end, 10, "the program")
    child:signal "TERM"
    local guard = assert(support.connect():mutex(path):acquire(10))
    assert.equal(STATUS.TERM, child:wait())
    assert.equal("alive\n", output(("kill -0 %s && echo alive"):format(pid)))
    guard:release()
  end)

  it("ends as ever where zklock has nothing to do with it", function()
    for _, code in ipairs { "",
        "zklock.connect('127.0.0.1:1', { connect_timeout = 60 })" } do
      local child = spawn([[
        zklock.release_on_signal()
        say "ready"
      ]] .. code .. " while true do end")
      child:expect "ready"
      child:signal "TERM"
      assert.equal(STATUS.TERM, child:wait())
    end
    -- A signal that is ignored, as by nohup, stays so.
    spawn([[
      local pipe = io.popen(("trap '' HUP; exec %s -e %s"):format(
        arg[-1], [=['zklock = require "zklock" zklock.release_on_signal()
        os.execute "kill -HUP $PPID" print "alive"']=]))
      say(pipe:read "*l")
    ]]):expect "alive"
    -- A child of fork, and programs, have their own end.
    spawn([[
      zklock.release_on_signal()
      local pipe = io.popen("kill -TERM $$; echo survived")
      say(pipe:read "*a" == "")
    ]]):expect "true"
  end)

  it("ends in the middle of a fork, too #stock", function()
    -- Of those who prepare a fork the first comes last, after the library.
    local child = forker.spawn([[
      local ffi = require "ffi"
      jit.off()
      ffi.cdef [=[int fork(void); int pause(void);
        int __register_atfork(void (*)(void), void *, void *, void *);]=]
      ffi.C.__register_atfork(ffi.cast("void (*)(void)", function()
        say "forks"
        ffi.C.pause()
      end), nil, nil, nil)
    ]] .. HOLDER .. "ffi.C.fork()", support.path(), "TERM")
    child:expect "forks"
    child:signal "TERM"
    assert.equal(STATUS.TERM, child:wait())
  end)
end)

describe("Misuse of release_on_signal", function()
  local misuse = support.misuse

  it("is a signal that it does not know", function()
    assert.matches('argument 1 of release_on_signal must be "HUP", .* "KILL"',
      misuse(function() zklock.release_on_signal "KILL" end))
    assert.matches("argument 2 .* got 15",
      misuse(function() zklock.release_on_signal("TERM", 15) end))
    assert.matches("argument 2 .* got nil",
      misuse(function() zklock.release_on_signal("TERM", nil) end))
  end)
end)

-- There a signal's default action is ignored.
describe("The first process of a container", function()
  it("releases and ends", function()
    if not os.execute "unshare -pf true 2>/dev/null" then
      return pending "this system lets us make no container"
    end
    local path = support.path()
    local name = command.file(([[
      local zklock = require "zklock"
      assert(zklock.release_on_signal())
      local session = assert(zklock.connect(%q, { session_timeout = 30 }))
      local guard = assert(session:mutex(%q):acquire(10))
      os.execute "kill -TERM 1"
      while guard do end
    ]]):format(support.hosts, path))
    assert.equal("143\n", output(("timeout -s KILL 30 unshare -pf %s %s; "
      .. "echo $?"):format(support.lua, name)))
    assert(support.connect():mutex(path):acquire(5)):release()
  end)
end)
