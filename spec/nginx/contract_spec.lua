-- The contract, as every loop has it (spec/loops), in nginx's handlers.
local nginx = require "nginx.server"
local read = require "support.files".read
local suite = require "loops.suite"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

local SERVER = [[
  location = /case { content_by_lua_block {
    local suite, threads = require "suite", {}
    ngx.print(suite.run(suite[tonumber(ngx.var.arg_n)], require "zklock",
      "$hosts", {
        prefix = ngx.var.arg_path,
        sleep = ngx.sleep,
        begin = function(fn) threads[#threads + 1] = ngx.thread.spawn(fn) end,
        join = function()
          for _, thread in ipairs(threads) do ngx.thread.wait(thread) end
        end,
      }) or "ok")
  } }
]]

describe("in nginx", function()
  if not nginx.ready(pending) then return end

  it("each case of the suite comes true", function()
    local server = nginx.start { server = SERVER, files = {
      ["suite.lua"] = read(root .. "/spec/loops/suite.lua") } }
    server.may_complain = true -- the suite has sessions without a server
    local failed = {}
    for i, case in ipairs(suite) do
      local path = ("/case?n=%d&path=%s"):format(i, support.path())
      local said = server:get(path, 60)
      if said ~= "ok" then
        failed[#failed + 1] = case.name .. ": " .. tostring(said)
      end
    end
    assert.equal("", table.concat(failed, "\n"))
    assert.is_nil(server:complaints():find("[alert]", 1, true))
  end)
end)
