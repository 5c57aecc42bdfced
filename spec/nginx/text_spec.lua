-- What a stranger puts into a URL is no line of nginx's error log.
local nginx = require "nginx.server"
local support = require "support"

local missing = nginx.missing()

describe("A stranger's URL", function()
  if missing then return pending(missing) end
  before_each(support.start)
  after_each(support.finish)
  teardown(nginx.uninstall)

  local FORGED = "2026/11/22 00:00:00 [emerg] 1#1: forged"

  it("puts no line into the error log, by misuse or by a message", function()
    local server = nginx.start { server = [[
      location = /lock { content_by_lua_block {
        local ok, message = lock():with_lock(function() end, { timeout = 2 })
        if not ok then ngx.log(ngx.ERR, message) end
        ngx.print "done"
      } }
      location = /raise { content_by_lua_block {
        local user, told = ngx.unescape_uri(ngx.var.arg_path), false
        session():mutex("/x"):acquire_async(2, function(guard)
          guard:release { wait = true }
          told = true
          error("no such user: " .. user)
        end)
        while not told do ngx.sleep(0.01) end
        ngx.sleep(0.1)
        ngx.print "done"
      } }
    ]] }
    server.may_complain = true
    local forged = FORGED:gsub("[^%w]", function(c)
      return ("%%%02X"):format(c:byte())
    end)
    server:get("/lock?path=/a%0A" .. forged)
    server:get("/lock?path=/a%0D" .. forged)
    server:get("/raise?path=%0A" .. forged)
    local told = 0
    for line in (server:log():gsub("\r", "\n")):gmatch "[^\n]+" do
      assert.are_not.equal(FORGED, line:sub(1, #FORGED), line)
      if line:find(FORGED, 1, true) then told = told + 1 end
    end
    assert.is_true(told >= 3, server:log()) -- it is there, and escaped
  end)
end)
