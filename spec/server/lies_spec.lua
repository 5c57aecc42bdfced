-- Servers whose bytes lie (support.lies): each has one client, a process of its
-- own that connects, acquires, looks, releases and acquires again.  Whatever it
-- is told, it lives, it ends in time, it spends little, and what it believes to
-- hold it holds.
local child = require "support.child"
local lies = require "support.lies"
local shell = require "support.shell"
local start_hostile = require "support.hostile".start
local support = require "support"

local AT_ONCE = 12
local COMPILE = "cd '%s' && ${CC:-cc} -std=c11 -D_GNU_SOURCE "
  .. "spec/support/plain_client.c -lzookeeper_st -o '%s' 2>&1"

-- The server is asked whether each grant is true before the client goes on. (On
-- a busy machine a session may be over by then: the client says so, too.)
local CLIENT = [[
local hosts, kind, auth, patience, more, again, timeout = ...
local core, socket = require "zklock.core", require "socket"
local function told(what, session, guard, message, code)
  say(what, guard and "granted" or code, guard and "" or message)
  if guard then
    say("grant", guard.node, guard:token(), session:id())
    hear()
    say("believed", tostring(guard:is_held()))
  end
  return guard
end
local function memory()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "VmHWM:%s+(%d+)"
    if kib then return kib end
  end
end
local function log(_, message)
  if message:find "that cannot be true" then say("log", message) end
end
local session, _, code = zklock.connect(hosts, {
  log = log, session_timeout = tonumber(timeout),
  connect_timeout = tonumber(patience),
  auth = auth ~= "" and { scheme = "digest", credential = "u:p" } or nil,
})
if session then
  local lock = session:mutex("/lies", { fair = kind ~= "unfair" })
  local guard = told("acquire", session, lock:acquire(tonumber(more)))
  socket.sleep(0.1) -- what comes unasked comes within it
  session:contenders "/lies"
  if guard then guard:release() end
  told("again", session, lock:acquire(tonumber(again)))
  session:close()
else
  say("acquire", "connect " .. code)
end
say("cost", os.clock(), memory())
]]

local hostile

-- Only what may end by a timeout has little time: all else must come to its end
-- on a machine that is busy, too.
local function patience(ends, little)
  return ends and not ends:find "timeout" and 40 or little
end

local function run_client(i, lie)
  local path, zk = support.path(), support.zk()
  zk:make(path .. "/lies")
  if lie.ahead then
    zk:create(path .. "/lies/x-lock-", { ephemeral = true, sequential = true })
  end
  hostile:behave({ lie = i, drip = lie.drip }, i)
  local refused = lie.ends and lie.ends:find "connect"
  local hosts = hostile:host(i) .. path
  return { i = i, path = path, lie = lie, hosts = hosts,
    process = child.spawn(CLIENT, hosts, lie.lock or "fair",
      lie.session or "", refused and 0.9 or 40, patience(lie.ends, 0.9),
      patience(lie.ends, 0.6), lie.timeout or 2) }
end

-- Its lines, until its end; one that says nothing for long is ended.
local function hear_all(process)
  return function()
    local ok, line = pcall(process.hear, process, 30)
    if not ok then process:signal "KILL" end
    return ok and line or nil
  end
end

-- Has the server this node, of this session, with this token?
local function is_true(path, node, token, session)
  local stat = support.zk():exists(path .. node)
  return stat and stat.czxid == token and stat.owner == session
end

-- What it has said until its end.
local function take(run)
  local process, result = run.process, { log = "", sound = true }
  for line in hear_all(process) do
    local words = {}
    for word in line:gmatch "[^\t]+" do words[#words + 1] = word end
    if words[1] == "log" then
      result.log = result.log .. words[2] .. "\n"
    elseif words[1] == "grant" then
      result.is_true = is_true(run.path, words[2], words[3], words[4])
      process:say()
    elseif words[1] == "believed" then
      result.sound = result.sound and (result.is_true or words[2] == "false")
    else
      result[words[1]] = { words[2], words[3], words[4] }
    end
  end
  result.status = process:wait(10)
  result.output = process:output()
  process:close()
  support.zk():delete_all(run.path .. "/lies")
  result.requests = hostile:count("request", run.i)
  result.connections = hostile:count("connection", run.i)
  return result
end

local function is_one_of(word, words)
  return ("|" .. words .. "|"):find("|" .. tostring(word) .. "|", 1, true)
end

-- Why it is not outlived; nil: it is.
local function flaw(lie, result)
  local first, again = result.acquire or {}, result.again
  if result.status ~= 0 or result.output ~= "" then
    return result.status .. ": " .. result.output
  elseif not is_one_of(first[1], lie.ends) then
    return "the first is " .. table.concat(first, ": ")
  elseif again and not is_one_of(again[1], "granted|" .. lie.ends) then
    return "the second is " .. table.concat(again, ": ")
  elseif lie.logs and not result.log:find(lie.logs, 1, true) then
    return "the log has " .. result.log
  elseif not result.sound then
    return "what was granted is not held"
  end
end

local function waste(lie, result)
  local cpu = tonumber(result.cost[1])
  if cpu > 3 or result.requests > (lie.asks or 400)
      or result.connections > 60 then
    return ("%g s of CPU, %d requests, %d connections"):format(cpu,
      result.requests, result.connections)
  end
end

-- `judge(lie, result, run)` all of a group, many at a time.
local function run_all(group, judge)
  local running, flaws = {}, {}
  hostile = start_hostile { count = #lies.list }
  local function judge_first()
    local run = table.remove(running, 1)
    local problem = judge(run.lie, take(run), run)
    if problem then flaws[#flaws + 1] = run.lie.it .. ": " .. problem end
  end
  for i, lie in ipairs(lies.list) do
    if lie.group == group then
      if #running == AT_ONCE then judge_first() end
      running[#running + 1] = run_client(i, lie)
    end
  end
  while running[1] do judge_first() end
  assert.equal("", table.concat(flaws, "\n"))
end

local function outlive(group)
  run_all(group, function(lie, result)
    return flaw(lie, result) or waste(lie, result)
  end)
end

local function compile_plain()
  local program = os.tmpname()
  shell.must(COMPILE:format(os.getenv "SPEC_ROOT" or ".", program))
  return support.closing(program, os.remove)
end

-- The client library alone, told the same: its exit status.
local function run_plain(program, hosts)
  return tonumber(shell.output(("'%s' '%s' >/dev/null 2>&1; echo $?"):format(
    program, hosts)))
end

describe("Servers that lie", function()
  for _, group in ipairs { "greetings", "frames", "events" } do
    it("are outlived: " .. group, function() outlive(group) end)
  end

  it("are outlived: sizes #stock", function() outlive "size" end)

  it("kill us by nothing that the library outlives #stock", function()
    local program = compile_plain()
    run_all("deadly", function(_, result, run)
      if not result.sound then return "what was granted is not held" end
      support.zk():make(run.path .. "/lies")
      if result.status ~= 0 and run_plain(program, run.hosts) <= 128 then
        return result.status .. ": " .. result.output
      end
    end)
  end)
end)
