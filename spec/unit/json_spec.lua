-- The text in which the workers of one nginx report to each other, and which
-- programs are given.
local dkjson = require "dkjson"
local json = require "zklock.ngx.json"

local function histogram(sum)
  return { count = 303, sum = sum,
    buckets = { 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 300 } }
end

local function new_report(path)
  return { worker = "3", pid = 4711, time = 1764000000.125, leaving = false,
    sessions = { {
      hosts = "zk1:2181", state = "connected", id = "0x1", index = 1,
      timeout = 10, lease = 5.25,
      counters = { reconnects = 1, expirations = 0, requests = 7,
        pending_releases = 0, heartbeats = 3, internal = { lists = 5 } },
      locks = { { path = path, mode = "mutex", waits = histogram(0.00025),
        holds = histogram(1e-300), refusals = { timeout = 2 },
        losses = { max_hold_reached = 1 }, waiting = 1, oldest_wait = 2,
        holding = 0, oldest_hold = 0 } },
      holds = { { path = path, mode = "read", seconds = 0.1, id = 5,
        lease = 6.5, token = "0000000000000000042", node = path .. "/n",
        state = "held" } },
      waits = { { path = path, mode = "write", seconds = 2, id = 6 } },
    } } }
end

local text = json.write(new_report "/a")

describe("A worker's report", function()
  it("is read as it was written", function()
    assert.are.same(new_report "/a", json.read(text))
    local bytes = {}
    for byte = 1, 255 do bytes[byte] = string.char(byte) end
    bytes = table.concat(bytes)
    for _, path in ipairs { "", bytes, bytes:reverse(), '"\\\\"',
      "\0001\n2\r3", "\\u0022" } do
      local given = new_report(path)
      assert.are.same(given, json.read(json.write(given)))
    end
  end)

  it("is JSON, with the texts made plain", function()
    for path, shown in pairs { ["/a"] = "/a", ["\\\""] = "\\\"",
      ["\n\226\128\174\255\195\169"] = "\\x0a\\xe2\\x80\\xae\\xff\195\169" } do
      local all, after, problem =
        dkjson.decode(json.plain(json.write(new_report(path))))
      assert.is_nil(problem)
      assert.is_number(after)
      assert.are.same(new_report(shown), all)
    end
    -- Where nothing is: a list, or an object.
    assert.equal("[]", json.write {})
    assert.equal('{"losses":{}}', json.write { losses = {} })
  end)

  it("is no program", function()
    for _, code in ipairs { '("3"):rep(1)', '"3".."4"', "(function() end)()",
      "math.huge", "nil", "-(-4711)", "4711 --", "nan" } do
      for _, value in ipairs { '"3"', "4711", "false", "0.1" } do
        local from, to = text:find(value, 1, true)
        assert.is_nil(json.read(text:sub(1, from - 1) .. code
          .. text:sub(to + 1)), code)
      end
    end
    assert.is_nil(json.read "(function() while true do end end)()")
  end)

  it("is whole, or none", function()
    for i = 1, #text do assert.is_nil(json.read(text:sub(1, i - 1)), i) end
    for _, given in ipairs { text .. " ", text .. text, ("{"):rep(100) } do
      assert.is_nil(json.read(given))
    end
  end)
end)
