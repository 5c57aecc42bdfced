-- Many readers or one writer, in the order of arrival.
local kinds = require "integration.family.kinds"
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, misuse = support.connect, support.misuse
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody

local function released(guard) assert.is_true(guard:release { wait = true }) end

for _, layout in ipairs { "curator", "kazoo" } do
  describe("A rwlock in " .. layout .. "'s layout", function()
    before_each(function() kinds.start() end)
    after_each(support.finish)

    local path
    before_each(function() path = support.path() end)

    -- The sides of the lock in a session of its own.
    local function sides(options)
      return connect(options):rwlock(path, { layout = layout })
    end
    local function queue(side, options)
      return kinds.queue_in(side, path, options)
    end

    it("is read by many together, and then by no writer", function()
      local a, b, c = sides(), sides(), sides()
      local one = assert(a.read:acquire(30))
      local two = assert(b.read:acquire(0))
      local three = assert(c.read:try_acquire())
      assert.is_true(one:is_held() and two:is_held() and three:is_held())
      local d = sides()
      assert.equal("busy", select(3, d.write:try_acquire()))
      local writer = queue(d.write)
      released(two)
      nobody(0.02, writer)
      released(one)
      nobody(0.03, writer)
      released(three)
      await(writer):release()
    end)

    it("is written by one, alone", function()
      local a, b, c, d = sides(), sides(), sides(), sides()
      local writing = assert(a.write:acquire(30))
      assert.equal("busy", select(3, b.read:try_acquire()))
      assert.equal("busy", select(3, b.write:try_acquire()))
      local two, three = queue(b.write), queue(c.read)
      local four = queue(d.read)
      nobody(0.03, two, three, four)
      released(writing)
      await(two)
      nobody(0.03, three, four)
      released(two.guard)
      await(three, four)
      assert.is_true(three.guard:is_held() and four.guard:is_held())
      three.guard:release()
      four.guard:release()
    end)

    it("keeps readers behind a writer that waits", function()
      local a, b, c, d = sides(), sides(), sides(), sides()
      local reading = assert(a.read:acquire(30))
      local writer = queue(b.write)
      assert.equal("busy", select(3, c.read:try_acquire()))
      assert.equal("timeout", select(3, c.read:acquire(0.05)))
      local reader, last = queue(c.read), queue(d.write)
      nobody(0.03, writer, reader, last)
      released(reading)
      await(writer)
      nobody(0.03, reader, last)
      released(writer.guard)
      await(reader)
      nobody(0.03, last)
      released(reader.guard)
      await(last):release()
    end)

    it("lets in a reader whom only a later writer follows (T31)", function()
      local a, b, c = sides(), sides(), sides()
      local writing = assert(a.write:acquire(30))
      local reader, writer = queue(b.read), queue(c.write)
      released(writing)
      await(reader)
      nobody(0.05, writer)
      released(reader.guard)
      await(writer):release()
    end)

    it("lets readers go on when the writer between them gives up", function()
      local a, b, c, d = sides(), sides(), sides(), sides()
      local reading = assert(a.read:acquire(30))
      local writer = queue(b.write)
      local late, last = queue(c.read), queue(d.read)
      nobody(0.02, writer, late, last)
      writer.ticket:cancel()
      await(writer, late, last)
      assert.equal("cancelled", writer.code)
      assert.is_true(late.guard:is_held() and last.guard:is_held())
      for _, guard in ipairs { reading, late.guard, last.guard } do
        released(guard)
      end
    end)

    it("lets a writer in past a reader that has given up", function()
      local a, b, c = sides(), sides(), sides()
      local writing = assert(a.write:acquire(30))
      local reader, writer = queue(b.read), queue(c.write)
      reader.ticket:cancel()
      await(reader)
      nobody(0.03, writer)
      released(writing)
      await(writer):release()
    end)

    it("starves no writer, however many readers come and go", function()
      local reading, rounds, stop = {}, 0, false
      for i = 1, 3 do
        local side = sides().read
        reading[i] = side
        local function again()
          side:acquire_async({ owner = {}, timeout = 20 }, function(guard)
            rounds = rounds + 1
            guard:release()
            if not stop then again() end
          end)
        end
        again()
      end
      support.step_until(reading[1]._session, function()
        for i = 2, 3 do reading[i]._session:step() end
        return rounds > 10
      end)
      local writer = sides()
      local waiter = wait_in(writer.write, 30)
      support.wait_until(function()
        for i = 1, 3 do reading[i]._session:step() end
        for _, node in ipairs(kinds.nodes(path)) do
          if node:find "__WRIT__" or node:find "__lock__" then return true end
        end
        return waiter.guard
      end, 5, "a writer's node")
      local seen = rounds
      support.wait_until(function()
        for i = 1, 3 do reading[i]._session:step() end
        waiter.session:step()
        return waiter.guard
      end)
      assert.is_true(rounds - seen < 100, rounds - seen)
      stop = true
      waiter.guard:release()
    end)

    it("is the same lock through two objects of one session", function()
      local session = connect()
      local one = session:rwlock(path, { layout = layout })
      local two = session:rwlock(path, { layout = layout })
      local guard = assert(one.write:acquire { owner = "a", timeout = 5 })
      assert.equal("busy", select(3, two.read:try_acquire { owner = "b" }))
      assert.equal("busy", select(3, two.write:try_acquire { owner = "b" }))
      guard:release()
      local first = assert(one.read:acquire { owner = "a", timeout = 5 })
      local second = assert(two.read:acquire { owner = "b", timeout = 5 })
      assert.are_not.equal(first.node, second.node)
      first:release()
      second:release()
    end)

    -- Reentry.

    it("is reentered on each side, and by a writer on both", function()
      local side = sides()
      local session = side.read._session
      local one = assert(side.read:acquire(30))
      local requests = session:stats().requests
      local two = assert(side.read:acquire(30))
      assert.equal(one.node, two.node)
      assert.equal(requests, session:stats().requests)
      released(one)
      assert.is_true(two:is_held())
      released(two)
      local write = assert(side.write:acquire(30))
      local again = assert(side.write:try_acquire())
      assert.equal(write:token(), again:token())
      local read = assert(side.read:acquire(30))
      local reread = assert(side.read:acquire(0))
      assert.equal(read:token(), reread:token())
      local rewrite = assert(side.write:acquire(0))
      assert.equal(write:token(), rewrite:token())
      for _, guard in ipairs { write, again, rewrite, reread, read } do
        assert.is_true(guard:is_held())
        assert.is_true(guard:release())
      end
      kinds.wait_for_nodes(path, 0)
      assert.is_true(assert(side.write:acquire(30)):release())
    end)

    it("is a deadlock for a reader that asks for writing", function()
      local side, other = sides(), sides()
      local also = assert(other.read:acquire(30))
      local read = assert(side.read:acquire(30))
      local begun = support.now()
      for _, ask in ipairs {
        function() return side.write:acquire() end,
        function() return side.write:acquire(30) end,
        function() return side.write:try_acquire() end,
        function() return side.write:with_lock(print) end,
      } do
        local guard, message, code = ask()
        assert.is_nil(guard)
        assert.equal("deadlock", code)
        assert.equal("zklock: " .. path .. " is held for reading by the "
          .. "caller, which waits for itself when it asks for writing", message)
      end
      assert.is_true(support.now() - begun < 1 + support.slack)
      local called
      side.write:acquire_async({ owner = "me" }, function() end):cancel()
      local mine = assert(side.read:acquire { owner = "me", timeout = 5 })
      side.write:acquire_async({ owner = "me" }, function(_, _, code)
        called = code
      end)
      support.step_until(side.read._session, function() return called end)
      assert.equal("deadlock", called)
      assert.is_true(read:is_held())
      assert.is_true(read:verify())
      -- somebody else's task only waits
      local waiter = wait_in(side.write, { owner = "another" })
      nobody(0.03, waiter)
      for _, guard in ipairs { also, read, mine } do released(guard) end
      await(waiter):release()
    end)

    -- Downgrade.

    it("is downgraded without letting a queued writer in (T5)", function()
      local a, b, c, d = sides(), sides(), sides(), sides()
      local write = assert(a.write:acquire(30))
      local reader = queue(b.read)
      local writer = queue(c.write)
      local behind = queue(d.read)
      local read = assert(a.read:acquire(0))
      assert.equal(write.node:sub(-10), read.node:sub(-10))
      assert.equal(write:token(), read:token())
      nobody(0.03, reader, writer, behind)
      assert.is_true(read:is_held() and write:is_held())
      released(write)
      await(reader) -- which came before the writer
      nobody(0.1, writer, behind)
      assert.is_true(read:is_held())
      assert.is_true(read:verify())
      released(reader.guard)
      nobody(0.05, writer, behind)
      released(read)
      await(writer)
      assert.is_true(writer.guard:token() > read:token())
      nobody(0.03, behind)
      released(writer.guard)
      await(behind):release()
    end)

    it("is downgraded in every way of asking", function()
      local side = sides()
      local ways = {
        function() return side.read:acquire() end,
        function() return side.read:acquire(0) end,
        function() return side.read:try_acquire() end,
        function() return side.read:acquire { timeout = 5, data = "d" } end,
      }
      for _, ask in ipairs(ways) do
        local write = assert(side.write:acquire(30))
        local read = assert(ask())
        released(write)
        assert.is_true(read:verify())
        released(read)
        assert.same({}, kinds.nodes(path))
      end
      local write = assert(side.write:acquire { owner = "o", timeout = 5 })
      local read = await(wait_in(side.read, { owner = "o" }))
      released(write)
      released(read)
      assert.is_true(side.write:with_lock(function()
        assert(side.read:with_lock(function(guard)
          assert.is_true(guard:is_held())
        end))
      end, 5))
    end)

    it("may be downgraded again, and read last or first", function()
      local side = sides()
      for i = 1, 6 do
        local write = assert(side.write:acquire(30))
        local read = assert(side.read:acquire(30))
        released(read)
        read = assert(side.read:acquire(30))
        released(i % 2 == 0 and read or write)
        assert.equal(i % 2 == 1, read:is_held())
        assert.equal(i % 2 == 0, write:is_held())
        if i % 2 == 1 then -- only the read hold is left
          assert.equal("deadlock", select(3, side.write:acquire(30)))
        end
        released(i % 2 == 0 and write or read)
      end
      assert.same({}, kinds.nodes(path))
    end)

    it("is downgraded by its owner only", function()
      local side = sides()
      local write = assert(side.write:acquire { owner = "a", timeout = 5 })
      assert.equal("busy", select(3, side.read:try_acquire { owner = "b" }))
      local waiter = wait_in(side.read, { owner = "b" })
      nobody(0.03, waiter)
      released(write)
      await(waiter):release()
    end)

    it("is downgraded with requests for the reader, and a look", function()
      local side = sides { session_timeout = 60 }
      local session = side.read._session
      local write = assert(side.write:acquire(30))
      local received = kinds.traffic(session)
      local read = assert(side.read:acquire(30))
      -- a look at the writer's node, which is watched; create, list
      assert.equal(received + 3, (kinds.traffic(session)))
      released(write)
      released(read)
      assert.equal(received + 5, (kinds.traffic(session)))
    end)

    it("is downgraded even if the connection breaks meanwhile", function()
      local proxy = start_proxy()
      local side = sides { hosts = proxy.hosts, session_timeout = 10 }
      local other = sides()
      for _, request in ipairs { "create", "list" } do
        local write = assert(side.write:acquire { owner = "o", timeout = 10 })
        local writer = queue(other.write)
        proxy:lose_reply(request)
        local waiter = wait_in(side.read, { owner = "o", timeout = 10 })
        proxy:await_loss()
        proxy:heal()
        nobody(0, writer)
        local read = await(waiter)
        released(write)
        nobody(0.05, writer)
        assert.is_true(read:verify())
        released(read)
        await(writer):release { wait = true }
      end
    end)

    it("is lost on both sides when the downgrade's holder is", function()
      local side = sides { session_timeout = 10 }
      local session = side.read._session
      local write = assert(side.write:acquire(30))
      local read = assert(side.read:acquire(30))
      support.zk():delete(write.node)
      support.zk():delete(read.node)
      support.step_until(session, function()
        return not write:is_held() and not read:is_held()
      end, 5)
      assert.equal("lost", select(3, side.read:acquire(30)))
      assert.equal("lost", select(3, side.write:acquire(30)))
      assert.equal("lost", select(3, read:release()))
      assert.equal("lost", select(3, write:release()))
      assert(side.write:acquire(30)):release()
    end)

    it("answers lost to a reader whose write hold was lost", function()
      local side = sides { session_timeout = 10 }
      local session = side.read._session
      local write = assert(side.write:acquire(30))
      support.zk():delete(write.node)
      support.step_until(session, function() return not write:is_held() end, 5)
      assert.equal("lost", select(3, side.read:acquire(30)))
      assert.equal("lost", select(3, side.read:try_acquire()))
      assert.equal("lost", select(3, side.write:try_acquire()))
      write:release()
      local read = assert(side.read:acquire(30))
      support.zk():delete(read.node)
      support.step_until(session, function() return not read:is_held() end, 1)
      assert.equal("lost", select(3, side.write:acquire(30)))
      read:release()
      assert(side.write:acquire(30)):release()
    end)

    it("is lost, not granted, to a downgrade whose writer has just gone",
      function()
        local side, other = sides { session_timeout = 60 }, sides()
        local write = assert(side.write:acquire(30))
        local writer = queue(other.write)
        support.zk():delete(write.node) -- nobody has told us yet
        await(writer)
        local read, _, code = side.read:acquire(2)
        assert.is_nil(read)
        assert.equal("lost", code)
        assert.is_true(writer.guard:verify())
        writer.guard:release()
        write:release()
      end)

    it("keeps the readers of a downgraded writer when that one goes",
      function()
        local a, b = sides(), sides()
        local write = assert(a.write:acquire(30))
        local read = assert(a.read:acquire(30))
        released(write)
        local other = assert(b.read:acquire(30))
        released(read)
        assert.is_true(other:verify())
        assert.equal("busy", select(3, a.write:try_acquire()))
        released(other)
        assert(a.write:acquire(30)):release()
      end)
  end)
