-- How other clients read a text of hosts: the real parsers, of Debian.
local peers = require "interop.peers"
local spellings = require "support.spellings"

describe("A text of hosts", function()
  local texts

  setup(function()
    peers.install()
    texts = {}
    for i, row in ipairs(spellings) do texts[i] = row[1] end
  end)

  teardown(peers.uninstall)

  it("means to Java what the list of spellings says", function()
    for i, reading in ipairs(peers.java_reads(texts)) do
      assert.equal(spellings[i][2] or "refused", reading,
        ("%q"):format(texts[i]))
    end
  end)

  -- (It writes names of hosts in lower case, which DNS does not tell apart.)
  it("means to kazoo the same, if zklock takes it", function()
    local readings = peers.kazoo_reads(texts)
    for i, row in ipairs(spellings) do
      if not row[3] then
        local expected = row[2]:gsub("^[^/]*", string.lower)
        assert.equal(expected, readings[i], row[1])
      end
    end
  end)
end)
