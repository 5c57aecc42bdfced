-- The text in which the workers of one nginx report to each other.
local report = require "zklock.ngx.report"

local function histogram(sum)
  return { 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 300, sum = sum }
end

local function new_report(path)
  return { worker = "3", pid = 4711, time = 1764000000.125, leaving = false,
    too_large = true, sessions = { {
      hosts = "zk1:2181", state = "connected", id = "0x1", index = 1,
      timeout = 10, lease = math.huge,
      counters = { reconnects = 1, expirations = 0, requests = 7,
        pending_releases = 0, heartbeats = 3, internal = { lists = 5 } },
      locks = { { path = path, mode = "mutex", waits = histogram(0.00025),
        holds = histogram(1e-300), refusals = { timeout = 2 },
        losses = { max_hold_reached = 1 } } },
      holds = { { path = path, mode = "read", seconds = 0.1, id = 5,
        lease = 6.5, token = "0000000000000000042", node = path .. "/n",
        state = "held" } },
      waits = { { path = path, mode = "write", seconds = 2, id = 6 } },
      holding = {},
      waiting = { { path = path, mode = "write", n = 1, oldest = 2 } },
    } } }
end

local text = report.write(new_report "/a")

describe("A worker's report", function()
  it("is read as it was written", function()
    assert.are.same(new_report "/a", report.read(text))
    local bytes = {}
    for byte = 1, 255 do bytes[byte] = string.char(byte) end
    bytes = table.concat(bytes)
    for _, path in ipairs { "", bytes, bytes:reverse(), '"\\\\"',
      "\0001\n2\r3" } do
      local given = new_report(path)
      assert.are.same(given, report.read(report.write(given)))
    end
  end)

  it("is no program", function()
    for _, code in ipairs { '("3"):rep(1)', '"3".."4"', "(function() end)()",
      "math.huge", "nil", "-(-4711)", "4711 --", "{}", "nan", "inf" } do
      for _, value in ipairs { '"3"', "4711", "false", "0.1" } do
        local from, to = text:find(value, 1, true)
        assert.is_nil(report.read(text:sub(1, from - 1) .. code
          .. text:sub(to + 1)), code)
      end
    end
    assert.is_nil(report.read "(function() while true do end end)()")
  end)

  -- What the page needs of it.
  local function use(value)
    local n = 0
    for _, session in ipairs(value.sessions) do
      n = n + session.index + session.counters.expirations
      for _, lock in ipairs(session.locks) do
        n = n + lock.waits[17] + lock.holds.sum + #lock.path
      end
      for _, hold in ipairs(session.holds) do n = n + #hold.token end
    end
    return n + value.pid + #value.worker
  end

  it("is whole, or none", function()
    local whole = 0
    for i = 1, #text do
      assert.is_nil(report.read(text:sub(1, i - 1)), i)
      for _, byte in ipairs { "", "0", '"', "\\", "{", "}", ",", "[", "\0" } do
        local changed = report.read(text:sub(1, i - 1) .. byte
          .. text:sub(i + 1))
        if changed then
          whole = whole + 1
          assert.is_number(use(changed))
        end
      end
    end
    assert.is_true(whole > 0)
    for _, given in ipairs { "", "1", '"x"', "{}", "true", text .. " ",
      text .. text, ("{"):rep(1e6), "{" .. ("{},"):rep(1e4) } do
      assert.is_nil(report.read(given))
    end
    for _, given in ipairs { 1, true, {} } do
      assert.is_nil(report.read(given))
    end
    assert.is_nil(report.read(nil))
  end)
end)
