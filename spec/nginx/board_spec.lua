-- What the workers of one nginx tell each other of their sessions, and how the
-- page bears much of it.
local dkjson = require "dkjson"
local nginx = require "nginx.server"
local prometheus = require "support.prometheus"
local support = require "support"

-- Reports as workers write them: of so many, each with a session that has used
-- paths of its own.
local REPORTS = [[
local json = require "zklock.ngx.json"

local function histogram()
  return { count = 1, sum = 0.00025,
    buckets = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } }
end

return function(workers, paths)
  for w = 1, workers do
    local session = { hosts = "zk1:2181", state = "connected", index = 1,
      id = "0x1", timeout = 10, lease = 5.25, counters = { reconnects = 0,
        expirations = 0, heartbeats = 1, requests = 7, pending_releases = 0,
        refused_releases = 0, internal = { lists = 2 } },
      locks = {}, holds = { { path = "/a", mode = "mutex", seconds = 0.5,
        lease = 5, token = "7", node = "/a/n", state = "held" } },
      waits = { { path = "/b", mode = "mutex", seconds = 1.5 } } }
    for i = 1, paths do
      local path, is_last = ("/path-%d-%d"):format(w, i), w == workers
      session.locks[i] = { path = path, mode = "mutex", waits = histogram(),
        holds = histogram(), refusals = { timeout = 2 }, losses = {},
        waiting = is_last and i == paths and 3 or 0, oldest_wait = 0,
        holding = is_last and i == paths - 1 and 1 or 0, oldest_hold = 0 }
    end
    assert(ngx.shared.zklock:set(-w, json.write { pid = -w,
      worker = tostring(w), time = ngx.now(), leaving = false,
      sessions = { session } }))
  end
end
]]

local SERVER = [[
  location /zklock {
    content_by_lua_block { require("zklock.ngx").status() }
  }
  location = /open { content_by_lua_block {
    kept.session = session()
    ngx.print "done"
  } }
  # It does not ask for the session anew.
  location = /turn { content_by_lua_block {
    local path = ngx.unescape_uri(ngx.var.arg_path)
    assert(kept.session:mutex(path):acquire(20)):release()
    ngx.print "done"
  } }
  # When the worker has told of itself.
  location = /told { content_by_lua_block {
    local text = ngx.shared.zklock:get(ngx.worker.pid())
    ngx.print(text and text:match '"time":([%d.]+)' or "never")
  } }
  # Timers that run until this is asked for again, which waits for their end.
  location = /occupy { content_by_lua_block {
    kept.turn = kept.turn + 1
    local mine = kept.turn
    while kept.running > 0 do ngx.sleep(0.01) end
    for _ = 1, tonumber(ngx.var.arg_timers) do
      assert(ngx.timer.at(0, function()
        kept.running = kept.running + 1
        while kept.turn == mine do ngx.sleep(0.01) end
        kept.running = kept.running - 1
      end))
    end
    ngx.print "done"
  } }
  location = /break { content_by_lua_block {
    local snapshots = require "zklock.snapshot"
    kept.read = kept.read or snapshots.read
    snapshots.read = ngx.var.arg_mend and kept.read
      or function() error "broken" end
    ngx.print "done"
  } }
  location = /report { content_by_lua_block {
    require "reports"(tonumber(ngx.var.arg_workers),
      tonumber(ngx.var.arg_paths))
    ngx.print "done"
  } }
  # A report, each key and value of which is replaced by others.
  location = /mutate { content_by_lua_block {
    require "reports"(1, 1)
    local dict, shown = ngx.shared.zklock, 0
    local whole = dict:get(-1)
    for from, to in whole:gmatch "()[^%[%]{}:,]+()" do
      for _, value in ipairs { "[]", '"<RAN>"', "1e999", "nan", "true" } do
        dict:set(-1, whole:sub(1, from - 1) .. value .. whole:sub(to))
        for _, page in ipairs { "", "/metrics", "?format=json" } do
          local answer = ngx.location.capture("/zklock" .. page)
          assert(answer.status == 200, value)
          assert(page ~= "" or not answer.body:find "<RAN>", value)
        end
      end
      shown = shown + 1
    end
    ngx.print(shown)
  } }
  # What others than workers have written.
  location = /put { content_by_lua_block {
    ngx.shared.zklock:set("-7", put[tonumber(ngx.var.arg_text)])
    ngx.print "done"
  } }
  # How often the worker could do something else meanwhile.
  location = /turns { content_by_lua_block {
    local n, is_over = 0, false
    local counter = ngx.thread.spawn(function()
      repeat
        ngx.sleep(0.001)
        n = n + 1
      until is_over
    end)
    local answer = ngx.location.capture(ngx.unescape_uri(ngx.var.arg_of))
    is_over = true
    ngx.thread.wait(counter)
    ngx.print(answer.status, " ", n)
  } }
]]

