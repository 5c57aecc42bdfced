-- Time that a spec owns: zklock.virtual beside the library.
local programs = require "support.programs"
local support = require "support"
local virtual = require "zklock.virtual"

local PROLOGUE = [[
  local virtual, zklock = require "zklock.virtual", require "zklock"
  virtual.ensemble { addresses = { "127.0.0.1:2181" } }
  local session = assert(zklock.connect "127.0.0.1:2181")
]]

describe("Virtual time", function()
  it("ends what a suspended machine held", function()
    local guard = support.hold(support.path(), { session_timeout = 6 })
    virtual.jump(60)
    assert.is_not_true(guard:is_held())
  end)

  it("ends a program whose threads all wait for ever, and says so", function()
    local output = programs.output(PROLOGUE .. [[
      session:close()
      virtual.poll({}, {})
    ]], true)
    assert.matches("all threads wait for ever", output, 1, true)
    assert.matches("thread 1 (the first) sleeps", output, 1, true)
    assert.matches("status 134", output, 1, true)
  end)

  it("ends a program at the limit that it was given", function()
    local output = programs.output(PROLOGUE .. [[
      virtual.limit(100)
      virtual.sleep(99)
      print "not yet"
      session:mutex "/lock":acquire()
      session:mutex("/lock", { reentrant = false }):acquire()
      virtual.sleep(10)
    ]])
    assert.matches("not yet", output, 1, true)
    assert.matches("the limit of time is reached", output, 1, true)
    assert.matches("run of src/io/io_thread.c", output, 1, true)
  end)
end)
