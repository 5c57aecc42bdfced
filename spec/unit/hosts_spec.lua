local core = require "zklock.core"
local zklock = require "zklock"

-- connect() with a server list that is misuse: the message.
local function refused(hosts)
  local ok, message = pcall(zklock.connect, hosts)
  assert.is_false(ok, hosts)
  return message
end

describe("A list of hosts", function()
  local good = {
    "host", "host:2181", "127.0.0.1", "127.0.0.1:1", "a:65535", "[::1]",
    "[::1]:2181", "[fe80::1%eth0]:2181", "a,b,c", "a:1,b:2", " a , b:2 ",
    "\ta\t,\tb", "zk1.example.org:2181,zk2.example.org:2181", "a/", "a/app",
    "a:1/app/locks", "a,b/app", "a , b/app", "under_score", "a-b.c-d",
  }
  for _, hosts in ipairs(good) do
    it(("may be %q"):format(hosts), function()
      assert.is_nil((core.check_hosts(hosts)))
    end)
  end

  it("has a chroot after the first slash", function()
    local _, chroot = core.check_hosts "a:1,b/app/locks"
    assert.equal("/app/locks", chroot)
    _, chroot = core.check_hosts "a:1,b/"
    assert.equal("", chroot)
  end)

  local bad = {
    [""] = "empty", [" "] = "empty", [","] = "empty", ["a,"] = "empty",
    [",a"] = "empty", ["a,,b"] = "empty", ["a, ,b"] = "empty",
    ["/app"] = "empty", ["a,/app"] = "empty",
    ["a:"] = "port", ["a:x"] = "port", ["a:0"] = "port", ["a:-1"] = "port",
    ["a:65536"] = "port", ["a:99999"] = "port", ["a:2181x"] = "port",
    ["a: 2181"] = "port", ["a:1e3"] = "port", ["a:000002181"] = "port",
    ["[::1]:"] = "port", ["[::1]:x"] = "port", ["a:1,b:x"] = "port",
    ["::1"] = "IPv6", ["::1:2181"] = "IPv6", ["a:1:2"] = "IPv6",
    ["[::1"] = "%]", ["[::1]2181"] = "%]", [":2181"] = "empty",
    ["[]"] = "empty",
    ["a b"] = "character", ["a\nb"] = "character", ["a\127"] = "character",
    ["a]"] = "character",
    ["a//b"] = "chroot", ["a/b/"] = "chroot", ["a/.."] = "chroot",
    ["a/b/./c"] = "chroot", ["a/\1"] = "chroot",
    ["a\0b"] = "NUL", ["a/b\0"] = "NUL",
    [("x"):rep(256)] = "255",
  }
  for hosts, rule in pairs(bad) do
    it(("may not be %q"):format(hosts:sub(1, 30)), function()
      local message = refused(hosts)
      assert.matches("hosts", message)
      assert.matches(rule, message)
    end)
  end

  it("is a string", function()
    for _, value in ipairs { 1, {}, true, print } do
      assert.matches("hosts.* must be a string, got a " .. type(value),
        refused(value))
    end
    assert.matches("hosts.* must be a string, got nil", refused(nil))
  end)
end)
