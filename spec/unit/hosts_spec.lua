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
  it("is what ZooKeeper's own clients read, or says how to write it", function()
    for _, row in ipairs(spellings.taken) do
      assert.equal(row[2], reading(row[1]), row[1])
    end
    for fault, texts in pairs(spellings.refused) do
      for _, text in ipairs(texts) do
        local message = refused(text)
        assert.matches("^[^\n]*hosts", message)
        for _, part in ipairs { fault,
            "write it as 'zk1:2181,zk2:2181/app'" } do
          assert.truthy(message:find(part, 1, true), message)
        end
        assert.is_nil(message:find("[^\32-\126\226\128\166]"), message)
      end
    end
  end)

  it("has no NUL byte, no long names, and shows no secret", function()
    assert.matches("NUL", refused "zk1\0")
    assert.matches("NUL", refused "zk1/app\0")
    assert.is_nil((core.check_hosts(("x"):rep(255))))
    assert.matches("255", refused(("x"):rep(256)))
    assert.is_nil(refused("me:secret@zk1"):find "secret")
  end)

  it("is a string", function()
    for _, value in ipairs { 1, {}, true, print } do
      assert.matches("hosts.* must be a string, got a " .. type(value),
        refused(value))
    end
    assert.matches("hosts.* must be a string, got nil", refused(nil))
  end)

  it("has a chroot that is the same by itself", function()
    local seen = 0
    local function look(text, wanted)
      local chroot = text:match "^zk1(/.*)"
      if not chroot then return end
      seen = seen + 1
      local fault = core.check_chroot(chroot)
      assert.equal(wanted == nil, fault == nil, text)
      assert.truthy(not fault or fault:find(wanted, 1, true), fault)
    end
    for _, row in ipairs(spellings.taken) do look(row[1]) end
    for fault, texts in pairs(spellings.refused) do
      for _, text in ipairs(texts) do look(text, fault) end
    end
    assert.truthy(seen > 20, seen)
  end)
end)
