-- Servers that refuse writes by themselves (enableEagerACLCheck): the answer of
-- a server that is cut off from its leader proves nothing.
local raw = require "support.raw"
local start_hostile = require "support.hostile".start
local start_server = require "support.server".start
local support = require "support"

local TIMEOUT = 4 -- seconds
local ALL, READ, ADMIN = 31, 1, 16 -- permissions

describe("Three servers that check ACLs eagerly", function()
  local servers, zk, leader, follower
  local linked -- what the follower's configuration says of its leader

  setup(function()
    servers = start_server(3, "--config maxSessionTimeout=60000"
      .. " --jvm -Dzookeeper.enableEagerACLCheck=true")
    leader = servers:leader()
    follower = leader % 3 + 1
    zk = raw.connect(servers:host(leader), { renews = true })
  end)
  teardown(function()
    zk:close()
    servers:stop()
  end)

  -- The follower reaches its leader at this address.
  local function reach_leader_at(address)
    servers:configure("server." .. leader, address, follower)
    servers:restart(follower)
  end

  -- ... and that is a wire that can be cut.
  local function link_follower()
    linked = servers:setting("server." .. leader, follower)
    local host, election = linked:match "^(.-:%d+):(.*)$"
    local link = start_hostile { hosts = host }
    link:behave { kind = "bytes" }
    reach_leader_at(link.hosts .. ":" .. election)
    return link
  end

  after_each(function()
    zk:set_acl("/", support.everybody(ALL))
    support.finish()
    if linked then reach_leader_at(linked) end
    linked = nil
  end)

  local function set(path, perms)
    zk:make(path)
    zk:set_acl(path, support.everybody(perms))
  end

  local function connect(server, chroot)
    return support.connect { hosts = servers:host(server) .. (chroot or ""),
      session_timeout = TIMEOUT, connect_timeout = 20 }
  end

  local function holds_on(session, guard)
    local begun = support.now()
    support.step_until(session, function()
      assert.is_true(guard:is_held())
      return support.now() > begun + 1.5 * TIMEOUT
    end, 2 * TIMEOUT)
  end

  -- The holder's server is cut off, and nobody is told.
  local function check_one_believer(path)
    local link = link_follower()
    local session = connect(follower)
    local guard = assert(session:mutex(path):acquire(30))
    holds_on(session, guard)
    local other = connect(leader)
    local granted
    other:mutex(path):acquire_async(nil, function(mine) granted = mine end)
    support.step_until(other, function() return #zk:queue(path) == 2 end)
    link:behave { kind = "frozen" }
    support.step_until(other, function() return granted end, 10 * TIMEOUT)
    assert.is_false(guard:is_held(), "two believe that they hold")
    link:behave { kind = "bytes" }
    granted:release()
    guard:release()
  end

  for where, permissions in pairs {
    ["the root is closed"] = READ + ADMIN,
    ["no one may read the root"] = ADMIN,
  } do
    it("renew no lease while they are cut off, where " .. where, function()
      local path = "/open" .. support.path()
      zk:make(path)
      set("/", permissions)
      check_one_believer(path)
    end)
  end

  it("let a hold live in a chroot that may not be read", function()
    set("/unreadable", ALL - READ)
    set("/", ADMIN)
    local session = connect(follower, "/unreadable")
    local guard = assert(session:mutex("/lock"):acquire(30))
    holds_on(session, guard)
    guard:release()
  end)
end)
