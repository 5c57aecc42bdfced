-- The reference's examples for nginx, each pasted into a server as it stands.
local nginx = require "nginx.server"
local reference = require "support.reference"
local support = require "support"

local missing = nginx.missing()
local OWN = "zk1:2181,zk2:2181,zk3:2181/app"

describe("nginx runs the reference's example of", function()
  if missing then return pending(missing) end
  teardown(nginx.uninstall)
  before_each(support.start)
  after_each(support.finish)

  for _, entry in ipairs(reference.functions(reference.read())) do
    local name = reference.name(entry)
    if entry.example.language == "nginx" and not reference.to_come[name] then
      it(name, function()
        local code = entry.example.code
        local server = nginx.start {
          server = code:gsub(OWN:gsub("%p", "%%%0"),
            support.hosts .. support.path()),
        }
        assert.truthy(server:must(code:match "location =? ?(/%S+)"))
      end)
    end
  end
end)
