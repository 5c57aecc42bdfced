-- Jobs of nginx's timers: one worker of all leads, or one of all is first.
local nginx = require "nginx.server"
local support = require "support"

-- PATH and TIMEOUT are replaced.
local JOBS = [[
  lua_shared_dict jobs 1m;
  init_worker_by_lua_block {
    local jobs = ngx.shared.jobs
    local function of_worker()
      return session { session_timeout = TIMEOUT }
    end

    local function lead(guard)
      jobs:set("leader", ngx.worker.pid() .. " " .. guard:token())
      while guard:is_held() and not ngx.worker.exiting() do
        ngx.sleep(0.01)
      end
    end
    ngx.timer.at(0, function()
      local election = of_worker():election "PATH"
      assert(election:run(lead))
    end)

    local function job()
      ngx.update_time()
      local began = ngx.now()
      local stay = jobs:get "stay"
      if stay then jobs:set("staying", ngx.worker.pid()) end
      ngx.sleep(stay or 0.02)
      ngx.update_time()
      return began .. " " .. ngx.now() .. " " .. ngx.worker.pid()
    end
    ngx.timer.every(0.02, function(premature)
      if premature then return end
      local ran, result, code = of_worker():once("PATH-once",
        { per = 0.5, timeout = 0 }, job)
      if ran then jobs:rpush("runs", result) end
      -- (A worker that has just begun is not connected yet.)
      assert(ran ~= nil or code == "timeout" or code == "disconnected", result)
    end)
  }
]]

local SERVER = [[
  location = /leader { content_by_lua_block {
    ngx.print(ngx.shared.jobs:get "leader" or "")
  } }
  location = /stay { content_by_lua_block {
    ngx.shared.jobs:set("stay", tonumber(ngx.var.arg_seconds))
  } }
  location = /staying { content_by_lua_block {
    ngx.print(ngx.shared.jobs:get "staying" or "")
  } }
  location = /runs { content_by_lua_block {
    for _ = 1, ngx.shared.jobs:llen "runs" do
      ngx.say(ngx.shared.jobs:lpop "runs")
    end
  } }
]]

describe("jobs of nginx's timers", function()
  if not nginx.ready(pending, before_each, after_each, teardown) then return end

  local server, path

  local function start(workers, session_timeout)
    path = support.path()
    server = nginx.start {
      http = JOBS:gsub("PATH", path):gsub("TIMEOUT", session_timeout),
      server = SERVER, workers = workers,
    }
    support.wait_for_queue(path, workers)
  end

  -- Its process id, and the token: of one with a larger one than `than`.
  local function await_leader(than)
    local pid, token
    support.wait_until(function()
      -- (Whom the request went to may have been killed.)
      pid, token = (server:get "/leader" or ""):match "(%d+) (%d+)"
      return pid and token > (than or "")
    end, 10, "a leader")
    return tonumber(pid), token
  end

  local function has(list, wanted)
    for _, item in ipairs(list) do
      if item == wanted then return true end
    end
  end

  it("pass leadership on when the workers are replaced, or the leader killed, "
    .. "and keep none alive", function()
    start(3, 4)
    local leader, token = await_leader()
    for _ = 1, 4 do
      local old = server:workers()
      assert.is_true(has(old, leader))
      server:signal "HUP"
      nginx.await_end(old)
      support.wait_for_queue(path, 3)
      repeat -- (an old one may have led for a moment)
        leader, token = await_leader(token)
      until not has(old, leader)
    end
    assert.equal("", server:complaints())
    server.may_complain = true -- nginx tells of this
    server:signal("KILL", leader)
    assert.not_equal(leader, (await_leader(token)))
    support.wait_for_queue(path, 3)
    server:signal "QUIT"
    nginx.await_end { server.master }
    support.wait_for_queue(path, 0)
    assert.is_nil(server:complaints():find "%[error%]")
  end)

  -- Waits for `count` more of them, by `runs`, which has all.
  local function await_runs(runs, count)
    local enough = #runs + count
    support.wait_until(function()
      for began, ended, pid in (server:get "/runs" or "")
          :gmatch "(%S+) (%S+) (%d+)\n" do
        runs[#runs + 1] = { began = tonumber(began), ended = tonumber(ended),
          pid = tonumber(pid) }
      end
      return #runs >= enough
    end, 20, count .. " more runs")
  end

  it("run once in a period, though workers are replaced and killed",
    function()
      start(3, 6)
      server.may_complain = true
      local runs = {}
      await_runs(runs, 2)
      local old = server:workers()
      server:signal "HUP"
      nginx.await_end(old)
      await_runs(runs, 2)
      server:must "/stay?seconds=60"
      local busy
      support.wait_until(function()
        busy = tonumber((server:must "/staying"))
        return busy
      end, 10, "a run")
      server:must "/stay"
      await_runs(runs, 0)
      server:signal("KILL", busy)
      local count = #runs
      await_runs(runs, 3)
      for i = 2, #runs do
        -- (Both say milliseconds.)
        assert.is_true(runs[i].began - runs[i - 1].ended > 0.49)
        assert.is_true(i <= count or runs[i].pid ~= busy)
      end
      assert.is_nil(server:complaints():find "%[error%]")
    end)
end)