end

describe("The sides of a rwlock", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  it("are locks of their own for cancel and release", function()
    local path = support.path()
    local side = connect():rwlock(path)
    local holder = connect():rwlock(path).write:acquire(30)
    local reader, writer = wait_in(side.read), wait_in(side.write)
    side.read:cancel()
    await(reader)
    assert.equal("cancelled", reader.code)
    nobody(0.03, writer)
    holder:release()
    await(writer)
    assert.matches("is not held by the calling task",
      misuse(function() side.read:release() end))
    writer.guard:release()
  end)

  it("are refused beside a mutex, and share its path on purpose", function()
    local path = support.path()
    local mutex = connect():mutex(path):acquire(30)
    assert.equal("conflict",
      select(3, connect():rwlock(path).write:acquire(0)))
    local guard = assert(connect():rwlock(path, { share_path = true })
      .write:acquire(0))
    assert.is_true(mutex:is_held() and guard:is_held())
    mutex:release()
    guard:release()
  end)

  it("honour a downgrade that Curator (5.5 and later) makes (T5)", function()
    local path, zk = support.path(), support.zk()
    zk:make(path)
    local uuid = "/_c_00000000-0000-4000-8000-00000000000"
    local write = zk:create(path .. uuid .. "1-__WRIT__",
      { sequential = true, ephemeral = true })
    local reader = kinds.queue_in(connect():rwlock(path).read, path)
    local writer = kinds.queue_in(connect():rwlock(path).write, path)
    local behind = kinds.queue_in(connect():rwlock(path).write, path)
    local read = zk:create(path .. uuid .. "2-__READ__" .. write:sub(-10),
      { ephemeral = true })
    nobody(0.03, reader, writer, behind)
    zk:delete(write)
    await(reader)
    nobody(0.05, writer, behind)
    reader.guard:release()
    nobody(0.05, writer, behind)
    zk:delete(read)
    await(writer)
    nobody(0.03, behind)
    writer.guard:release()
    await(behind):release()
  end)

  it("name their nodes as Curator and kazoo do", function()
    local path = support.path()
    local side = connect():rwlock(path)
    local function named(guard, marker)
      assert.matches("/%w%w%w%w%w%w" .. marker
        .. "%d%d%d%d%d%d%d%d%d%d$", guard.node)
      guard:release()
    end
    named(side.read:acquire(30), "%-__READ__")
    named(side.write:acquire(30), "%-__WRIT__")
    path = support.path()
    side = connect():rwlock(path, { layout = "kazoo" })
    named(side.read:acquire(30), "__rlock__")
    named(side.write:acquire(30), "__lock__")
  end)
end)
