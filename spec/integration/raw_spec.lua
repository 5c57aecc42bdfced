-- The client that the specs look into ZooKeeper with (spec/support/raw.lua).
local support = require "support"

describe("The specs' own client #once", function()
  before_each(support.start)
  after_each(support.finish)

  -- (A test keeps it, and asks it again after whatever a busy machine does.)
  it("goes on with another session if its own has ended while it was idle",
    function()
      local zk, path = support.zk(), support.path()
      local first = zk.id
      zk:make(path)
      zk.heard = zk.heard - zk.timeout
      zk.connection:hang_up()
      assert.is_table(zk:exists(path))
      assert.are_not.equal(first, zk.id)
      assert.equal(zk, support.zk())
    end)

  it("keeps its session, and its nodes, if it was only idle", function()
    local zk, path = support.zk(), support.path()
    local first = zk.id
    zk:make(path)
    zk:create(path .. "/node", { ephemeral = true })
    zk.heard = zk.heard - zk.timeout
    assert.equal(first, zk:exists(path .. "/node").owner)
    zk:delete(path .. "/node")
  end)
end)
