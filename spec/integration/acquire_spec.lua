local answers = require "integration.answers"
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect
local queue_in, await = kinds.queue_in, kinds.await

describe("acquire", function()
  it("gives each node a new short name", function()
    local session, path = connect(), support.path()
    local seen = {}
    for _ = 1, 5 do
      local guard = session:mutex(path):acquire()
      local mark, number = guard.node:match("/(%w+)%-lock%-(%d+)$")
      assert.same({ 6, 10 }, { #mark, #number })
      assert.is_nil(seen[mark])
      seen[mark] = true
      guard:release { wait = true }
    end
  end)

  it("works in a persistent directory of another client (T55)", function()
    local session, path = connect(), support.path()
    support.zk():make(path)
    session:mutex(path):acquire(30):release { wait = true }
    support.advance(0.5) -- a container would be removed
    assert.is_table(support.zk():exists(path))
  end)

  it("keeps its deadline when contenders ahead leave the queue "
    .. "(T43)", function()
    local path = support.path()
    support.hold(path)
    local leavers, waiter = {}, connect():mutex(path)
    for i = 1, 4 do leavers[i] = queue_in(connect():mutex(path), path) end
    local begun = support.now()
    local waiting = kinds.wait_in(waiter, 1.5)
    for i = 4, 1, -1 do
      support.advance(0.35)
      leavers[i].ticket:cancel()
      await(leavers[i])
    end
    assert.equal("timeout", select(3, await(waiting)))
    assert.near(begun + 1.5, waiting.at, 0.02)
  end)

  -- A hold with others behind it, as its last list has shown.
  local function hold_before_others(session, path)
    local zk, ahead, behind = support.zk(), {}, {}
    local function stand(list)
      for i = 1, 3 do
        list[i] = zk:create(path .. "/other-lock-",
          { ephemeral = true, sequential = true })
      end
    end
    zk:make(path)
    stand(ahead)
    local waiter = kinds.wait_in(session:mutex(path))
    support.wait_for_queue(path, 4)
    stand(behind)
    for _, node in ipairs(ahead) do
      support.advance(0.1)
      zk:delete(node)
    end
    return kinds.await(waiter), behind
  end

  it("after a release joins its create with the delete, if it waits", function()
    local session, path = connect(), support.path()
    local guard, behind = hold_before_others(session, path)
    local log, mutex = answers.log(), session:mutex(path)
    guard:release()
    local again = kinds.wait_in(mutex)
    local queue = support.wait_for_queue(path, 4)
    support.advance(0.1)
    assert.equal(1, #log:times("multi", "-lock-"))
    assert.same({}, log:times "delete")
    -- Whose its node is it is told by the read of the next one of its session.
    local next_one = kinds.wait_in(mutex)
    support.wait_for_queue(path, 5)
    support.advance(0.1)
    for _, node in ipairs(behind) do support.zk():delete(node) end
    guard = kinds.await(again)
    assert.equal(1, #log:times("get", queue[4]))
    guard:release()
    kinds.await(next_one):release()
  end)

  it("after a release comes after the delete, if it does not wait", function()
    local session, path = connect(), support.path()
    local guard, behind = hold_before_others(session, path)
    local log = answers.log()
    guard:release()
    kinds.refused("busy", session:mutex(path):try_acquire())
    assert.same({ "delete", "create2" }, { log[1].op, log[2].op })
    for _, node in ipairs(behind) do support.zk():delete(node) end
  end)

  -- Of its own session, which a list did not show any more.
  it("waits for all ahead whoever goes that a list did not show", function()
    local path, session, other = support.path(), connect(), connect()
    local guard = session:mutex(path):acquire(30)
    local first = kinds.queue_in(other:mutex(path), path)
    local second = kinds.queue_in(other:mutex(path), path)
    local log = answers.log(function(reply)
      if reply.op == "children" then
        for i, name in ipairs(reply.names) do
          if path .. "/" .. name == guard.node then
            table.remove(reply.names, i)
          end
        end
      end
      if reply.op == "delete" then reply.rc = -101 end
      return reply
    end)
    local waiter = kinds.queue_in(session:mutex(path), path)
    log:await(1, "get", first.node)
    guard:release()
    kinds.await(first)
    second.ticket:cancel()
    kinds.nobody(1, waiter)
    first.guard:release()
    kinds.await(waiter):release()
  end)
end)
