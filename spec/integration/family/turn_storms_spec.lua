-- Local turns by the hundred while their server dies, stands still, or their
-- session is closed.  (For the sanitizers, too: both threads are busy.)
local kinds = require "integration.family.kinds"
local new_scheduler = require "support.scheduler".new
local start_server = require "support.server".start
local support = require "support"

local TASKS, TURNS = 64, 16

describe("A storm of local turns", function()
  local server

  setup(function()
    server = start_server(1, "--config maxSessionTimeout=60000")
  end)
  teardown(function() server:stop() end)
  before_each(support.start)
  after_each(support.finish)

  -- What befell: `granted`, `lost`, how often a wait ended with which code.
  local storm

  local function believers()
    local count = 0
    for guard in pairs(storm.inside) do
      if guard:is_held() then count = count + 1 end
    end
    return count
  end

  local function take_turn(lock, timeout, pause)
    local guard, _, code = lock:acquire(timeout)
    if not guard then
      storm[code] = (storm[code] or 0) + 1
      return
    end
    storm.granted = storm.granted + 1
    storm.inside[guard] = true
    assert.is_true(believers() <= 1)
    if pause > 0 then storm.scheduler:sleep(pause) end
    assert.is_true(believers() <= 1)
    storm.inside[guard] = nil
    if not guard:release() then storm.lost = storm.lost + 1 end
  end

  -- Every fifth gives up soon, every eighth works for a while.
  local function begin(session_timeout)
    local scheduler = new_scheduler()
    storm = { granted = 0, lost = 0, inside = {}, scheduler = scheduler }
    storm.path = support.path()
    storm.session = support.connect {
      hosts = server.hosts, loop = scheduler.adapter,
      session_timeout = session_timeout,
    }
    local lock = storm.session:mutex(storm.path, { handoffs = TURNS })
    for i = 1, TASKS do
      scheduler:spawn(function()
        while not storm.over do
          take_turn(lock, i % 5 == 0 and 0.05 or nil, i % 8 == 0 and 0.002 or 0)
        end
        storm.ended = (storm.ended or 0) + 1
      end)
    end
    return storm
  end

  local function goes_on_until(condition, seconds)
    support.wait_until(function()
      storm.scheduler:run(0.02)
      return condition()
    end, seconds or 30)
  end

  local function goes_on()
    local before = storm.granted
    goes_on_until(function() return storm.granted > before + 10 * TASKS end)
  end

  local function calms_down()
    storm.over = true
    goes_on_until(function() return storm.ended == TASKS end)
    assert.equal(0, believers())
    kinds.wait_for_nodes(storm.path, 0, 30, server.hosts)
  end

  it("outlives a server that is killed", function()
    begin(30)
    for _ = 1, 2 do
      goes_on()
      server:kill()
      goes_on_until(function() return storm.session:state() ~= "connected" end)
      local before = storm.granted
      storm.scheduler:run(0.2)
      -- (What was sent may have been granted; nobody is passed anything.)
      assert.is_true(storm.granted <= before + 1)
      server:restart()
    end
    goes_on()
    assert.is_true(storm.session:stats().local_turns > 20 * TASKS)
    calms_down()
    assert.equal(0, storm.lost)
    assert.is_nil(storm.closed)
  end)

  it("ends with the lease when the server stands still", function()
    begin(4)
    goes_on()
    server:pause()
    goes_on_until(function() return storm.session:state() == "suspended" end)
    local before = storm.granted
    for _ = 1, 10 do
      storm.scheduler:run(0.05)
      assert.equal(0, believers())
    end
    assert.equal(before, storm.granted)
    server:resume()
    goes_on()
    calms_down()
    assert.is_true(storm.lost <= 1, storm.lost)
    assert.is_true((storm.timeout or 0) + (storm.disconnected or 0) > 0)
  end)

  it("is over when its session is closed", function()
    for round = 1, 12 do
      begin(10)
      local among = round % 2 == 0
      if among then
        storm.scheduler:spawn(function()
          storm.scheduler:sleep(0.003 * round)
          storm.over = true -- (who acquires from now on is told by an error)
          storm.session:close()
        end)
      else
        goes_on_until(function() return storm.granted > 40 * round end)
        storm.over = true
        storm.session:close()
        assert.equal(0, believers())
      end
      goes_on_until(function() return storm.ended == TASKS end)
      assert.is_true(storm.closed >= 1)
      kinds.wait_for_nodes(storm.path, 0, 30, server.hosts)
    end
  end)
end)
