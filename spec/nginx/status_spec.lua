-- The operators' page: a real nginx with several workers, real locks.
local dkjson = require "dkjson"
local nginx = require "nginx.server"
local prometheus = require "support.prometheus"
local proxy = require "support.proxy"
local support = require "support"

local SERVER = [[
  location /zklock {
    allow 127.0.0.1; deny all;
    content_by_lua_block { require("zklock.ngx").status() }
  }
  location /admin/locks {
    content_by_lua_block {
      require("zklock.ngx").status { location = "/admin/locks" }
    }
  }
  location = /wrong {
    content_by_lua_block { require("zklock.ngx").status { colour = "red" } }
  }
  location = /hold { content_by_lua_block {
    local guard = assert(lock():acquire { timeout = 20,
      data = ngx.unescape_uri(ngx.var.arg_data or "") })
    local seconds = tonumber(ngx.var.arg_seconds or 0)
    if seconds > 0 then ngx.sleep(seconds) end
    -- Until this file is removed.
    local gate = ngx.var.arg_gate
    local file = gate and io.open(gate)
    while file do
      file:close()
      ngx.sleep(0.02)
      file = io.open(gate)
    end
    guard:release()
    ngx.print(ngx.worker.pid())
  } }
  location = /open { content_by_lua_block {
    session()
    ngx.print(ngx.worker.pid())
  } }
  location = /many { content_by_lua_block {
    for i = 1, 120 do
      local path = ngx.var.arg_path .. ("/%s-%d"):format(("x"):rep(300), i)
      assert(session():mutex(path):acquire(20)):release()
    end
    ngx.print "done"
  } }
  location = /secret { content_by_lua_block {
    assert(session { session_timeout = 20, auth = { { scheme = "digest",
      credential = "user:hunter2" } } }:contenders "/x")
    ngx.print "done"
  } }
  location = /waits { content_by_lua_block {
    local n, session = 0, session()
    for i = 1, 30 do
      ngx.thread.spawn(function()
        session:mutex(ngx.var.arg_path .. "/" .. i):acquire(30)
      end)
    end
    ngx.print "done"
  } }
]]

local SHARED = "lua_shared_dict zklock 1m;"

-- An answer's status, headers by their names in small letters, and body.
local function ask(server, path, method)
  local body, status, head = server:begin(path, method):answer()
  local headers = {}
  for name, value in head:gmatch "\n([^:]+): ([^\r]*)" do
    headers[name:lower()] = value
  end
  return { status = status, headers = headers, body = body }
end

local function read_json(server, path)
  local answer = ask(server, path or "/zklock?format=json")
  assert.equal(200, answer.status, answer.body)
  local all, _, problem = dkjson.decode(answer.body, 1, dkjson.null)
  assert.is_nil(problem)
  return all
end

local function read_metrics(server)
  local answer = ask(server, "/zklock/metrics")
  assert.equal(200, answer.status, answer.body)
  return prometheus.read(answer.body)
end

-- By their numbers, the workers that are told; those that leave by their pids.
local function workers_of(all)
  local workers = {}
  for _, one in ipairs(all.workers) do
    local key = one.leaving and "leaving " .. one.pid or one.worker
    assert.is_nil(workers[key], "a worker twice")
    workers[key] = one
  end
  return workers
end

-- Waits until one of the workers is so, or none if there `shall` be none.
local function await_worker(server, what, is_so, shall)
  local found
  support.wait_until(function()
    found = nil
    for _, worker in ipairs(read_json(server).workers) do
      if is_so(worker) then found = worker end
    end
    return (found ~= nil) == (shall ~= false)
  end, 10, what)
  return found
end

-- No counter is less than it was `before`, which has each sample's value.
local function check_counters(families, before)
  for name, family in pairs(families) do
    for _, sample in ipairs(family.samples) do
      local labels = sample.labels
      assert.truthy(labels.worker and labels.session and labels.hosts)
      local key = table.concat({ sample.name, labels.worker, labels.session,
        labels.path or "", labels.mode or "", labels.code or "",
        labels.le or "", labels.state or "" }, " ")
      assert.is_true(family.type == "gauge"
        or sample.value >= (before[key] or 0), name)
      before[key] = sample.value
    end
  end
end

local function holds(worker) return worker.sessions[1].holds[1] ~= nil end

local function url(text)
  return (text:gsub("[^%w/]", function(byte)
    return ("%%%02X"):format(byte:byte())
  end))
end

