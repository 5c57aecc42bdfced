--- What the specs of `zklock run` have in common: rows of tables, in each of
-- which a script runs under a lock until something happens.
local assert = require "luassert"
local command = require "support.command"
local each = require "support.each"
local new_suspension = require "support.suspension".new
local processes = require "support.processes"
local start_proxy = require "support.proxy".start
local support = require "support"

local runs = {
  --- Says its process, and runs until it is ended.
  forever = "echo pid $$; while :; do sleep 0.01; done",
  --- In front of that: no signal ends it.
  stubborn = "trap '' TERM INT HUP; ",
}

--- The words of `zklock run OPTIONS PATH -- COMMAND`; a text is sh's script.
function runs.words(path, what, options)
  local words = { "run" }
  for _, word in ipairs(options or {}) do words[#words + 1] = word end
  words[#words + 1], words[#words + 2] = path, "--"
  if type(what) == "string" then what = { "sh", "-c", what } end
  for _, word in ipairs(what) do words[#words + 1] = word end
  return words
end

--- `command.start`, and `command.run`, with these words.
function runs.start(path, what, words, options)
  return command.start(runs.words(path, what, words), options)
end

function runs.run(path, what, words, options)
  return command.run(runs.words(path, what, words), options)
end

function runs.pid_of(it) return tonumber(it:expect "pid (%d+)\n") end

--- Deletes the node of the first in the queue.
function runs.delete_node(path)
  local zk = support.zk()
  zk:delete(path .. "/" .. zk:queue(path)[1])
end

--- The lock is lost.
function runs.lose(_, path) runs.delete_node(path) end

function runs.kill_guardian(it)
  processes.signal("KILL", processes.child_of(it.pid))
end

function runs.stop(it)
  it:signal "STOP"
  processes.await_stop(it.pid)
end

--- It leaves a node, until its session is over.
function runs.kill(it, path)
  it:signal "KILL"
  assert.equal(137, it:wait())
  runs.delete_node(path)
end

local function check_end(row, it, path, pid)
  if row.code then
    assert.equal(row.code, it:wait())
  else
    processes.await_end(pid)
  end
  assert.equal(row.lives or false, processes.is_alive(pid))
  local err = it:err():gsub("Terminated\n", "") -- (sh's)
  if row.out then
    assert.equal(row.out, (it:out():gsub("^pid %d+\n", "")))
  end
  if row.err then assert.equal(row.err:format(path, path), err) end
  if row.says then assert.matches(row.says, err, 1, true) end
end

--- `option` of `zklock run` is given seconds that only a jump of its clock
-- ends, which the second result makes; the session lasts longer. The first one
-- are words; `options` are those of `command.start`.
function runs.outlasting(options, option)
  local suspension = new_suspension()
  options.env = options.env or {}
  for name, value in pairs(suspension.env) do options.env[name] = value end
  return { "--session-timeout", "40", option, "15" },
    function() suspension:sleep(20) end
end

-- The words in front of the row's own, and what happens.
local function prepare(row, options)
  local by = row.by
  if type(by) ~= "string" then
    -- (A loss is noticed within a sixth of the session timeout.)
    return by == runs.lose and { "--session-timeout", "10" } or {}, by
  elseif by:sub(1, 2) == "--" then
    return runs.outlasting(options, by)
  end
  return {}, function(it) it:signal(by) end
end

--- Runs the rows. A row has
--   `script` (none: forever), `words` (options of `zklock run`),
--   `proxy` (true: one is between it and the server),
--   `by` (what happens: a signal's name; an option of `zklock run` whose
--   seconds have passed; or a function that is given the command, the path,
--   the script's process and the proxy),
--   and what is true after it: `code` (none: zklock has not ended by itself),
--   `out` (exactly, behind the process), `err` (exactly; a %s is the path),
--   `says` (on standard error, beside other things), `lives` (the script does),
--   `left` (contenders; none: 0).
-- `given()`: options for `command.start`.
function runs.check(rows, given)
  each(rows, function(row)
    local path, proxy = support.path(), row.proxy and start_proxy()
    local options = given and given() or {}
    if proxy then options.env = { ZKLOCK_HOSTS = proxy.hosts } end
    local words, happen = prepare(row, options)
    for _, word in ipairs(row.words or {}) do words[#words + 1] = word end
    local it = runs.start(path, row.script or runs.forever, words, options)
    local pid = runs.pid_of(it)
    if happen then happen(it, path, pid, proxy) end
    check_end(row, it, path, pid)
    if proxy then proxy:heal() end
    if row.lives then processes.signal("KILL", pid) end
    assert.equal(row.left or 0, support.count_contenders(path))
  end)
end

return runs
