-- What an operator asks of locks in the shell: ls, revoke, evict, check.
local command = require "support.command"
local json = require "dkjson"
local start_hostile = require "support.hostile".start
local support = require "support"

local function first_node(path) return support.zk():queue(path)[1] end

local function objects(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do list[#list + 1] = json.decode(line) end
  return list
end

-- Waits behind a holder; its outcome comes into the table.
local function wait_behind(path, options)
  local session, result = support.connect(), {}
  local before = #support.zk():queue(path)
  session:mutex(path):acquire_async(options, function(guard, _, code)
    result.guard, result.code = guard, code
  end)
  support.wait_for_queue(path, before + 1)
  result.session = session
  return result
end

before_each(support.start)
after_each(support.finish)

describe("zklock ls", function()
  it("shows who holds and who waits, in order", function()
    local path = support.path()
    local guard = support.hold(path)
    wait_behind(path)
    local said = command.run { "ls", path }
    assert.equal(0, said.code)
    local lines = {}
    for line in said.out:gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal(3, #lines)
    assert.truthy(lines[1]:find "^PLACE +KIND +STATE +AGE +SESSION +TOKEN")
    assert.truthy(lines[2]:find "^1 +mutex +holds ")
    assert.truthy(lines[2]:find(guard:token(), 1, true))
    assert.truthy(lines[2]:find(first_node(path), 1, true))
    assert.truthy(lines[3]:find "^2 +mutex +waits ")
    assert.equal("", said.err)
  end)

  it("says the same in JSON, a contender a line", function()
    local path = support.path()
    local guard = support.hold(path)
    wait_behind(path)
    local rows = objects(command.run({ "ls", "--json", path }).out)
    assert.equal(2, #rows)
    assert.equal(path, rows[1].path)
    assert.equal(1, rows[1].place)
    assert.equal(guard:token(), rows[1].token)
    assert.is_true(rows[1].holds)
    assert.is_false(rows[2].holds)
    assert.equal(first_node(path), rows[1].node)
  end)

  it("has a path that does not exist for one that nobody holds", function()
    local path = support.path()
    local said = command.run { "ls", path }
    assert.equal(0, said.code)
    assert.equal("", said.out)
    assert.truthy(said.err:find("nobody holds " .. path, 1, true))
    said = command.run { "ls", "--json", path }
    assert.same({ 0, "" }, { said.code, said.out })
  end)

  it("keeps strangers' data in one line, and in quotation marks", function()
    local path = support.path()
    local data = 'a\nb"\27[31m\255'
    support.connect():mutex(path):acquire { timeout = 10, data = data }
    local said = command.run { "ls", path }
    local _, lines = said.out:gsub("\n", "")
    assert.equal(2, lines)
    assert.truthy(said.out:find([["a\x0ab\"\x1b[31m\xff"]], 1, true))
    assert.is_nil(said.out:find "\27")
    local row = objects(command.run({ "ls", "--json", path }).out)[1]
    assert.is_nil(row.data)
    assert.equal("YQpiIhtbMzFt/w==", row.data_base64)
  end)

  it("finds every lock below with -R, of each kind once", function()
    local path = support.path()
    local session = support.connect()
    local below = { path .. "/a", path .. "/a/b", path .. "/s", path .. "/u" }
    assert(session:mutex(below[1]):acquire(10))
    assert(session:rwlock(below[2]).read:acquire(10))
    assert(session:semaphore(below[3], 2):acquire(10))
    assert(session:mutex(below[4], { fair = false }):acquire(10))
    local found, modes = {}, {}
    for _, row in ipairs(objects(command.run({ "ls", "-R", "--json",
      path }).out)) do
      found[#found + 1], modes[#modes + 1] = row.path, row.mode
    end
    assert.same(below, found)
    assert.same({ "mutex", "read", "lease", "unfair" }, modes)
    local all = command.run { "ls", "-R", "/" }
    assert.truthy(all.out:find(path .. "/a/b:\nPLACE", 1, true))
  end)

  it("leaves out with -R what cannot be asked, and shows the rest", function()
    local path, zk = support.path(), support.zk()
    local session = support.connect()
    local locks = { path .. "/a", path .. "/b/deep", path .. "/crowd/x",
      path .. "/s/below", path .. "/z" }
    local guards = {}
    for i, lock in ipairs(locks) do
      guards[i] = assert(session:mutex(lock):acquire(10))
    end
    zk:make(path .. "/s/locks")
    local long = path .. "/b/" .. ("n"):rep(1000)
    zk:make(long)
    zk:make(path .. "/secret/child")
    zk:set_acl(path .. "/secret",
      { { perms = 30, scheme = "world", id = "anyone" } })
    for _, crowd in ipairs { "/crowd", "/s/locks" } do
      zk:create_many(50001, function(i) return path .. crowd .. "/c" .. i end)
    end
    local said = command.run({ "ls", "-R", "--json", path }, { seconds = 120 })
    zk:set_acl(path .. "/secret",
      { { perms = 31, scheme = "world", id = "anyone" } })
    local found = {}
    for _, row in ipairs(objects(said.out)) do found[#found + 1] = row.path end
    table.remove(locks, 3) -- below what cannot be listed
    assert.same(locks, found, said.err)
    assert.equal(77, said.code)
    local out = {}
    for line in said.err:gmatch "[^\n]+" do
      out[line:match "^zklock: (%S+) is left out: " or line] = line
    end
    local function left_out(where, why)
      assert.matches(why, tostring(out[where]), 1, true)
      out[where] = nil
    end
    left_out(path .. "/crowd", "more than 50000 children")
    left_out(path .. "/s", "more than 50000 children")
    left_out(path .. "/s/locks", "more than 50000 children")
    left_out(path .. "/secret", "an ACL forbids it")
    left_out(long:sub(1, 200) .. "...", "must not be longer than 1000 bytes")
    assert.same({}, out)
    for _, guard in ipairs(guards) do guard:release { wait = true } end
    for _, crowd in ipairs { "/crowd", "/s/locks" } do
      zk:delete_many(path .. crowd)
    end
  end)

  it("refuses what is no path with 64, and no server with 69", function()
    local said = command.run { "ls", "locks" }
    assert.equal(64, said.code)
    assert.truthy(said.err:find "^zklock: PATH must be absolute")
    said = command.run { "ls", "/a", "-H", "127.0.0.1:"
      .. support.free_port(), "--connect-timeout", "0.2" }
    assert.equal(69, said.code)
  end)
end)

describe("zklock revoke", function()
  it("asks those who hold, and says how many", function()
    local path = support.path()
    local guard, session = support.hold(path)
    local asked = false
    guard:on_revoke(function() asked = true end)
    local said = command.run { "revoke", path }
    assert.equal(0, said.code)
    assert.equal(("asked 1 holder of %s to let go\n"):format(path), said.out)
    support.step_until(session, function() return asked end, 10)
    guard:release()
  end)

  it("says that nobody holds it, which is no failure", function()
    local path = support.path()
    local said = command.run { "revoke", "--wait", "1m", path }
    local nobody = "nobody holds " .. path
    assert.same({ 0, nobody .. ": there is no such node\n" },
      { said.code, said.out })
    support.zk():make(path)
    said = command.run { "revoke", path }
    assert.same({ 0, nobody .. "\n" }, { said.code, said.out })
  end)

  it("waits until it is free", function()
    local path = support.path()
    local guard = support.hold(path)
    local it = command.start { "revoke", "--wait", "1m", path }
    it:expect "asked 1 holder"
    assert.is_nil(it:status())
    guard:release()
    assert.equal(0, it:wait())
    assert.truthy(it:out():find " is free\n")
  end)

  it("gives up waiting with 75", function()
    local path = support.path()
    local guard = support.hold(path)
    local said = command.run { "revoke", "--wait", "0.3", path }
    assert.equal(75, said.code)
    assert.truthy(said.err:find "did not become free")
    guard:release()
  end)

  it("ends at a signal while it waits", function()
    local path = support.path()
    local guard = support.hold(path)
    for name, code in pairs { INT = 130, TERM = 143, HUP = 129 } do
      local it = command.start { "revoke", "--wait", "1h", path }
      it:expect "asked 1 holder"
      it:signal(name)
      assert.equal(code, it:wait())
      it:close()
    end
    guard:release()
  end)
end)

describe("zklock evict", function()
  it("deletes a holder's node, which hears that it is lost", function()
    local path = support.path()
    local guard, session = support.hold(path)
    local node, reason = first_node(path), nil
    guard:on_lost(function(_, _, why) reason = why end)
    local said = command.run { "evict", "--yes", path, node }
    assert.equal(0, said.code)
    assert.equal("deleted " .. node .. "\n", said.out)
    assert.truthy(said.err:find "it holds the lock")
    assert.truthy(said.err:find "0.95 of its session timeout")
    assert.truthy(said.err:find(session:id(), 1, true))
    support.step_until(session, function() return reason end, 10)
    assert.equal("deleted", reason)
    assert.equal(0, support.count_contenders(path))
  end)

  it("exits with 1 if there is no such contender", function()
    local path = support.path()
    local guard = support.hold(path)
    local said = command.run { "evict", "--yes", path, "x-lock-0000000099" }
    assert.equal(1, said.code)
    assert.truthy(said.err:find 'no contender "x%-lock%-0000000099"')
    assert.is_true(guard:is_held())
    guard:release()
  end)

  it("does nothing where it can ask nobody", function()
    local path = support.path()
    local guard = support.hold(path)
    local said = command.run({ "evict", path, first_node(path) },
      { stdin = "y\n" })
    assert.equal(64, said.code)
    assert.truthy(said.err:find "say %-%-yes")
    assert.is_true(guard:is_held())
    guard:release()
  end)
end)

describe("zklock check", function()
  it("finds nothing wrong where nothing is", function()
    local path = support.path()
    local said = command.run { "check", path }
    assert.equal(0, said.code, said.out .. said.err)
    assert.truthy(said.out:find "ZooKeeper %d+%.%d+")
    assert.truthy(said.out:find "nothing is wrong\n$")
    assert.equal(0, support.count_contenders(path))
  end)

  it("says in JSON what a session has, by the documented numbers", function()
    local said = command.run { "check", "--json", "--session-timeout", "10",
      support.path() }
    assert.equal(0, said.code)
    local found = json.decode(said.out)
    assert.equal(10, found.session.timeout)
    assert.equal("4.9 5.8", ("%.1f %.1f"):format(found.session.lease.least,
      found.session.lease.most))
    assert.is_true(found.lock.may_create and found.lock.may_delete)
    assert.is_true(found.containers)
    assert.same({}, found.problems)
  end)

  it("exits with 1 if its token is not above another one", function()
    local path = support.path()
    local guard = support.hold(path)
    local token = guard:token()
    guard:release()
    local function check(above)
      return command.run { "check", "--json", "--above", above, path }
    end
    for _, spelling in ipairs { token, (token:gsub("^0+", "")) } do
      local found = json.decode(check(spelling).out)
      assert.equal(0, found.code)
      assert.is_true(found.lock.token > token)
    end
    local low = json.decode(check(("9"):rep(18)).out)
    assert.equal(1, low.code)
    assert.truthy(low.problems[1]:find("is not above 0" .. ("9"):rep(18), 1,
      true), low.problems[1])
    guard = support.hold(path)
    local unknown = json.decode(check(token).out)
    assert.equal(1, unknown.code)
    assert.truthy(unknown.problems[1]:find "no fencing token was granted")
    guard:release()
    for _, text in ipairs { "", "x", "1.5", ("1"):rep(20) } do
      local said = check(text)
      assert.equal(64, said.code, said.out .. said.err)
      assert.truthy(said.err:find "%-%-above: .* is no token", said.err)
    end
  end)

  it("exits with 1 when one of the servers is away", function()
    local away = "127.0.0.1:" .. support.free_port()
    local said = command.run { "check", "-H",
      away .. "," .. support.hosts:gsub("/.*", ""), support.path() }
    assert.equal(1, said.code)
    assert.truthy(said.out:find(away .. " cannot be reached", 1, true))
  end)

  it("exits with 69 when all are, in JSON as well", function()
    local said = command.run { "check", "--json", "--connect-timeout", "0.2",
      "-H", "127.0.0.1:" .. support.free_port() }
    assert.equal(69, said.code)
    local found = json.decode(said.out)
    assert.equal(69, found.code)
    assert.is_false(found.servers[1].reachable)
    assert.equal(2, #found.problems)
  end)

  for what, case in pairs {
    ["an HTTP server"] = { "HTTP/1.1%20400%20Bad%20Request%0D%0A%0D%0Ax",
      "says: HTTP/1.1 400 Bad Request" },
    Redis = { "-ERR%20unknown%20command%0D%0A", "says: -ERR unknown command" },
    ["a port for TLS"] = { "%15%03%03%00%02%02%46",
      "answers in TLS: see doc/tls.md" },
  } do
    it("says what " .. what .. " says that does not close", function()
      local hostile = start_hostile()
      hostile:behave { kind = "stranger", says = case[1], stays = true }
      local said = command.run { "check", "--json", "--connect-timeout", "0.2",
        "-H", hostile.hosts }
      assert.equal(69, said.code)
      local found = json.decode(said.out)
      assert.equal(case[2], found.servers[1].problem)
      assert.equal(hostile.hosts .. " " .. case[2], found.problems[1])
      assert.matches("is no ZooKeeper server: it answers ", found.problems[2],
        1, true)
    end)
  end

  it("says that a lock is held, and does not take it", function()
    local path = support.path()
    local guard = support.hold(path)
    local said = command.run { "check", path }
    assert.equal(0, said.code, said.out .. said.err)
    assert.truthy(said.out:find " is held by somebody")
    assert.is_true(guard:is_held())
    guard:release()
  end)

  -- A file that nobody else may read; removed with the test.
  local function credentials(text)
    local name = os.tmpname()
    local file = assert(io.open(name, "w"))
    file:write(text, "\n")
    file:close()
    assert(os.execute("chmod 600 " .. name))
    support.closing({ close = function() os.remove(name) end })
    return name
  end

  it("tells a directory that is open to strangers from one that is not",
    function()
      local file, theirs = credentials "digest:ann:hunter2", support.path()
      -- Where nobody looks for what is left: we may not look there.
      local mine = "/private" .. support.path():gsub("/", "-")
      support.zk():make(theirs)
      local function check(path)
        return command.run { "check", "--json", "--auth-file", file, "--acl",
          "creator", path }
      end
      local said = check(theirs)
      assert.equal(1, said.code)
      local found = json.decode(said.out)
      assert.is_true(found.lock.open_to_strangers)
      assert.same({ "digest" }, found.access.schemes)
      assert.is_nil((said.out .. said.err):find "hunter2")
      found = json.decode(check(mine).out)
      assert.is_false(found.lock.open_to_strangers)
      assert.same({}, found.problems)
      -- (An empty directory may vanish at any time.)
      local guard = support.hold(mine, { acl = "creator", auth = {
        scheme = "digest", credential = "ann:hunter2" } })
      local refused = command.run { "check", mine }
      assert.equal(77, refused.code)
      guard:release()
    end)
end)
