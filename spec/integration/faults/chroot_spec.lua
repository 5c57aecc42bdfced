-- A chroot of any length, with a slash wherever it may be.
local support = require "support"

local TIMEOUT = 8 -- seconds

describe("A hold in a chroot of more than 100 bytes", function()
  for name, ending in pairs {
    ["a slash as the 100th"] = "x/",
    ["a slash and a dot there"] = "/.",
    ["a slash and two dots there"] = "/..",
  } do
    it("with " .. name .. " survives heartbeats", function()
      local prefix = support.path()
      local at_cut = prefix .. "/"
        .. ("c"):rep(100 - #prefix - 1 - math.min(#ending, 2)) .. ending
      local session = support.connect { session_timeout = TIMEOUT,
        hosts = support.hosts .. at_cut .. "rest/of/it" }
      local guard = assert(session:mutex("/lock"):acquire(30))
      for _ = 1, 100 do
        support.advance(TIMEOUT / 20)
        assert.is_true(guard:is_held())
      end
      assert.is_true(guard:verify())
      assert.is_true(guard:release { wait = true })
    end)
  end
end)
