-- Elections: campaigns, resigning, and who leads.  (run: election_run_spec.lua;
-- observe(): leader_spec.lua.)
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local support = require "support"
local connect = support.connect

local function name_of(guard) return guard.node:sub(#guard.path + 2) end

local path

before_each(function() path = support.path() end)

describe("campaign", function()
  it("takes turns with the mutex of its path", function()
    local leader = support.hold(path)
    local session, reason = connect(), nil
    local election = session:election(path, { data = "one", max_hold = 60 })
    for seconds, how in pairs { [1] = 1, [0] = 0, [2] = { timeout = 2 } } do
      kinds.refused("timeout", kinds.takes(seconds, function()
        return election:campaign(how)
      end))
    end
    local waiter = { session = session }
    election:campaign_async(function(guard) waiter.guard = guard end)
    support.wait_for_queue(path, 2)
    leader:release()
    local guard = kinds.await(waiter)
    assert.is_true(guard:token() > leader:token())
    assert.equal("one", (support.zk():get(guard.node)))
    assert.equal("busy", select(3, connect():mutex(path):try_acquire()))
    guard:release()
    guard = assert(election:campaign { data = "two", max_hold = 1 })
    assert.equal("two", (support.zk():get(guard.node)))
    kinds.refused("deadlock", session:election(path):campaign())
    kinds.refused("timeout",
      election:campaign { timeout = 0.05, owner = "another" })
    guard:on_lost(function(_, why) reason = why end)
    support.step_until(session, function() return reason end)
    assert.equal("max_hold_reached", reason)
    guard:release()
  end)

  it("is ended by cancel, if it was begun through this object, and by close",
    function()
      support.hold(path)
      local session = connect()
      local one, two = session:election(path), session:election(path)
      local codes, others = {}, {}
      local function note(list)
        return function(_, _, code) list[#list + 1] = code end
      end
      one:campaign_async(note(codes))
      local ticket = one:campaign_async({ data = "x" }, note(codes))
      two:campaign_async(note(others))
      support.wait_for_queue(path, 4)
      ticket:cancel()
      support.wait_for_queue(path, 3)
      one:cancel()
      support.step_until(session, function() return #codes == 2 end)
      support.wait_for_queue(path, 2)
      assert.same({}, others)
      session:close()
      assert.same({ "cancelled", "cancelled" }, codes)
      assert.same({ "closed" }, others)
      assert.is_false(one:resign())
      one:stop()
    end)
end)

describe("An election", function()
  it("is spelled as its layout says", function()
    local guard = assert(connect():election(path, { layout = "kazoo" })
      :campaign(30))
    assert.matches("__lock__%d+$", guard.node)
    assert.equal("busy", select(3, connect():mutex(path, { layout = "kazoo" })
      :try_acquire()))
    guard:release()
    local latch = { layout = "latch" }
    guard = assert(connect():election(path, latch):campaign(30))
    assert.matches("^%w+%-latch%-%d+$", name_of(guard))
    assert.equal("timeout",
      select(3, connect():election(path, latch):campaign(0.1)))
    assert.equal("conflict", select(3, connect():mutex(path):try_acquire()))
    assert(connect():mutex(path, { share_path = true }):try_acquire())
      :release() -- sees no latch
    assert.equal("mutex", connect():contenders(path)[1].mode)
    guard:release()
  end)

  it("raises for what it does not take, with the caller's line", function()
    local session = connect()
    assert.equal("zklock election in kazoo's layout /k",
      tostring(session:election("/k", { layout = "kazoo" })))
    local election = session:election "/a"
    assert.equal("zklock election /a", tostring(election))
    support.misuses {
      { "element 1 of multi must be a mutex, a side of a rwlock or a semaphore",
        function() session:multi { election } end },
      { [[option 'layout' must be "curator", "latch" or "kazoo", got x]],
        function() session:election("/a", { layout = "x" }) end },
    }
  end)
end)

it("resign gives the leadership back, whichever task has it", function()
  local session, scheduler = sessions.in_loop()
  local election, guard, resigned = session:election(path), nil, nil
  scheduler:spawn(function() guard = assert(election:campaign()) end)
  assert.is_true(scheduler:run())
  assert.is_false(session:election(path):resign()) -- another object
  scheduler:spawn(function() resigned = election:resign { wait = true } end)
  assert.is_true(scheduler:run())
  assert.is_true(resigned)
  assert.equal("released", guard:state())
  assert.equal(0, #support.zk():queue(path))
  assert.is_false(election:resign())
  assert.is_true(guard:release())
  -- … or what was campaigned for in the background.
  election:campaign_async(function(mine) guard = mine end)
  assert.is_false(election:resign())
  support.step_until(session, function() return guard:is_held() end)
  assert.is_true(election:resign())
  assert.equal("released", guard:state())
end)
