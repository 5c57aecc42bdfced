-- A server whose jute.maxbuffer is smaller than one of our requests: it reads
-- the length and closes the connection, with earlier requests unanswered.
local start_proxy = require "support.proxy".start
local start_server = require "support.server".start
local support = require "support"

local LIMIT = 65536
local POISON, LARGE = ("p"):rep(LIMIT), ("l"):rep(LIMIT / 2)

before_each(support.start)
after_each(support.finish)

describe("A server that breaks off at large requests #once", function()
  local server

  setup(function()
    server = start_server(1, "--config maxSessionTimeout=60000 "
      .. "--jvm -Djute.maxbuffer=" .. LIMIT)
  end)
  teardown(function() server:stop() end)
  local function connect(options)
    options = options or {}
    options.hosts = options.hosts or server.hosts
    options.session_timeout = 20
    return support.connect(options)
  end

  -- What becomes of acquiring `lock`, in tasks of the session's own.
  local function acquire(lock, options)
    local wait = {}
    lock:acquire_async(options or {}, function(guard, message, code)
      wait.over = true
      wait.guard, wait.message, wait.code = guard, message, code
    end)
    return wait
  end

  local function await(session, wait, seconds)
    support.step_until(session, function() return wait.over end,
      seconds or 20, "an end of the wait")
    return wait
  end

  local function is_refused(wait, path, least)
    assert.is_nil(wait.guard)
    assert.equal("invalid", wait.code)
    assert.matches("at " .. path .. ": ", wait.message, 1, true)
    local bytes = tonumber(wait.message:match "a request of (%d+) bytes")
    assert.is_true(bytes > least and bytes < least + 300, wait.message)
    assert.matches("jute.maxbuffer", wait.message, 1, true)
  end

  -- As many as the losses that it takes to know, and a few to spare.
  local function cuts(session) return session:stats().reconnects end

  it("refuses that one, with its path and size, and nobody beside it",
    function()
      local session, path = connect(), support.path()
      local holder = assert(session:mutex(path .. "/held"):acquire(30))
      local lost, rounds, busy, stop = false, 0, 0, false
      holder:on_lost(function() lost = true end)
      for i = 1, 64 do
        local mutex = session:mutex(path .. "/innocent-" .. i)
        local function again(guard, message)
          if not guard then error(message) end
          guard:on_lost(function() lost = true end)
          guard:release()
          rounds = rounds + 1
          if stop then
            busy = busy - 1
          else
            mutex:acquire_async({ data = i % 8 == 0 and LARGE or nil }, again)
          end
        end
        busy = busy + 1
        mutex:acquire_async({}, again)
      end
      support.step_until(session, function() return rounds > 128 end)
      local before = cuts(session)
      local poison = acquire(session:mutex(path .. "/poison"),
        { data = POISON })
      await(session, poison)
      is_refused(poison, path .. "/poison", #POISON)
      assert.is_true(cuts(session) - before <= 5, cuts(session) - before)
      local after = rounds
      support.step_until(session, function() return rounds > after + 256 end)
      stop = true
      support.step_until(session, function() return busy == 0 end)
      assert.is_true(holder:is_held() and not lost)
      assert.is_true(cuts(session) - before <= 5)
      assert.is_true(holder:release { wait = true })
      session:close()
    end)

  it("refuses all who wait with the same data", function()
    local session, path = connect(), support.path()
    local mutex = session:mutex(path .. "/nodes")
    local shared = session:mutex(path .. "/shared", { handoffs = 3 })
    local waits = {}
    for i = 1, 100 do
      local lock = i % 2 == 0 and mutex or shared
      waits[i] = acquire(lock, { data = POISON })
    end
    for i = 1, 100 do
      await(session, waits[i])
      is_refused(waits[i], path .. (i % 2 == 0 and "/nodes" or "/shared"),
        #POISON)
    end
    assert.is_true(cuts(session) <= 5, cuts(session))
    assert.is_true(assert(mutex:acquire(30)):release { wait = true })
    assert.is_true(assert(shared:acquire(30)):release { wait = true })
    session:close()
  end)

  local function refuses(name, make)
    it("refuses " .. name, function()
      local session, path = connect(), support.path()
      local wait = await(session,
        acquire(make(session, path), { data = POISON }))
      is_refused(wait, path, #POISON)
      assert.is_true(cuts(session) <= 5, cuts(session))
      -- Again at once, without a request.
      local lock = make(session, path)
      local guard, message, code = lock:acquire { data = POISON }
      is_refused({ guard = guard, message = message, code = code }, path,
        #POISON)
      assert.equal("invalid",
        (select(3, lock:acquire { data = POISON, timeout = 0 })))
      assert.is_true(cuts(session) <= 5)
      assert.is_true(assert(lock:acquire(30)):release { wait = true })
      session:close()
    end)
  end
  refuses("a semaphore whose inner node is too large, by the user's path",
    function(session, path) return session:semaphore(path, 3) end)
  refuses("an unfair mutex", function(session, path)
    return session:mutex(path, { fair = false })
  end)
  refuses("a reader", function(session, path)
    return session:rwlock(path).read
  end)

  it("refuses a multi for its part, and leaves no other part held", function()
    local session, path = connect(), support.path()
    local multi = session:multi {
      session:mutex(path .. "/a"),
      session:mutex(path .. "/b", { data = POISON }),
      session:mutex(path .. "/c"),
    }
    local wait = await(session, acquire(multi, {}))
    is_refused(wait, path .. "/b", #POISON)
    local other = connect()
    for _, part in ipairs { "/a", "/b", "/c" } do
      assert.is_true(assert(other:mutex(path .. part):acquire(30)):release())
    end
    other:close()
    session:close()
  end)

  it("refuses who gives up early each time, when it comes again", function()
    local session, path = connect(), support.path()
    local mutex = session:mutex(path)
    local code
    for _ = 1, 20 do
      code = select(3, mutex:acquire { data = POISON, timeout = 0 })
      if code == "invalid" then break end
      support.step_until(session, function()
        return session:state() == "connected"
      end, 10)
    end
    assert.equal("invalid", code)
    session:close()
  end)

  it("takes what is just below the limit", function()
    local session, path = connect(), support.path()
    local poison = acquire(session:mutex(path .. "/a"), { data = POISON })
    local data = ("x"):rep(LIMIT - #path - 200)
    local large = acquire(session:mutex(path .. "/b"), { data = data })
    is_refused(await(session, poison), path .. "/a", #POISON)
    assert.is_true(await(session, large).guard:release { wait = true })
    session:close()
  end)
end)

describe("A server that comes back with room for less #once", function()
  it("ends a revocation that it does not take with an error", function()
    local server = start_server(1, "--config maxSessionTimeout=60000 "
      .. "--jvm -Djute.maxbuffer=" .. LIMIT)
    support.closing(server, server.stop)
    local path = support.path()
    local holder = support.connect { hosts = server.hosts,
      session_timeout = 60 } -- a restart takes its time
    local guard = assert(holder:mutex(path, { data = LARGE }):acquire(30))
    local command = server.dir .. "/servers/1/command"
    assert(os.execute(("sed -i s/maxbuffer=%d/maxbuffer=%d/ '%s'")
      :format(LIMIT, #LARGE, command)))
    server:restart()
    local session = support.connect { hosts = server.hosts,
      session_timeout = 6 }
    support.step_until(holder, function()
      return holder:state() == "connected"
    end, 10)
    local asked, message, code = session:revoke(path)
    assert.is_nil(asked)
    assert.equal("disconnected", code)
    assert.matches(path, message, 1, true)
    support.step_until(session, function()
      return session:state() == "connected"
    end, 10)
    assert.equal(1, session:stats().reconnects)
    assert.is_true(guard:verify())
    assert.is_true(guard:release { wait = true })
    holder:close()
    session:close()
  end)
end)

describe("A connection that breaks again and again #once", function()
  it("refuses nobody", function()
    local proxy, path = start_proxy(), support.path()
    local session = support.connect { hosts = proxy.hosts,
      session_timeout = 6 }
    local refused, granted, busy, stop = nil, 0, 0, false
    for i = 1, 16 do
      local data = ("d"):rep(i % 4 == 0 and 200000 or 100 * i)
      local mutex = session:mutex(path .. "/" .. i, { data = data })
      local function again(guard, message, code)
        if guard then
          granted = granted + 1
          guard:release()
        else
          refused = refused or code .. ": " .. message
        end
        if stop then
          busy = busy - 1
        else
          mutex:acquire_async({}, again)
        end
      end
      busy = busy + 1
      mutex:acquire_async({}, again)
    end
    for i = 1, 60 do
      local before = granted
      proxy:cut()
      -- Sometimes at once again, sometimes after some work.
      if i % 3 > 0 then
        support.step_until(session, function()
          return granted > before + i % 7
        end, 20, "a grant")
      else
        session:step()
      end
    end
    stop = true
    support.step_until(session, function() return busy == 0 end, 30)
    assert.is_nil(refused)
    session:close()
  end)
end)
