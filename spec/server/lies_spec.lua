-- Servers that lie (support.lies): each has one client, a process of its own
-- that connects, acquires, looks, releases and acquires again.  Whatever it is
-- told, it lives, it ends in time, it spends little, and what it believes to
-- hold it holds.
local child = require "support.child"
local lies = require "support.lies"
local support = require "support"

local PATH = "/lies"
local AT_ONCE = 24
local COMPILE = "cd '%s' && ${CC:-cc} -std=c11 -D_GNU_SOURCE "
  .. "spec/support/plain_client.c -lzookeeper_st -o '%s' 2>&1"

local CLIENT = [[
local port, kind, auth, patience, more, again, timeout = ...
local core, socket = require "zklock.core", require "socket"
local begun = core.now()
local function told(what, result, message, code)
  local is_answer = result ~= nil
  say(what, is_answer and "granted" or code, is_answer and "" or message)
  return result
end
local function grant(session, guard)
  if guard then say("grant", guard.node, guard:token(), session:id()) end
  return guard
end
local function memory()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "VmHWM:%s+(%d+)"
    if kib then return kib end
  end
end
-- Given back and wanted again at once, many times: in some of them both are one
-- request.
local function exchange(session, lock, guard)
  for _ = 1, 12 do
    local answer
    guard:release()
    lock:acquire_async({ timeout = tonumber(again) }, function(...)
      answer = { ... }
    end)
    while not answer do
      session:step()
      socket.sleep(0.001)
    end
    guard = grant(session, told("again", answer[1], answer[2], answer[3]))
    if not guard then return end
  end
end
local function use(session)
  local lock = kind == "pair" and session:rwlock("/lies").read
    or session:mutex("/lies", { fair = kind ~= "unfair" })
  local other
  if kind == "pair" then
    lock:acquire_async({ timeout = 0.9, owner = "other" }, function(guard)
      grant(session, guard)
      other = guard
    end)
  end
  local guard = grant(session, told("acquire", lock:acquire(tonumber(more))))
  socket.sleep(0.1)
  local rows, _, code = session:contenders "/lies"
  say("rows", rows and #rows or code)
  if guard and kind == "exchange" then
    exchange(session, lock, guard)
  else
    if guard then guard:release() end
    if other then other:release() end
    grant(session, told("again", lock:acquire(tonumber(again))))
  end
  session:close()
end
local function ask(session)
  if kind == "look" then
    told("acquire", session:stat "/lies")
    local names, found, code = session:children "/lies"
    told("again", names, found, code)
    say("found", names and tostring(found) or "")
  else
    told("acquire", session:stamp "/lies")
    told("again", session:evict("/lies", "x-lock-0000000001"))
  end
  session:close()
end
local function log(_, message)
  if message:find "that cannot be true" then say("log", message) end
end
local session, _, code = zklock.connect("127.0.0.1:" .. port, {
  log = log, session_timeout = tonumber(timeout),
  connect_timeout = tonumber(patience),
  auth = auth ~= "" and { scheme = "digest", credential = "u:p" } or nil,
  acl = auth == "acl" and { { scheme = "digest", perms = "cdrwa",
    id = "u:AAAAAAAAAAAAAAAAAAAAAAAAAAA=" } } or nil,
})
local asks = kind == "look" or kind == "change"
if session and asks then
  ask(session)
elseif session then
  use(session)
else
  say("acquire", "connect " .. code)
end
say("cost", os.clock(), memory(), core.now() - begun)
]]

local results, impostor = {}, nil

-- Only what may end by a timeout has little time: all else must come to its end
-- on a machine that is busy, too.
local function patience(ends, little)
  return ends and not ends:find "timeout" and 40 or little
end

local function run_client(i, lie)
  local refused = lie.ends and lie.ends:find "connect"
  local process = child.spawn(CLIENT, impostor.ports[i], lie.lock or "fair",
    lie.session or "", refused and 0.9 or 40, patience(lie.ends, 0.9),
    patience(lie.again or lie.ends, 0.6), lie.timeout or 2)
  return { i = i, lie = lie, process = process }
end

-- Its lines, until its end; one that says nothing for long is ended.
local function hear_all(process)
  return function()
    local ok, line = pcall(process.hear, process, 30)
    if not ok then process:signal "KILL" end
    return ok and line or nil
  end
end

-- What it has said until its end, and what the impostor knows.
local function take(run)
  local process, result = run.process, { grants = {}, counts = {},
    made = {}, log = "" }
  for line in hear_all(process) do
    local words = {}
    for word in line:gmatch "[^\t]+" do words[#words + 1] = word end
    if words[1] == "log" then
      result.log = result.log .. words[2] .. "\n"
    elseif words[1] == "grant" then
      table.insert(result.grants, { node = words[2], token = words[3],
        session = words[4] })
    else
      result[words[1]] = { words[2], words[3], words[4] }
    end
  end
  result.status = process:wait(10)
  result.output = process:output()
  process:close()
  assert(impostor.process:status() == nil, impostor.process:output())
  impostor.process:say("truth " .. run.i)
  for line in function() return impostor.process:hear(20) end do
    local path, token, owner = line:match "^made (%S+) (%S+) (%S+)"
    local what, times = line:match "^(%a+) (%d+)$"
    if line == "done" then break end
    if path then
      result.made[path .. " " .. token] = owner
    elseif what then
      result.counts[what] = tonumber(times)
    end
  end
  return result
end

-- The client library alone, told the same: its exit status.
local function run_plain(program, i)
  local pipe = io.popen(("'%s' 127.0.0.1:%s >/dev/null 2>&1; echo $?")
    :format(program, impostor.ports[i]))
  local status = tonumber(pipe:read "*l")
  pipe:close()
  return status
end

local function compile_plain()
  local program = os.tmpname()
  local pipe = io.popen(COMPILE:format(os.getenv "SPEC_ROOT" or ".", program))
  local complaints = pipe:read "*a"
  pipe:close()
  assert(complaints == "", complaints)
  return program
end

local function start_impostor()
  impostor = { ports = {} }
  impostor.process = child.spawn([[require "support.impostor"(...)]], PATH)
  for port in impostor.process:hear():gmatch "%d+" do
    table.insert(impostor.ports, port)
  end
end

local function each(group, fn)
  for i, lie in ipairs(lies.list) do
    if lie.group == group then fn(i, lie) end
  end
end

-- Those of a group, many at a time.
local function run_all(group)
  local running = {}
  support.start()
  start_impostor()
  each(group, function(i, lie)
    if #running == AT_ONCE then
      local run = table.remove(running, 1)
      results[run.lie] = take(run)
    end
    running[#running + 1] = run_client(i, lie)
  end)
  for _, run in ipairs(running) do results[run.lie] = take(run) end
end

local function run_plains()
  local program = compile_plain()
  each("deadly", function(i, lie)
    results[lie].plain = run_plain(program, i)
  end)
  os.remove(program)
end

local function matches(text, words)
  for word in words:gmatch "[^|]+" do
    if text == word then return true end
  end
  return false
end

-- Has the server made what was granted, for this session, as it said?
local function is_true(result, lie, grant)
  if grant.token == lie.token then return true end
  return result.made[grant.node .. " " .. grant.token] == grant.session
end

-- Whatever was granted.
local function check_grants(result, lie)
  for _, grant in ipairs(result.grants) do
    assert.is_true(is_true(result, lie, grant), grant.node .. " "
      .. grant.token .. " of " .. grant.session)
  end
end

local function check(result, lie)
  assert.equal(0, result.status, result.output)
  assert.equal("", result.output)
  assert.is_true(matches(result.acquire[1], lie.ends),
    table.concat(result.acquire, ": "))
  assert.is_true(not result.again
    or matches(result.again[1], lie.again or "granted|" .. lie.ends),
    result.again and table.concat(result.again, ": "))
  local why = result.acquire[2] or ""
  assert.is_true(not lie.why or why:find(lie.why, 1, true) ~= nil, why)
  local message = result.again and result.again[2] or ""
  assert.is_true(not lie.says or message:find(lie.says, 1, true) ~= nil,
    message)
  assert.is_true(lie.on ~= "transaction" or result.counts.seen ~= nil,
    "no transaction")
  assert.is_true(not lie.logs or result.log:find(lie.logs, 1, true) ~= nil,
    result.log)
  assert.is_true(not lie.finds or result.found[1] == lie.finds)
  check_grants(result, lie)
end

local function check_cost(result, lie)
  local cpu, seconds = tonumber(result.cost[1]), tonumber(result.cost[3])
  local requests = result.counts.requests or 0
  local connections = result.counts.connections or 0
  assert.is_true(cpu < 3, cpu .. " s of CPU")
  assert.is_true(seconds < 20 + support.slack, seconds .. " s")
  assert.is_true(requests <= (lie.asks or 400), requests .. " requests")
  assert.is_true(connections <= 60, connections .. " connections")
end

local function outlive(group)
  setup(function()
    run_all(group)
    support.finish()
  end)

  each(group, function(_, lie)
    it(("are outlived: %s"):format(lie.it), function()
      check(results[lie], lie)
      check_cost(results[lie], lie)
    end)
  end)
end

describe("Servers that lie #once", function() outlive(nil) end)

describe("Servers that lie of an exchange #once", function()
  outlive "exchange"
end)

describe("Servers that say each code of ZooKeeper's #once", function()
  outlive "codes"
end)

describe("Servers that lie of sizes #once #stock", function()
  outlive "size"
end)

describe("Servers that kill the client library #once #stock", function()
  setup(function()
    run_all "deadly"
    run_plains()
    support.finish()
  end)

  each("deadly", function(_, lie)
    it(("kill us by nothing else: %s"):format(lie.it), function()
      local result = results[lie]
      assert.is_true(result.status == 0 or result.plain > 128, result.output)
      check_grants(result, lie)
    end)
  end)
end)
