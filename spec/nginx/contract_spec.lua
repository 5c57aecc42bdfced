-- The contract, as every loop has it (spec/loops), in nginx's handlers.
local nginx = require "nginx.server"
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

local missing = nginx.missing()

describe("in nginx", function()
  if missing then return pending(missing) end
  local server

  setup(function()
    server = nginx.start { lasting = true, server = SERVER, files = {
      ["suite.lua"] = assert(io.open(root .. "/spec/loops/suite.lua"))
        :read "*a",
      ["runner.lua"] = RUNNER,
    } }
    server.may_complain = true -- the suite has sessions without a server
  end)
  teardown(function()
    server:close()
    nginx.uninstall()
  end)
  before_each(support.start)
  after_each(support.finish)

  for i, case in ipairs(suite) do
    it(case.name, function()
      local path = ("/case?n=%d&path=%s"):format(i, support.path())
      assert.are.equal("ok", server:must(path, 60))
      assert.is_nil(server:complaints():find("[alert]", 1, true))
    end)
  end
end)
