-- What every command has in common: how it is called, and how it ends.
local command = require "support.command"
local support = require "support"

describe("The command", function()
  before_each(support.start)
  after_each(support.finish)

  it("says its version, and nothing else", function()
    local said = command.run { "--version" }
    assert.equal(0, said.code)
    assert.matches("^zklock %S+\n$", said.out)
    assert.equal("", said.err)
  end)

  it("says what is wrong with its arguments, with 64", function()
    for _, words in ipairs { {}, { "nosuch" }, { "ls" }, { "ls", "/a", "/b" },
        { "ls", "--nosuch", "/a" }, { "run", "/a" }, { "run", "/a", "--" },
        { "ls", "/a", "--", "ls" }, { "run", "-p", "0", "/a", "--", "true" },
        { "run", "-t", "soon", "/a", "--", "true" },
        { "run", "-t", "1", "-n", "/a", "--", "true" },
        { "run", "-x", "-s", "/a", "--", "true" } } do
      local said = command.run(words)
      assert.equal(64, said.code, table.concat(words, " "))
      assert.equal("", said.out)
      assert.matches("^zklock: [^\n]+\n$", said.err)
    end
  end)

  it("is the process that was started", function()
    local listening = support.closing(assert(require "socket".bind("127.0.0.1",
      0)))
    local _, port = listening:getsockname()
    local it = command.start({ "revoke", "/a" },
      { env = { ZKLOCK_HOSTS = "127.0.0.1:" .. port } })
    listening:settimeout(30)
    support.closing(assert(listening:accept()))
    it:signal "KILL"
    assert.equal(137, it:wait())
  end)
end)
