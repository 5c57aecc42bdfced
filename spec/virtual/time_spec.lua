-- Time that a spec owns: zklock.virtual beside the library.
local files = require "support.files"
local shell = require "support.shell"
local support = require "support"
local virtual = require "zklock.virtual"

-- What a program of its own says and how it ends.
local function outcome_of(program)
  return files.with(program, function(name)
    return shell.output(("(%s %s) 2>&1; echo status $?"):format(support.lua,
      name))
  end)
end

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
    local output = outcome_of(PROLOGUE .. [[
      session:close()
      virtual.poll({}, {})
    ]])
    assert.matches("all threads wait for ever", output, 1, true)
    assert.matches("thread 1 (the first) sleeps", output, 1, true)
    assert.matches("status 134", output, 1, true)
  end)

  it("ends a program at the limit that it was given", function()
    local output = outcome_of(PROLOGUE .. [[
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