describe("The operators' page", function()
  if not nginx.ready(pending) then return end

  local function start(workers, more)
    more = more or {}
    more.server, more.workers = SERVER .. (more.server or ""), workers
    more.http = more.http or SHARED
    return nginx.start(more)
  end

  -- Each of the n workers has a session, and has told of it.  (A worker that
  -- leaves is none of the n.)
  local function open_all(server, n)
    local seen, count = {}, 0
    support.wait_until(function()
      local pid = server:must "/open"
      if not seen[pid] then count = count + 1 end
      seen[pid] = true
      return count == n
    end, 10, "each worker to open a session")
    support.wait_until(function()
      local told = 0
      for _, one in ipairs(read_json(server).workers) do
        local session = not one.leaving and one.sessions[1]
        if session and session.state == "connected" then told = told + 1 end
      end
      return told == n
    end, 10, "each worker to tell")
    return seen
  end

  it("is plain HTML that nothing can be put into, and nobody keeps", function()
    local server = start(1)
    open_all(server, 1)
    for _, path in ipairs { "", "/", "?refresh=5", "?format=json", "/metrics",
      "/nothing", "?format=xml" } do
      local answer = ask(server, "/zklock" .. path)
      assert.equal("no-store", answer.headers["cache-control"], path)
      assert.equal("nosniff", answer.headers["x-content-type-options"])
      assert.equal("no-referrer", answer.headers["referrer-policy"])
      assert.matches("default-src 'none'; style-src 'unsafe-inline'",
        answer.headers["content-security-policy"], 1, true)
      assert.equal(#answer.body, tonumber(answer.headers["content-length"]))
    end
    for path, kind in pairs { ["/zklock"] = "text/html; charset=utf-8",
      ["/zklock/metrics"] = "text/plain; version=0.0.4; charset=utf-8",
      ["/zklock?format=json"] = "application/json" } do
      assert.equal(kind, ask(server, path).headers["content-type"])
    end
    local page = ask(server, "/zklock")
    assert.is_nil(page.body:find "<script")
    assert.is_nil(page.body:find "http%-equiv")
    assert.matches('<meta http-equiv="refresh" content="5">',
      ask(server, "/zklock?refresh=5").body, 1, true)
    local head = ask(server, "/zklock", "HEAD")
    assert.same({ 200, "", page.headers["content-type"] },
      { head.status, head.body, head.headers["content-type"] })
  end)

  it("says in a sentence what it does not take", function()
    local QUERY = "400 zklock: the page takes format=html or json, queues=0 or "
      .. "1, and refresh=1 to 3600; the metrics take no query\n"
    local ADDRESS = "404 zklock: the page is at /zklock, the metrics are at "
      .. "/zklock/metrics: for another location call status { location = "
      .. "\"/…\" }\n"
    local server = start(1)
    for expected, queries in pairs {
      [QUERY] = "?format=xml ?format=html&format=json ?refresh=0 ?refresh "
        .. "?refresh=3601 ?refresh=5%22%3E%3Cscript%3E ?queues=yes ?x=1 "
        .. "?format=json&x /metrics?x=1 /metrics?format=json",
      [ADDRESS] = "/nothing /metrics/ x",
    } do
      for query in queries:gmatch "%S+" do
        local answer = ask(server, "/zklock" .. query)
        assert.equal(expected, answer.status .. " " .. answer.body, query)
        assert.equal("text/plain; charset=utf-8",
          answer.headers["content-type"])
      end
    end
    for _, method in ipairs { "POST", "PUT", "DELETE", "OPTIONS" } do
      local answer = ask(server, "/zklock", method)
      assert.same({ 405, "GET, HEAD" }, { answer.status, answer.headers.allow })
    end
    for path, status in pairs { ["/zklock?"] = 200, ["/zklock/metrics?"] = 200,
      ["/zklock?refresh=3600"] = 200, ["/admin/locks"] = 200,
      ["/admin/locks/metrics"] = 200, ["/admin/locks/x"] = 404 } do
      assert.equal(status, ask(server, path).status, path)
    end
    assert.equal("", server:complaints())
    server.may_complain = true
    assert.equal(500, ask(server, "/wrong").status)
    assert.matches('unknown option "colour" in status options (known: '
      .. "location)", server:complaints(), 1, true)
  end)

  it("tells of all workers, whichever answers", function()
    local server, path = start(3), support.path()
    open_all(server, 3)
    local guard = support.hold(path)
    local waiting = server:begin("/hold?path=" .. path)
    support.wait_for_queue(path, 2)
    local gate = support.closing(os.tmpname(), os.remove)
    local holding = server:begin(("/hold?gate=%s&path=%s-held"):format(gate,
      path))
    support.wait_for_queue(path .. "-held", 1)
    -- (Who answers is not known: ask often.)
    local function all_tell()
      for _ = 1, 12 do
        local families = read_metrics(server)
        if prometheus.sum(families, "zklock_lock_waiting", { path = path })
            ~= 1 or prometheus.sum(families, "zklock_lock_holding",
              { path = path .. "-held" }) ~= 1 then
          return false
        end
        assert.equal(3, prometheus.sum(families, "zklock_session_up"))
      end
      return true
    end
    support.wait_until(all_tell, 10, "all workers to tell the same")
    local page = ask(server, "/zklock").body
    assert.truthy(page:find("3 of 3 sessions are connected, 1 held, 1 waiting, "
      .. "0 lost.", 1, true))
    assert.truthy(page:find("<td>" .. path .. "</td>", 1, true))
    local all = read_json(server)
    assert.is_true(all.complete)
    local held, waited
    for _, worker in ipairs(all.workers) do
      assert.equal(1, #worker.sessions)
      for _, hold in ipairs(worker.sessions[1].holds) do held = hold end
      for _, wait in ipairs(worker.sessions[1].waits) do waited = wait end
    end
    assert.same({ path .. "-held", "mutex", "held", 19 },
      { held.path, held.mode, held.state, #held.token })
    assert.equal(path, waited.path)
    assert.is_true(waited.seconds > 0)
    guard:release()
    waiting:answer()
    os.remove(gate)
    holding:answer()
    -- And no counter jumps between two answers.
    local before = {}
    for i = 1, 40 do
      server:must("/hold?path=" .. path .. i % 3)
      check_counters(read_metrics(server), before)
    end
    support.wait_until(function()
      return prometheus.sum(read_metrics(server), "zklock_lock_wait_seconds",
        nil, "_count") == 42
    end, 5, "all grants to be told")
  end)

  it("shows what strangers write as text", function()
    local server = start(1)
    open_all(server, 1)
    local hostile = "<script>alert(1)</script>\"'&\n\226\128\174x\27\255"
    local path = support.path() .. "/<img src=x onerror=alert(1)>\"'&\195\169"
    local holder, guards, waits = support.connect(), {}, {}
    for i, one in ipairs { path, path .. "2" } do
      guards[i] = assert(holder:mutex(one):acquire { timeout = 10,
        data = hostile })
      waits[i] = server:begin("/hold?path=" .. url(one))
    end
    await_worker(server, "two to wait", function(worker)
      return #worker.sessions[1].waits == 2
    end)
    for _, query in ipairs { "", "?queues=1", "?format=json&queues=1",
      "/metrics" } do
      local body = ask(server, "/zklock" .. query).body
      for _, bytes in ipairs { "\226\128\174", "\27", "\255" } do
        assert.is_nil(body:find(bytes, 1, true), query)
      end
      if query == "" or query == "?queues=1" then
        assert.is_nil(body:find("<script", 1, true), query)
        assert.is_nil(body:find("<img", 1, true), query)
        assert.truthy(body:find("&lt;img src=x onerror=alert(1)&gt;", 1, true))
      end
    end
    local page = ask(server, "/zklock?queues=1").body
    assert.truthy(page:find("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;"
      .. "&amp;\\x0a\\xe2\\x80\\xaex\\x1b\\xff", 1, true))
    -- They have contended for moments, and for no hours.
    assert.truthy(page:find("<td>%d[%d.]* m?s</td><td>0x"))
    assert.is_nil(page:find "%d h %d")
    local queues = read_json(server, "/zklock?format=json&queues=1").queues
    assert.equal(2, #queues)
    for _, queue in ipairs(queues) do
      assert.equal(2, queue.count)
      assert.is_true(queue.contenders[1].holds)
      assert.is_false(queue.contenders[2].holds)
    end
    read_metrics(server)
    for i = 1, 2 do
      guards[i]:release()
      waits[i]:answer()
    end
    -- And no secret.
    server:must "/secret"
    for _, query in ipairs { "", "?format=json", "/metrics" } do
      assert.is_nil(ask(server, "/zklock" .. query).body:find "hunter2")
    end
  end)

  it("says without a shared dictionary that it tells of one worker",
  function()
    local server = start(2, { http = "" })
    server:must "/open"
    local page = ask(server, "/zklock").body
    assert.matches("This shows only the worker that has answered", page, 1,
      true)
    assert.matches("<code>lua_shared_dict zklock 1m;</code>", page, 1, true)
    local all = read_json(server)
    assert.same({ false, 1 }, { all.complete, #all.workers })
    read_metrics(server)
  end)

  it("needs no library for JSON", function()
    local server = start(1, { init = [[
      for _, name in ipairs { "cjson", "dkjson" } do
        package.preload[name] = function() error "is not there" end
      end
    ]] })
    open_all(server, 1)
    assert.equal("connected", read_json(server).workers[1].sessions[1].state)
  end)

  it("logs once that the dictionary is too small", function()
    local server, path = start(2, { http = "lua_shared_dict zklock 48k;" }),
      support.path()
    open_all(server, 2)
    server:must("/many?path=" .. path, 60)
    local function count()
      return select(2, server:log():gsub("lua_shared_dict zklock has no room "
        .. "for the report of this worker, so other workers do not show it "
        .. "%(no memory%): make it larger", ""))
    end
    support.wait_until(function() return count() == 1 end, 10, "a complaint")
    support.sleep(2.5) -- in which it tries, and would complain, again
    assert.equal(1, count())
    server.may_complain = true
  end)

  it("mixes no old worker with the new one in its place, and forgets the dead",
  function()
    local server, path = start(2), support.path()
    local old = open_all(server, 2)
    local gate = support.closing(os.tmpname(), os.remove)
    local holding = server:begin(("/hold?gate=%s&path=%s"):format(gate, path))
    support.wait_for_queue(path, 1)
    server:signal "HUP"
    -- Of the old ones, it serves a request.
    local holder = await_worker(server, "the worker that leaves",
      function(worker)
        assert.truthy(not worker.leaving or old[tostring(worker.pid)])
        return worker.leaving and holds(worker)
      end)
    assert.equal(path, holder.sessions[1].holds[1].path)
    local new = open_all(server, 2)
    for pid in pairs(new) do assert.is_nil(old[pid]) end
    local all = workers_of(read_json(server))
    for _, number in ipairs { "0", "1" } do
      assert.is_nil(old[tostring(all[number].pid)])
    end
    -- What it holds is seen, what it has counted is not the new one's.
    assert.truthy(ask(server, "/zklock").body:find ">leaving %d+<")
    local families = read_metrics(server)
    assert.equal(2, #prometheus.find(families, "zklock_session_up"))
    assert.equal(0, #prometheus.find(families, "zklock_lock_wait_seconds",
      { path = path }, "_count"))
    os.remove(gate)
    assert.equal(holder.pid, tonumber((holding:answer())))
    await_worker(server, "the old worker to be told no more",
      function(worker) return worker.leaving end, false)
    -- One that was killed is forgotten, and its successor told of.
    path = path .. "-2"
    holding = server:begin("/hold?seconds=20&path=" .. path)
    support.wait_for_queue(path, 1)
    local victim = await_worker(server, "a holder to be told", holds).pid
    server.may_complain = true -- nginx tells of the signal
    server:signal("KILL", victim)
    await_worker(server, "the dead worker to be forgotten",
      function(worker) return worker.pid == victim end, false)
    open_all(server, 2)
    assert.is_nil(holding:answer())
    all = workers_of(read_json(server))
    assert.truthy(all["0"] and all["1"])
    support.wait_until(function() -- (its ZooKeeper session has 30 s)
      return support.count_contenders(path) == 0
    end, 60, "the dead worker's lock to go")
  end)

  -- One worker, which reaches the servers by a wire, and waits for a lock.
  local function start_behind_wire()
    local wire = proxy.start()
    local server, path = start(1, { hosts = wire.hosts }), support.path()
    open_all(server, 1)
    local guard = support.hold(path)
    local waiting = server:begin("/hold?path=" .. path)
    support.wait_for_queue(path, 2)
    server.may_complain = true
    return wire, server, guard, waiting
  end

  it("answers at once when ZooKeeper is away, or silent", function()
    local wire, server, guard, waiting = start_behind_wire()
    local function body_of(query)
      local answer = ask(server, "/zklock" .. query)
      assert.equal(200, answer.status)
      return answer.body
    end
    wire:freeze()
    assert.matches("no answer yet", body_of "?queues=1", 1, true)
    wire:heal()
    wire:refuse()
    for _, query in ipairs { "", "?queues=1", "?format=json&queues=1",
      "/metrics" } do
      body_of(query)
    end
    await_worker(server, "the session to be suspended", function(worker)
      return worker.sessions[1].state == "suspended"
    end)
    local page = body_of "?queues=1"
    for _, words in ipairs { "0 of 1 session is connected",
      "<b>suspended</b>",
      "this worker has no connection to these servers" } do
      assert.matches(words, page, 1, true)
    end
    assert.equal(0, prometheus.sum(read_metrics(server), "zklock_session_up"))
    wire:heal()
    guard:release()
    waiting:answer(30)
  end)

  it("asks for 20 paths at most", function()
    local server, path = start(1), support.path()
    open_all(server, 1)
    local guards = {}
    for i = 1, 30 do guards[i] = support.hold(path .. "/" .. i) end
    local request = server:begin("/waits?path=" .. path)
    await_worker(server, "30 to wait", function(worker)
      return #worker.sessions[1].waits == 30
    end)
    assert.equal(20, #read_json(server,
      "/zklock?format=json&queues=1").queues)
    for i = 1, 30 do guards[i]:release() end
    request:answer()
  end)
end)
