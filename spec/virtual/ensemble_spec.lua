-- The model's time, servers and links, by themselves: what a real ensemble does
-- so slowly, or so rarely, that spec/server/conformance_spec.lua does not
-- compare it.  Each ensemble has a time of its own.
local model = require "support.model"

local SECOND_SERVER, THIRD_SERVER = "127.0.0.1:2182", "127.0.0.1:2183"

describe("An ensemble of the model", function()
  local ensemble

  local function connect(options, address)
    return model.connect(ensemble, options or { timeout = 10000 }, address)
  end

  -- The session of this client, on another connection.
  local function come_back(client, address, timeout)
    return connect({ timeout = timeout or 10000, session = client.session.id,
      password = client.session.password }, address)
  end

  -- The reply; what comes before it is kept in `client.before`.
  local function ask(client, request)
    local xid = client:send(request)
    client.before = {}
    while true do
      local item = client:receive()
      if item.kind == "ended" or item.xid == xid then return item end
      table.insert(client.before, item)
    end
  end

  local function create(client, path, flags, data)
    return ask(client, { op = "create", path = path, flags = flags,
      data = data })
  end

  local function exists(client, path)
    return ask(client, { op = "exists", path = path }).rc == 0
  end

  -- What has come, without waiting for it.
  local function heard(client)
    local words = {}
    for item in function() return client.client:take() end do
      words[#words + 1] = item.kind == "event"
        and item.type .. " " .. item.path or item.kind
    end
    return table.concat(words, ", ")
  end

  describe("ends sessions", function()
    -- From the last request to the end: the timeout, and no more than a tick.
    local function life(seed)
      ensemble = model.new({ tick_ms = 2000 }, seed)
      local client = connect { timeout = 4000 }
      create(client, "/node", 1)
      local begun = ensemble:now()
      while ensemble:look "/node" do assert(ensemble:step()) end
      return ensemble:now() - begun
    end

    it("in ticks of the leader, not before their timeout", function()
      local shortest, longest = math.huge, 0
      for seed = 1, 50 do
        local seconds = life(seed)
        shortest = math.min(shortest, seconds)
        longest = math.max(longest, seconds)
      end
      assert.is_true(shortest >= 4 and shortest < 4.3, shortest)
      assert.is_true(longest > 5.7 and longest < 6.01, longest)
    end)

    it("whose clients come back too late, and closes the connection", function()
      ensemble = model.new({}, 1)
      local client = connect { timeout = 4000 }
      ensemble:advance(7)
      assert.equal("ended", heard(client))
      local again = come_back(client, nil, 4000)
      assert.equal(0, again.session.timeout)
      assert.equal("ended", again:receive().kind)
    end)
  end)

  describe("of several servers", function()
    before_each(function()
      ensemble = model.new({ servers = 3, tick_ms = 2000 }, 3)
      assert.equal(3, ensemble:leader())
    end)

    it("lets a follower lag, until sync", function()
      local writer, reader = connect(nil, THIRD_SERVER), connect()
      ensemble:lag(1, 1)
      create(writer, "/node")
      assert.is_false(exists(reader, "/node"))
      assert.equal(0, ask(reader, { op = "sync", path = "/" }).rc)
      assert.is_true(exists(reader, "/node"))
    end)

    -- (The leader has proposed it by then, and has often not committed it.)
    it("answers sync after what was under way when the leader read it",
      function()
        for seed = 1, 40 do
          ensemble = model.new({ servers = 3 }, seed)
          local writer, reader = connect(nil, THIRD_SERVER), connect()
          writer:send { op = "create", path = "/node" }
          ensemble:advance(0.0001)
          ask(reader, { op = "sync", path = "/" })
          assert.is_true(exists(reader, "/node"), seed)
        end
      end)

    it("sends an event before a reply that shows the change", function()
      local writer, reader = connect(nil, THIRD_SERVER), connect()
      ensemble:lag(1, 1)
      ask(reader, { op = "exists", path = "/node", watch = true })
      create(writer, "/node")
      assert.equal(0, ask(reader, { op = "sync", path = "/" }).rc)
      assert.equal("created", reader.before[1].type)
    end)

    it("answers reads of a minority, and not its writes, until the servers "
      .. "have given each other up", function()
        local client = connect()
        create(client, "/node")
        ensemble:group(1, 7)
        assert.is_true(exists(client, "/node"))
        client:send { op = "create", path = "/never" }
        ensemble:advance(5)
        assert.equal("", heard(client))
        ensemble:advance(6)
        assert.equal("ended", heard(client))
        assert.is_nil(ensemble:look "/never")
      end)

    it("hears nothing of a server that is paused, before that goes on",
      function()
        local client = connect()
        ensemble:pause(1)
        ensemble:advance(30)
        assert.equal("", heard(client))
        ensemble:resume(1)
        ensemble:advance(1)
        assert.equal("ended", heard(client))
      end)

    it("loses a transaction that no majority has", function()
      local client = connect(nil, THIRD_SERVER)
      create(client, "/node")
      ensemble:group(3, 7)
      client:send { op = "create", path = "/lost" }
      ensemble:advance(20)
      assert.equal(2, ensemble:leader())
      local other = connect(nil, SECOND_SERVER)
      create(other, "/kept")
      ensemble:group(3, 0)
      ensemble:advance(20)
      local again = connect(nil, THIRD_SERVER)
      assert.is_true(exists(again, "/kept"))
      assert.is_false(exists(again, "/lost"))
    end)

    it("gives each session its whole timeout under a new leader", function()
      local client = connect { timeout = 4000 }
      create(client, "/node", 1)
      ensemble:advance(3)
      local begun = ensemble:now()
      ensemble:stop(3)
      while ensemble:look "/node" do assert(ensemble:step()) end
      assert.is_true(ensemble:now() - begun > 4, ensemble:now() - begun)
    end)

    it("elects whom the operator wants, if it has all that is committed",
      function()
        assert.is_true(ensemble:elect(1))
        ensemble:advance(2)
        assert.equal(1, ensemble:leader())
        ensemble:pause(2)
        assert.is_false(ensemble:elect(2))
      end)

    it("closes the older connection of a session at its next write", function()
      local client = connect()
      local other = come_back(client, SECOND_SERVER)
      assert.equal("ended", create(client, "/old").kind)
      assert.equal(0, create(other, "/new").rc)
      assert.is_nil(ensemble:look "/old")
    end)

    it("refuses a client that has seen more than the server", function()
      local writer = connect(nil, THIRD_SERVER)
      ensemble:lag(1, 1)
      local reply = create(writer, "/node")
      assert.has_error(function()
        connect { timeout = 10000, seen = reply.zxid }
      end)
      ensemble:advance(2)
      local client = connect { timeout = 10000, seen = reply.zxid }
      assert.equal(10000, client.session.timeout)
    end)
  end)

  it("closes a connection that sends more than jute.maxbuffer", function()
    ensemble = model.new({}, 1)
    local client, acl = connect(), { { perms = 31, scheme = "a", id = "b" } }
    local room = 1048575 - 8 - (4 + 2) - 4 - (4 + 4 + 5 + 5) - 4
    local request = { op = "create", path = "/a", acl = acl,
      data = ("x"):rep(room) }
    assert.equal(-114, ask(client, request).rc)
    request.data = request.data .. "x"
    assert.equal("ended", ask(client, request).kind)
  end)

  it("lets a sequence counter come to its end", function()
    ensemble = model.new({}, 1)
    local client = connect()
    create(client, "/q")
    ensemble:set_counter("/q", 2147483646)
    for _, path in ipairs { "/q/a2147483646", "/q/b2147483647",
      "/q/c2147483647" } do
      assert.equal(path, create(client, path:sub(1, 4), 2).path)
    end
    assert.equal(-110, create(client, "/q/c", 2).rc)
    -- Those that travel together see what the leader plans.
    for i = 1, 3 do
      client:send { op = "create", path = "/q/" .. i .. "-", flags = 2 }
    end
    local paths = {}
    for i = 1, 3 do paths[i] = client:receive().path end
    assert.are.same({ "/q/1-2147483647", "/q/2--2147483648",
      "/q/3--2147483647" }, paths)
  end)
end)
