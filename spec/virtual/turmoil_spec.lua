-- The model's servers in turmoil: whatever befalls them, what a client was told
-- is there in the end, at all of them, and in the order of its zxid.
local model = require "support.model"

local SEEDS = tonumber(os.getenv "SPEC_TURMOILS") or 100

describe("The model's servers", function()
  local ensemble, chance, servers, clients, told

  local function below(n)
    chance = chance * 48271 % 2147483647
    return chance % n
  end

  local function address(i) return "127.0.0.1:" .. 2180 + i end

  -- A client goes on with its session, at any server, whenever it has none.
  local function renew(client)
    local options = { timeout = 5000 }
    if client.known then
      options.session, options.password = client.known.id,
        client.known.password
      options.seen = client.seen
    end
    client.connection = ensemble:open(address(1 + below(servers)), options)
    client.due, client.connected = {}, false
  end

  local function hear(client, item)
    if item.kind == "connected" then
      client.connected = item.timeout > 0
      client.known = client.connected and item or nil
      if not client.known then client.seen = nil end
    elseif item.kind == "reply" then
      if item.zxid > (client.seen or "") then client.seen = item.zxid end
      if item.rc == 0 and item.op == "create2" then
        told[#told + 1] = { path = item.path, zxid = item.stat.czxid }
      end
    elseif item.kind == "ended" then
      renew(client)
    end
  end

  local function go_on(client)
    for item in function() return client.connection:take() end do
      hear(client, item)
    end
    if client.connected and below(3) == 0 then
      client.connection:send { op = "create2", path = "/q/n", flags = 2 }
    elseif client.connected and below(3) == 0 then
      client.connection:send { op = below(2) == 0 and "sync" or "ping",
        path = "/" }
    end
  end

  local mishaps = {
    function(i) ensemble:stop(i) end,
    function(i) ensemble:start(i) end,
    function(i) ensemble:start(i) end,
    function(i) ensemble:pause(i) end,
    function(i) ensemble:resume(i) end,
    function(i) ensemble:resume(i) end,
    function(i) ensemble:group(i, below(2)) end,
    function(i) ensemble:group(i, 0) end,
    function(i) ensemble:lag(i, below(3) * 0.1) end,
    function(i) ensemble:elect(i) end,
    function()
      local client = clients[1 + below(#clients)]
      if client.known then ensemble:end_session(client.known.id) end
    end,
  }

  local function suffer()
    for _ = 1, 300 do
      if below(4) == 0 then mishaps[1 + below(#mishaps)](1 + below(servers)) end
      ensemble:advance((1 + below(100)) * (below(6) == 0 and 0.05 or 0.002))
      for _, client in ipairs(clients) do go_on(client) end
    end
  end

  local function recover()
    for i = 1, servers do
      ensemble:resume(i)
      ensemble:start(i)
      ensemble:group(i, 0)
      ensemble:lag(i, 0)
    end
    ensemble:advance(60)
  end

  -- Each node's name and zxid, as a server shows it.
  local function seen_by(i)
    local client = model.connect(ensemble, { timeout = 5000 }, address(i))
    local function ask(request)
      local xid = client:send(request)
      local item
      repeat item = client:receive() until item.xid == xid
      return item
    end
    local names = ask({ op = "children", path = "/q" }).names
    table.sort(names)
    local zxids = {}
    for n, name in ipairs(names) do
      zxids[n] = name .. " "
        .. ask({ op = "exists", path = "/q/" .. name }).stat.czxid
    end
    return zxids
  end

  local function check()
    local first = seen_by(1)
    for i = 2, servers do
      local other = seen_by(i)
      for n = 1, math.max(#first, #other) do
        assert(first[n] == other[n], ("1 has %s, %d has %s"):format(
          tostring(first[n]), i, tostring(other[n])))
      end
    end
    local there = {}
    for _, word in ipairs(first) do
      local name, zxid = word:match "^(.*) (.*)$"
      there["/q/" .. name] = zxid
    end
    for _, one in ipairs(told) do
      assert.equal(one.zxid, there[one.path], one.path)
    end
  end

  local function run(seed)
    chance, told, clients = seed * 7919 + 1, {}, {}
    servers = 3 + 2 * below(2)
    ensemble = model.new({ servers = servers, observers = below(2),
      tick_ms = 500, max_timeout_ms = 60000 }, seed)
    model.connect(ensemble):send { op = "create", path = "/q" }
    ensemble:advance(1)
    for i = 1, 4 do
      clients[i] = {}
      renew(clients[i])
    end
    suffer()
    recover()
    check()
    return #told
  end

  it("lose nothing that they have told, and agree in the end", function()
    local all = 0
    for seed = 1, SEEDS do
      local ok, result = pcall(run, seed)
      assert(ok, ("seed %d: %s"):format(seed, tostring(result)))
      all = all + result
    end
    assert.is_true(all > 10 * SEEDS, all)
  end)
end)
