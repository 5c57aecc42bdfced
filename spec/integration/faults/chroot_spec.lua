-- A chroot of any length, with a slash wherever it may be.
local support = require "support"

local TIMEOUT = 8 -- seconds

describe("A hold in a chroot of more than 100 bytes #once", function()
  before_each(support.start)
  after_each(support.finish)

  for name, ending in pairs {
    ["a slash as the 100th"] = "x/",
    ["a slash and a dot there"] = "/.",
    ["a slash and two dots there"] = "/..",
  } do
    it("with " .. name .. " survives heartbeats", function()
      local prefix = support.path()
      local at_cut = prefix .. "/"
        .. ("c"):rep(100 - #prefix - 1 - math.min(#ending, 2)) .. ending
      local chroot = at_cut .. "rest/of/it"
      assert.is_true(#chroot > 100)
      local session = support.connect { hosts = support.hosts .. chroot,
        session_timeout = TIMEOUT }
      local guard = assert(session:mutex("/lock"):acquire(30))
      local begun = support.now()
      support.step_until(session, function()
        assert.is_true(guard:is_held(), "after "
          .. ("%.1f s"):format(support.now() - begun))
        return support.now() > begun + 1.5 * TIMEOUT
      end, 2 * TIMEOUT)
      assert.is_true(guard:verify())
      assert.is_true(guard:release { wait = true })
    end)
  end
end)
