-- A session that is closed in the worst moment.
local new_scheduler = require "support.scheduler".new
local start_proxy = require "support.proxy".start
local support = require "support"

describe("A task that is refused just before the session is closed", function()
  before_each(support.start)
  after_each(support.finish)

  it("hears what it was refused for", function()
    local proxy, scheduler = start_proxy(), new_scheduler()
    local session = support.connect { hosts = proxy.hosts,
      loop = scheduler.adapter }
    local mutex = session:mutex(support.path())
    proxy:refuse()
    support.until_state(session, "suspended")
    local heard
    scheduler:spawn(function() heard = { mutex:acquire(0.2) } end)
    scheduler:turn()
    -- step() wakes the task, which does not come to run before close().
    support.step_until(session, function() return #scheduler.ready > 0 end)
    session:close()
    assert.is_true(scheduler:run(5))
    assert.is_nil(heard[1])
    assert.equal("disconnected", heard[3])
    assert.matches("no server of " .. proxy.hosts, heard[2], 1, true)
  end)
end)
