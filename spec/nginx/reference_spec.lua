-- The reference's examples for nginx, each pasted into a server as it stands.
local nginx = require "nginx.server"
local reference = require "support.reference"
local support = require "support"
local OWN = "zk1:2181,zk2:2181,zk3:2181/app"

describe("nginx runs the reference's example of", function()
  if not nginx.ready(pending, before_each, after_each, teardown) then return end

  it("each function that has one", function()
    local n = 0
    for _, entry in ipairs(reference.functions(reference.read())) do
      local name = reference.name(entry)
      if entry.example.language == "nginx" and not reference.to_come[name] then
        local code = entry.example.code
        local server = nginx.start {
          server = code:gsub(OWN:gsub("%p", "%%%0"),
            support.hosts .. support.path()),
        }
        assert.truthy(server:must(code:match "location =? ?(/%S+)"), name)
        n = n + 1
      end
    end
    assert.is_true(n >= 3)
  end)
end)
