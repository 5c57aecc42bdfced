local core = require "zklock.core"
local spellings = require "support.spellings"
local zklock = require "zklock"

-- connect() with a server list that is misuse: the message.
local function refused(hosts)
  local ok, message = pcall(zklock.connect, hosts)
  assert.is_false(ok, hosts)
  return message
end

-- What zklock reads, as a row of spellings says it.
local function reading(text)
  local fault, chroot, list = core.check_hosts(text)
  assert.is_nil(fault)
  local words = {}
  for i, one in ipairs(list) do
    words[i] = ("%s %d|"):format(one.host, one.port)
  end
  return table.concat(words) .. chroot
end

describe("A text of hosts", function()
  for _, row in ipairs(spellings) do
    local text, of_java, fault = row[1], row[2], row[3]
    it((fault and "may not be %q" or "may be %q"):format(text), function()
      if not fault then return assert.equal(of_java, reading(text)) end
      local message = refused(text)
      assert.matches("^[^\n]*hosts", message)
      assert.truthy(message:find(fault, 1, true), message)
      assert.truthy(message:find("write it as 'zk1:2181,zk2:2181/app'", 1, true)
        , message)
      assert.is_nil(message:find("[^\32-\126\226\128\166]"), message)
    end)
  end

  it("has no NUL byte", function()
    assert.matches("NUL", refused "zk1\0")
    assert.matches("NUL", refused "zk1/app\0")
  end)

  it("has host names of at most 255 bytes", function()
    assert.is_nil((core.check_hosts(("x"):rep(255))))
    assert.matches("255", refused(("x"):rep(256)))
  end)

  it("is not shown if it may have a secret", function()
    assert.is_nil(refused("me:secret@zk1"):find "secret")
  end)

  it("is a string", function()
    for _, value in ipairs { 1, {}, true, print } do
      assert.matches("hosts.* must be a string, got a " .. type(value),
        refused(value))
    end
    assert.matches("hosts.* must be a string, got nil", refused(nil))
  end)
end)

describe("A chroot by itself", function()
  it("is what it is behind hosts", function()
    local seen = 0
    for _, row in ipairs(spellings) do
      local chroot = row[1]:match "^zk1(/.*)"
      if chroot then
        seen = seen + 1
        local fault = core.check_chroot(chroot)
        assert.equal(row[3] == nil, fault == nil, row[1])
        assert.truthy(not fault or fault:find(row[3], 1, true), fault)
      end
    end
    assert.truthy(seen > 20, seen)
  end)
end)