describe("What workers tell each other", function()
  if not nginx.ready(pending) then return end

  local function start(more, init, late)
    return nginx.start { server = SERVER, late = late,
      init = "kept = { turn = 0, running = 0 }" .. (init or ""),
      files = { ["reports.lua"] = REPORTS },
      http = "lua_shared_dict zklock 8m;" .. (more or "") }
  end

  -- The worker does so by itself.
  local function await_telling(server, what)
    local first
    support.wait_until(function()
      local now = server:must "/told"
      first = first or now
      return now ~= first and now ~= "never"
    end, 5, what)
  end

  it("goes on while nginx drops timers, and after a turn that has failed",
  function()
    local server = start "lua_max_running_timers 3;"
    server.may_complain = true -- nginx says which limit it was
    server:must "/open"
    await_telling(server, "the worker to tell of itself")
    server:must "/occupy?timers=3"
    support.wait_until(function()
      return server:log():find "lua_max_running_timers are not enough"
    end, 5, "a timer to be dropped")
    await_telling(server, "the worker to tell of itself meanwhile")
    server:must "/break"
    support.wait_until(function()
      return server:log():find "broken"
    end, 5, "a turn to fail")
    server:must "/break?mend=1"
    await_telling(server, "the worker to tell of itself again")
  end)

  it("begins when the worker is used, after nginx has dropped the first timer",
  function()
    local server, path = start "lua_max_running_timers 3;", support.path()
    server.may_complain = true -- nginx says which limit it was
    server:must "/occupy?timers=3"
    server:must "/open"
    assert.equal("never", server:must "/told")
    server:must "/zklock/metrics"
    assert.is_not.equal("never", server:must "/told")
    server:await("/told", "never")
    server:must "/occupy?timers=0"
    server:must("/turn?path=" .. path)
    await_telling(server, "the worker to tell of itself")
  end)

  it("goes on for a session of timers, however late zklock is loaded",
  function()
    local server = start("", ("session():mutex(%q):acquire(20):release()")
      :format(support.path()), true)
    server.may_complain = true -- of a timer's global variables
    await_telling(server, "the worker to tell of itself")
  end)

  it("is answered in pieces, between which the worker does other things",
  function()
    local server = start()
    server:must "/report?workers=8&paths=100"
    for of, least in pairs { ["/zklock/metrics"] = 15, ["/zklock"] = 8,
      ["/zklock?format=json"] = 8 } do
      local status, turns = server:must("/turns?of="
        .. of:gsub("[?=]", { ["?"] = "%3F", ["="] = "%3D" }))
        :match "^(%d+) (%d+)$"
      assert.equal("200", status, of)
      assert.is_true(tonumber(turns) >= least, ("%s: %s"):format(of, turns))
    end
  end)

  it("is shown of 100 paths, the others in one row", function()
    local server = start()
    server:must "/report?workers=2&paths=100"
    local page = server:must "/zklock"
    local paths = page:match "<h2>Paths.*$"
    local _, rows = paths:gsub("<tr><td>/path", "")
    assert.equal(100, rows)
    -- Who waits and what is held comes first.
    local first, second = paths:match "/(path[-%d]+).-/(path[-%d]+)"
    assert.equal("path-2-100", first)
    assert.equal("path-2-99", second)
    assert.matches("<td>100 more, see JSON</td><td>–</td><td>0</td><td>0</td>"
      .. "<td>–</td><td>timeout 200</td><td>100: half within 1 ms", paths, 1,
      true)
    -- Nothing is left out for programs.
    local known = {}
    for _, worker in ipairs(dkjson.decode(server:must "/zklock?format=json")
      .workers) do
      for _, session in ipairs(worker.sessions) do
        for _, lock in ipairs(session.locks) do known[lock.path] = true end
      end
    end
    local families = prometheus.read(server:must "/zklock/metrics")
    for w = 1, 2 do
      for i = 1, 100 do
        local path = ("/path-%d-%d"):format(w, i)
        assert.is_true(known[path])
        assert.equal(1, prometheus.sum(families, "zklock_lock_wait_seconds",
          { path = path }, "_count"))
      end
    end
    -- One path too many has a row of its own, too.
    server = start()
    server:must "/report?workers=1&paths=100"
    assert.is_nil(server:must "/zklock":find "more, see JSON")
    server:must "/report?workers=1&paths=101"
    assert.matches("<td>1 more, see JSON<", server:must "/zklock", 1, true)
  end)

  it("is read as data, and only valid reports are shown", function()
    local whole = '{"pid":-7,"worker":%s,"time":%s,"leaving":false,'
      .. '"sessions":%s}'
    local texts = { "(function() ran = true end)()",
      '{"worker":("ran"):upper()}', "1", "{}", '"x"', "ran",
      "(function() while true do end end)()",
      whole:format('("ran"):upper()', 2 ^ 40, "[]"),
      whole:format('"RAN"', 2 ^ 40, "[{}]"),
      whole:format('"RAN"', 2 ^ 40, '{"a":1}'),
    }
    for i, text in ipairs(texts) do texts[i] = ("%q"):format(text) end
    local server = start("", ('put = { %s, ("["):rep(1e6), 7, true }'):format(
      table.concat(texts, ", ")))
    server:must "/open"
    for i = 1, #texts + 3 do
      server:must("/put?text=" .. i)
      for _, page in ipairs { "/zklock", "/zklock?format=json",
        "/zklock/metrics" } do
        assert.is_nil(server:must(page):find("RAN", 1, true), texts[i])
      end
    end
    assert.is_true(tonumber((server:must("/mutate", 60))) > 50)
  end)
end)
