-- What a beginner copies: README's first program, as it stands there.
local reader = require "documents.reader"
local support = require "support"
local zklock = require "zklock"

local root = os.getenv "SPEC_ROOT" or "."

-- Only the servers are others.
local function program(hosts)
  local text = reader.block(root .. "/README.md", "lua")
  local own = "127.0.0.1:2181"
  assert.truthy(text:find(own, 1, true))
  return (text:gsub(own:gsub("%p", "%%%0"), hosts))
end

local function load_in(env, text)
  if not setfenv then return assert(load(text, "=README", "t", env)) end
  return setfenv(assert(loadstring(text, "=README")), env)
end

describe("README's first program", function()
  it("tells of a loss, in a script that never steps", function()
    local prefix, lines, session = support.path(), {}, nil
    local env = setmetatable({
      require = function()
        return { connect = function(...)
          session = support.closing(assert(zklock.connect(...)))
          return session
        end }
      end,
      -- After the first part an operator deletes the node.
      print = function(line)
        lines[#lines + 1] = line
        if line ~= "part 1" then return end
        support.zk():delete_all(prefix .. "/locks/orders")
        support.wait_until(function() return session:stats().lost == 1 end)
      end,
    }, { __index = _G })
    load_in(env, program(support.hosts .. prefix))()
    assert.same({ "part 1", "lost: deleted",
      "zklock: the hold of /locks/orders was lost: its node was deleted" },
      { (unpack or table.unpack)(lines, 2) })
  end)
end)
