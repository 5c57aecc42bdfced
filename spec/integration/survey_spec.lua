-- What a session asks about a directory in which strangers make nodes: it must
-- cost neither what the session holds elsewhere, nor memory without bound.
-- (Of a real library: spec/server/survey_spec.lua.)
local raw = require "support.raw"
local answers = require "integration.answers"
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, refused = support.connect, kinds.refused

local MIB = 1024 * 1024

local path, zk

before_each(function()
  path = support.path()
  -- Closed with the test, and with it what it has made goes.
  zk = support.closing(raw.connect(support.hosts, { timeout = 60 }))
  support.zk():make(path)
end)

-- Contenders in `path`, made by hand; `mark`: "-lock-" if nothing else.
local function crowd(n, data, mark)
  zk:create_many(n, function(i)
    return ("%s/x%s%010d"):format(path, mark or "-lock-", i)
  end, { data = data, ephemeral = true })
end

describe("A survey of a crowd", function()
  for ask, mark in pairs { contenders = "-lock-", revoke = "-__READ__" } do
    it("has few requests in flight, which its tasks share: " .. ask, function()
      crowd(2000, "web1:4711", mark)
      local session, loop = sessions.in_loop()
      local function many(tasks)
        local most, done = 0, 0
        for _ = 1, tasks do
          loop:spawn(function()
            local found = assert(session[ask](session, path))
            assert.equal(2000, ask == "revoke" and found or #found)
            done = done + 1
          end)
        end
        loop:run_until(function()
          most = math.max(most, session:stats().in_flight)
          return done == tasks
        end)
        return most
      end
      local most = many(1)
      assert.is_true(most > 30 and most <= 70, most)
      most = many(10)
      assert.is_true(most <= 64 + 10 + 4, most)
      assert.equal(ask == "revoke" and "web1:4711\nzklock:revoke"
        or "web1:4711", (zk:get(("%s/x%s%010d"):format(path, mark, 2000))))
    end)

    it("ends when the connection does, and the next one is answered: " .. ask,
      function()
        crowd(200, "web1:4711", "-__READ__")
        local proxy = start_proxy()
        local session, loop = sessions.in_loop { hosts = proxy.hosts }
        local function survey() -- which a task can wait for in vain
          local results
          loop:spawn(function() results = { session[ask](session, path) } end)
          loop:run_until(function() return results end)
          return (unpack or table.unpack)(results, 1, 3)
        end
        -- So often that requests which were never sent would fill the
        -- in-flight limit.
        for _ = 1, 20 do
          proxy:lose_reply "get"
          assert.matches(path, refused("disconnected", survey()), 1, true)
          proxy:heal()
          support.until_state(session, "connected")
        end
        local found = assert(survey())
        assert.equal(200, ask == "revoke" and found or #found)
        assert.equal(0, session:stats().in_flight)
      end)
  end

  -- So many nodes with such data: which of them are shown with their data.
  local function shown(n, data)
    crowd(n, data)
    local list, first = assert(connect():contenders(path)), 0
    assert.equal(n, #list)
    for i, row in ipairs(list) do
      if row.data then
        first = i
        assert.same({ data, nil }, { row.data, row.size })
      else
        assert.equal(#data, row.size)
      end
    end
    for i = 1, first do assert.is_string(list[i].data) end
    assert.is_true(list[1].holds)
    return first
  end

  it("reads only a few nodes with large data, then the small ones", function()
    assert.equal(4, shown(60, ("m"):rep(1000000)))
    for i = 61, 70 do
      zk:create(("%s/x-lock-%010d"):format(path, i), { data = "small",
        ephemeral = true })
    end
    local list = assert(connect():contenders(path))
    for i = 61, 70 do assert.equal("small", list[i].data) end
  end)

  it("reads small data up to 16 MiB in all", function()
    assert.equal(16 * MIB / 65536, shown(300, ("s"):rep(65536)))
  end)

  it("does not read data larger than a lock node's limit", function()
    assert.equal(0, shown(1, ("m"):rep(1000001)))
  end)

  it("keeps no data that have grown since they were looked at", function()
    crowd(20, "small")
    local proxy = require "support.proxy".start()
    local session, loop = sessions.in_loop { hosts = proxy.hosts }
    proxy:delay(0.5)
    local before, list, kept = session:stats().requests, nil, 0
    loop:spawn(function() list = assert(session:contenders(path)) end)
    loop:run_until(function() -- looks, one list, as many Stats; and reads
      return session:stats().requests > before + 4 + 1 + 20
    end)
    for i = 1, 20 do
      zk:set(("%s/x-lock-%010d"):format(path, i), ("g"):rep(1000000))
    end
    loop:run()
    for _, row in ipairs(list) do
      if row.data then
        kept = kept + #row.data
      else
        assert.equal(1000000, row.size)
      end
    end
    assert.is_true(kept <= 4 * MIB, kept)
    proxy:heal()
  end)

  it("lists up to 50 000 children, and refuses more before it lists them",
    function()
    crowd(50000, nil, "-stranger-")
    local session = connect()
    local names = assert(session:children(path))
    assert.equal(50000, #names)
    assert.same({ "x-stranger-0000000001", "x-stranger-0000050000" },
      { names[1], names[50000] })
    zk:create(path .. "/x-lock-0000000001", { ephemeral = true })
    for _, ask in ipairs { "contenders", "revoke", "children" } do
      local message = refused("invalid", session[ask](session, path))
      assert.matches(path, message, 1, true)
      assert.matches("more than 50000 children", message, 1, true)
    end
    refused("invalid", session:mutex(path):holders())
  end)

  it("leaves out those that vanish meanwhile", function()
    crowd(1000, "web1:4711")
    local session, loop = sessions.in_loop()
    local list, exists
    local before = session:stats().requests
    loop:spawn(function() list, exists = session:contenders(path) end)
    loop:run_until(function() return session:stats().requests > before + 70 end)
    zk:close()
    loop:run()
    assert.is_true(exists)
    assert.is_true(#list < 1000, #list)
    assert.same({}, (connect():contenders(path)))
  end)
end)

describe("A survey among strangers", function()
  local session

  before_each(function() session = connect() end)

  local function reader(number, options)
    options.ephemeral = true
    return zk:create(("%s/x-__READ__%010d"):format(path, number), options)
  end

  it("costs as many requests as doc/guarantees.md says", function()
    local function cost_of(ask, ...)
      local before = support.requests(session)
      assert(session[ask](session, ...))
      return support.requests(session) - before
    end
    local nodes = { reader(1, { data = "d" }), reader(2, { data = "d" }),
      reader(3, {}) }
    assert.equal(5, cost_of("contenders", path .. "-not-there"))
    assert.equal(5 + 1 + 3 + 2, cost_of("contenders", path))
    assert.equal(5 + 1 + 3 + 2 * 3, cost_of("revoke", path))
    assert.equal(5 + 1 + 3 + 3, cost_of("revoke", path)) -- they are marked
    for _, node in ipairs(nodes) do zk:delete(node) end
    zk:create(path .. "/locks")
    zk:create(path .. "/leases")
    zk:create(path .. "/holder", { data = "d" })
    assert.equal(5 + 3 + 1, cost_of("contenders", path))
    assert.equal(2, cost_of("stat", path))
    assert.equal(3, cost_of("children", path))
    assert.equal(2, cost_of("children", path .. "/holder"))
    assert.equal(2, cost_of("children", path .. "-not-there"))
    assert.equal(2, cost_of("touch", path .. "/made"))
    assert.equal(1, cost_of("touch", path .. "/made"))
    zk:create(path .. "/x-lock-0000000001")
    assert.equal(2 + 1, cost_of("evict", path, "x-lock-0000000001"))
    assert.equal(2 + 2 + 1, cost_of("evict", path, "holder"))
    local guard = assert(connect():mutex(path,
      { fair = false, share_path = true }):acquire(30))
    assert.equal(2 + 3 + 1, cost_of("evict", path, "holder"))
    guard:release()
  end)

  it("asks the other holders if one cannot be asked, and names it",
    function()
      local large = reader(1, { data = ("m"):rep(12289) })
      local closed = reader(2, { data = "c",
        acl = { { perms = 29, scheme = "world", id = "anyone" } } })
      local open = reader(3, { data = "o" })
      assert.same({ nil, ("zklock: 1 of 3 holders of %s was asked to release "
        .. 'it, but not "x-__READ__0000000001": its path and data leave no '
        .. "room for a mark"):format(path), "invalid" },
        { session:revoke(path) })
      assert.equal("o\nzklock:revoke", (zk:get(open)))
      zk:delete(large)
      assert.matches('1 of 2 holders of ' .. path .. ' was asked to release '
        .. 'it, but not "x-__READ__0000000002": ',
        refused("denied", session:revoke(path)), 1, true)
      zk:delete(closed)
      assert.equal(1, session:revoke(path))
      assert.equal(0, session:stats().reconnects)
    end)

  it("marks data if they and the path have at most 12 KiB", function()
    local most = 12288 - #(path .. "/x-__READ__0000000001")
    for size, expected in pairs { [most] = { 1 },
        [most + 1] = { nil, "invalid" }, [12289] = { nil, "invalid" } } do
      local node = reader(1, { data = ("m"):rep(size) })
      for _ = 1, 2 do -- (the second time it is marked)
        local asked, _, code = session:revoke(path)
        assert.same(expected, { asked, code })
      end
      zk:delete(node)
    end
    assert.equal(0, session:stats().reconnects)
  end)
end)

-- A session, and nodes that begin as its own do, which anybody can read in the
-- names of its nodes.  While it waits behind them it has `most` requests in
-- flight, and not many.
local function forge(n)
  local session = connect { session_timeout = 30 }
  local guard = assert(session:mutex(support.path()):acquire(30))
  local mark = guard.node:match "/(%w+)%-lock%-%d+$":sub(1, 5)
  zk:create_many(n, function(i)
    return ("%s/%szz%d-lock-%010d"):format(path, mark, i, i - 1)
  end, { ephemeral = true })
  local waiter = kinds.wait_in(session:mutex(path))
  local function until_true(condition)
    support.step_until(session, function()
      local stats = session:stats()
      assert.is_true(guard:is_held())
      assert.is_true(stats.in_flight <= 120, stats.in_flight)
      return condition(stats)
    end, 60)
  end
  return session, waiter, until_true
end

it("Forged nodes with a session's mark are read some at a time, and "
  .. "are not deleted", function()
  local session, waiter, until_true = forge(5000)
  until_true(function(stats)
    return stats.requests > 1000 and stats.in_flight == 0
  end)
  assert.equal(0, session:stats().internal.orphans)
  assert.is_nil(waiter.guard)
  assert.equal(5001, #zk:queue(path))
  zk:close()
  kinds.await(waiter):release { wait = true }
end)

it("Nodes that a session has forgotten are deleted, a thousand for each list",
  function()
    local id, deleted = nil, 0
    local log = answers.log(function(reply)
      if reply.op == "exists" and reply.stat then reply.stat.owner = id end
      return reply
    end)
    local session, waiter, until_true = forge(2500)
    id = session:id()
    until_true(function(stats) return stats.internal.orphans == 2500 end)
    kinds.await(waiter):release()
    for _, entry in ipairs(log) do
      if entry.op == "children" then deleted = 0 end
      if entry.op == "delete" then deleted = deleted + 1 end
      assert.is_true(deleted <= 1000)
    end
  end)
