-- The contract, as every loop has it (spec/loops), in nginx's handlers.
local nginx = require "nginx.server"
local read = require "support.files".read
local suite = require "loops.suite"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

local SERVER = [[
  location = /case { content_by_lua_block { require("runner").run() } }
]]

local RUNNER = [[
  local suite = require "suite"
  local zklock = require "zklock"
  local runner, paths = {}, 0

  local function environment(prefix, sessions, threads)
    local env = { zklock = zklock, now = zklock.now, sleep = ngx.sleep,
      kept = {} }
    function env.options(options) return options or {} end
    function env.connect(options)
      local session = assert(zklock.connect("$hosts", options))
      sessions[#sessions + 1] = session
      return session
    end
    function env.path()
      paths = paths + 1
      return prefix .. "-" .. paths
    end
    function env.spawn(fn)
      threads[#threads + 1] = ngx.thread.spawn(function()
        local ok, problem = xpcall(fn, debug.traceback)
        return not ok and problem
      end)
    end
    function env.until_true(condition)
      local deadline = zklock.now() + 20
      while not condition() do
        if zklock.now() > deadline then error("it does not come true", 2) end
        ngx.sleep(0.002)
      end
    end
    return env
  end

  function runner.run()
    local case = suite[tonumber(ngx.var.arg_n)]
    local sessions, threads = {}, {}
    local env = environment(ngx.var.arg_path, sessions, threads)
    local ok, problem = xpcall(case.body, debug.traceback, env)
    problem = not ok and problem
    for i = 1, #threads do
      local _, failure = ngx.thread.wait(threads[i])
      problem = problem or failure
    end
    for _, session in ipairs(sessions) do session:close() end
    ngx.print(problem or "ok")
  end

  return runner
]]

describe("in nginx", function()
  if not nginx.ready(pending) then return end

  it("each case of the suite comes true", function()
    local server = nginx.start { server = SERVER, files = {
      ["suite.lua"] = read(root .. "/spec/loops/suite.lua"),
      ["runner.lua"] = RUNNER,
    } }
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
