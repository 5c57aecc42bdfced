-- What an operator asks of locks in the shell: ls, revoke, evict, check.
local command = require "support.command"
local json = require "dkjson"
local start_hostile = require "support.hostile".start
local start_server = require "support.server".start
local support = require "support"

local function first_node(path) return support.zk():queue(path)[1] end

local function lines_of(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

local function allow(path, perms)
  support.zk():set_acl(path, support.everybody(perms))
end

describe("zklock ls", function()
  it("shows who holds and who waits, in order, in JSON, too", function()
    local path = support.path()
    local guard = support.hold(path)
    support.connect():mutex(path):acquire_async(function() end)
    support.wait_for_queue(path, 2)
    local said = command.run { "ls", path }
    assert.same({ 0, "" }, { said.code, said.err })
    local lines = lines_of(said.out)
    assert.equal(3, #lines)
    assert.truthy(lines[1]:find "^PLACE +KIND +STATE +AGE +SESSION +TOKEN")
    assert.truthy(lines[2]:find "^1 +mutex +holds ")
    assert.truthy(lines[2]:find(guard:token(), 1, true))
    assert.truthy(lines[2]:find(first_node(path), 1, true))
    assert.truthy(lines[3]:find "^2 +mutex +waits ")
    local rows = command.rows(path)
    assert.equal(2, #rows)
    assert.same({ path, 1, guard:token(), first_node(path), true },
      { rows[1].path, rows[1].place, rows[1].token, rows[1].node,
        rows[1].holds })
    assert.is_false(rows[2].holds)
    -- Nobody holds a path that does not exist.
    path = support.path()
    said = command.run { "ls", path }
    assert.same({ 0, "" }, { said.code, said.out })
    assert.truthy(said.err:find("no process holds " .. path, 1, true))
    said = command.run { "ls", "--json", path }
    assert.same({ 0, "" }, { said.code, said.out })
  end)

  it("prints untrusted data on one line, in quotation marks", function()
    local path = support.path()
    local data = 'a\nb"\27[31m\255'
    support.keep(support.connect():mutex(path)
      :acquire { timeout = 10, data = data })
    local said = command.run { "ls", path }
    assert.equal(2, #lines_of(said.out))
    assert.truthy(said.out:find([["a\x0ab\"\x1b[31m\xff"]], 1, true))
    assert.is_nil(said.out:find "\27")
    local row = command.rows(path)[1]
    assert.is_nil(row.data)
    assert.equal("YQpiIhtbMzFt/w==", row.data_base64)
  end)

  it("finds every lock below with -R, of each kind once", function()
    local path = support.path()
    local session = support.connect()
    local below = { path .. "/a", path .. "/a/b", path .. "/s", path .. "/u" }
    support.keep(session:mutex(below[1]):acquire(10))
    support.keep(session:rwlock(below[2]).read:acquire(10))
    support.keep(session:semaphore(below[3], 2):acquire(10))
    support.keep(session:mutex(below[4], { fair = false }):acquire(10))
    local found, modes = {}, {}
    for i, row in ipairs(command.rows("-R", path)) do
      found[i], modes[i] = row.path, row.mode
    end
    assert.same(below, found)
    assert.same({ "mutex", "read", "permit", "unfair" }, modes)
    local all = command.run { "ls", "-R", "/" }
    assert.truthy(all.out:find(path .. "/a/b:\nPLACE", 1, true))
  end)

  it("leaves out with -R what cannot be asked, and shows the rest", function()
    local path, zk = support.path(), support.zk()
    local locks = { path .. "/a", path .. "/b/deep", path .. "/z" }
    for _, lock in ipairs(locks) do support.hold(lock) end
    local long = path .. "/b/" .. ("n"):rep(1000)
    for _, other in ipairs { long, path .. "/secret/child" } do
      zk:make(other)
    end
    allow(path .. "/secret", 30)
    local found, said = command.rows("-R", path)
    allow(path .. "/secret", 31)
    for i, row in ipairs(found) do found[i] = row.path end
    assert.same(locks, found, said.err)
    assert.equal(77, said.code)
    local out = {}
    for _, line in ipairs(lines_of(said.err)) do
      out[line:match "^zklock: (%S+) is left out: " or line] = line
    end
    for where, why in pairs {
      [path .. "/secret"] = "an ACL forbids it",
      [long] = "must not be longer than 1000 bytes",
    } do
      assert.matches(why, tostring(out[where]), 1, true)
      out[where] = nil
    end
    assert.same({}, out)
  end)
end)

describe("zklock revoke", function()
  it("asks those who hold, says how many, and waits until it is free",
  function()
    local path = support.path()
    local guard, session = support.hold(path)
    local asked = false
    guard:on_revoke(function() asked = true end)
    local said = command.run { "revoke", path }
    assert.same({ 0, ("asked 1 holder of %s to release it\n"):format(path) },
      { said.code, said.out })
    support.step_until(session, function() return asked end, 10)
    said = command.run { "revoke", "--wait", "0.3", path }
    assert.equal(75, said.code)
    assert.truthy(said.err:find "did not become free")
    local it = command.start { "revoke", "--wait", "1m", path }
    it:expect "asked 1 holder"
    assert.is_nil(it:status())
    guard:release()
    assert.equal(0, it:wait())
    assert.truthy(it:out():find " is free\n")
  end)

  it("says that nobody holds it, which is no failure, and ends at a signal "
    .. "while it waits", function()
    local path = support.path()
    local said = command.run { "revoke", "--wait", "1m", path }
    local nobody = "zklock: no process holds " .. path
    assert.same({ code = 0, out = "",
      err = nobody .. ": the node does not exist\n" }, said)
    support.zk():make(path)
    said = command.run { "revoke", path }
    assert.same({ code = 0, out = "", err = nobody .. "\n" }, said)
    support.hold(path)
    for name, code in pairs { INT = 130, TERM = 143, HUP = 129 } do
      local it = command.start { "revoke", "--wait", "1h", path }
      it:expect "asked 1 holder"
      it:signal(name)
      assert.equal(code, it:wait())
    end
  end)
end)

describe("zklock evict", function()
  it("deletes a holder's node, which hears that it is lost", function()
    local path = support.path()
    local guard, session = support.hold(path)
    local node, reason = first_node(path), nil
    guard:on_lost(function(_, why) reason = why end)
    local said = command.run { "evict", "--yes", path, node }
    assert.same({ 0, "deleted " .. node .. "\n" }, { said.code, said.out })
    assert.truthy(said.err:find "it holds the lock")
    assert.truthy(said.err:find "0.95 of its session timeout")
    assert.truthy(said.err:find(session:id(), 1, true))
    support.step_until(session, function() return reason end, 10)
    assert.equal("node_deleted", reason)
    assert.equal(0, support.count_contenders(path))
  end)

  it("deletes nothing without a terminal to ask for confirmation", function()
    local path = support.path()
    local guard = support.hold(path)
    local said = command.run { "evict", "--yes", path, "x-lock-0000000099" }
    assert.equal(1, said.code)
    assert.truthy(said.err:find 'no contender "x%-lock%-0000000099"')
    said = command.run({ "evict", path, first_node(path) }, { stdin = "y\n" })
    assert.equal(64, said.code)
    assert.truthy(said.err:find "say %-%-yes")
    assert.is_true(guard:verify())
  end)
end)

describe("zklock check", function()
  -- With `--json`.
  local function check(...)
    local said = command.run { "check", "--json", ... }
    return json.decode(said.out), said
  end

  it("finds nothing wrong where nothing is", function()
    local path = support.path()
    local said = command.run { "check", path }
    assert.equal(0, said.code, said.out .. said.err)
    assert.truthy(said.out:find "ZooKeeper %d+%.%d+")
    assert.truthy(said.out:find "no problems\n$")
    assert.equal(0, support.count_contenders(path))
    -- In JSON it is what a session has, by the documented numbers.
    local found
    found, said = check("--session-timeout", "10", support.path())
    assert.equal(0, said.code)
    assert.equal(10, found.session.timeout)
    assert.equal("4.9 5.8", ("%.1f %.1f"):format(found.session.lease.min,
      found.session.lease.max))
    assert.is_true(found.lock.may_create and found.lock.may_delete)
    assert.is_true(found.containers)
    assert.same({}, found.problems)
    -- A lock that is held is no failure, and is not taken.
    local guard = support.hold(path)
    said = command.run { "check", path }
    assert.equal(0, said.code, said.out .. said.err)
    assert.truthy(said.out:find "another process holds ")
    assert.is_true(guard:verify())
  end)

  it("exits with 1 if its token is not above another one", function()
    local path = support.path()
    local guard = support.hold(path)
    local token = guard:token()
    guard:release { wait = true }
    for _, spelling in ipairs { token, (token:gsub("^0+", "")) } do
      local found = check("--above", spelling, path)
      assert.equal(0, found.code)
      assert.is_true(found.lock.token > token)
    end
    local low = check("--above", ("9"):rep(18), path)
    assert.equal(1, low.code)
    assert.matches("is not above 0" .. ("9"):rep(18), low.problems[1], 1, true)
    support.hold(path)
    local unknown = check("--above", token, path)
    assert.equal(1, unknown.code)
    assert.truthy(unknown.problems[1]:find "no fencing token was granted")
    for _, text in ipairs { "", "x", "1.5", ("1"):rep(20) } do
      local said = command.run { "check", "--json", "--above", text, path }
      assert.equal(64, said.code, said.out .. said.err)
      assert.truthy(said.err:find "%-%-above: .* is no token", said.err)
    end
  end)

  it("exits with 1 when one of the servers is away, with 69 when all are",
  function()
    local away = "127.0.0.1:" .. support.free_port()
    local said = command.run { "check", "-H",
      away .. "," .. support.hosts:gsub("/.*", ""), support.path() }
    assert.equal(1, said.code)
    assert.truthy(said.out:find(away .. " cannot be reached", 1, true))
    local found
    found, said = check("--connect-timeout", "0.2", "-H", away)
    assert.same({ 69, 69, false, 2 }, { said.code, found.code,
      found.servers[1].reachable, #found.problems })
  end)

  it("names a node that no session owns, and that blocks its lock", function()
    local path, zk = support.path(), support.zk()
    zk:make(path .. "/x-lock-0000000000")
    local found, said = check(path)
    assert.equal(1, said.code)
    assert.equal(('no session owns the node "x-lock-0000000000" of %s: it '
      .. "blocks the lock until it is deleted (zklock evict)"):format(path),
      found.problems[1])
    assert.equal("unowned", command.run({ "ls", path }).out:match "unowned")
    assert.equal(0, command.run({ "evict", "--yes", path, "x-lock-0000000000" })
      .code)
    assert.is_false(zk:exists(path .. "/x-lock-0000000000"))
  end)

  it("says that servers close the connection at its lock", function()
    local hostile = start_hostile()
    hostile:behave { kind = "pass", largest = 80 }
    local found, said = check("-H", hostile.hosts, support.path())
    assert.equal(1, said.code)
    assert.matches("the connection was lost %d+ times while .*jute.maxbuffer",
      table.concat(found.problems, "\n"))
  end)

  it("says what a port says that is no ZooKeeper server's, and does not close",
  function()
    local hostile = start_hostile()
    for says, problems in pairs {
      ["-ERR%20unknown%20command%0D%0A"] = { "says: -ERR unknown command",
        "is no ZooKeeper server: it answers " },
      ["%15%03%03%00%02%02%46"] = {
        "speaks TLS on this port: set --tls-ca (doc/operations.md)",
        "the server speaks TLS on this port: set the option 'tls'" },
    } do
      local problem = problems[1]
      hostile:behave { kind = "stranger", says = says, stays = true }
      local found, said = check("--connect-timeout", "0.2", "-H", hostile.hosts)
      assert.equal(69, said.code)
      assert.equal(problem, found.servers[1].problem)
      assert.equal(hostile.hosts .. " " .. problem, found.problems[1])
      assert.matches(problems[2], found.problems[2], 1, true)
    end
  end)

  it("tells a directory that is open to strangers from one that is not",
  function()
    local theirs = support.path()
    local file = command.file("digest:ann:hunter2\n", "600")
    -- Where nobody looks for what is left: we may not look there.
    local mine = "/private" .. support.path():gsub("/", "-")
    support.zk():make(theirs)
    local function check_as_ann(path)
      return check("--auth-file", file, "--acl", "creator", path)
    end
    local found, said = check_as_ann(theirs)
    assert.equal(1, said.code)
    assert.is_true(found.lock.open_to_anyone)
    assert.same({ "digest" }, found.access.schemes)
    assert.is_nil((said.out .. said.err):find "hunter2")
    found = check_as_ann(mine)
    assert.is_false(found.lock.open_to_anyone)
    assert.same({}, found.problems)
    -- (An empty directory may vanish at any time.)
    support.hold(mine, { acl = "creator", auth = { scheme = "digest",
      credential = "ann:hunter2" } })
    assert.equal(77, command.run({ "check", mine }).code)
  end)
end)

describe("zklock check of two servers that stand alone", function()
  local one, two
  setup(function() one, two = start_server(1), start_server(1) end)
  teardown(function()
    one:stop()
    two:stop()
  end)

  -- The session goes to one of them.
  local function tells_apart(...)
    local found = json.decode(command.run { "check", "--json", "-H",
      one.hosts .. "," .. two.hosts, ... }.out)
    assert.equal(1, found.code)
    assert.equal(1, #found.problems, table.concat(found.problems, "\n"))
    local made_at, not_at = found.problems[1]:match("^data are not shared: the "
      .. "lock's node was made at (%S+), and is not at (%S+)%. They are not ")
    local hosts = { [one.hosts] = two.hosts, [two.hosts] = one.hosts }
    assert.equal(hosts[made_at], not_at, found.problems[1])
    assert.is_not_nil(made_at)
    for _, server in ipairs(found.servers) do
      assert.equal(("%s:%d"):format(server.host, server.port) == made_at,
        server.shares_data)
    end
  end

  it("says which does not share the other's data", function()
    tells_apart()
    tells_apart("--chroot", "/app/of/ours", "/locks/x")
    tells_apart("--auth-file", command.file("digest:ann:hunter2\n", "600"),
      "--acl", "creator", "/mine/x")
    local said = command.run { "check", "-H", one.hosts .. "," .. two.hosts }
    assert.equal(1, said.code)
    assert.is_nil(said.out:find("no problems", 1, true))
  end)

  it("finds nothing wrong where each host is the same server", function()
    local said = command.run { "check", "--json", "-H", one.hosts .. ","
      .. one.hosts:gsub("127.0.0.1", "localhost") }
    local found = json.decode(said.out)
    assert.equal(0, said.code, table.concat(found.problems, "\n"))
    for _, server in ipairs(found.servers) do
      assert.equal(server.version ~= nil or nil, server.shares_data)
    end
  end)
end)
