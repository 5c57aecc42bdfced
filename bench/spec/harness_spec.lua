-- The benchmark runs, says what failed, and leaves nothing behind.
local json = require "dkjson"
local read = require "support.files".read
local support = require "support"

local root = assert(os.getenv "SPEC_ROOT")
local marks = 0

local function run(command)
  local pipe = assert(io.popen(command .. "; echo $?"))
  local text = pipe:read "*a"
  pipe:close()
  local output, status = text:match "^(.-)(%d+)\n$"
  return tonumber(status), output
end

local function trim(text) return (text:gsub("%s+$", "")) end

-- Processes that have the mark in their environment: whoever comes from a run
-- has it, whatever became of its parents.
local function processes_with(mark)
  local _, found = run("grep -alsF BENCH_MARK=" .. mark
    .. " /proc/[0-9]*/environ 2>/dev/null")
  local lines = {}
  for pid in found:gmatch "/proc/(%d+)/environ" do
    local _, line = run("{ tr '\\0' ' ' </proc/" .. pid
      .. "/cmdline; } 2>/dev/null")
    -- This command is one of them.
    if line ~= "" and not line:find("grep", 1, true) then
      lines[#lines + 1] = pid .. ": " .. line
    end
  end
  return lines
end

describe("the benchmark", function()
  local directory, mark

  before_each(function()
    local _, name = run "mktemp -d"
    directory = trim(name)
    marks = marks + 1
    mark = directory:gsub("%W", "") .. marks
  end)

  after_each(function()
    run("rm -rf '" .. directory .. "'")
  end)

  local function bench(arguments)
    return ("cd '%s' && BENCH_MARK=%s bench/run --set quick --rounds 1 "
      .. "--seconds 0.2 --out '%s/out' %s"):format(root, mark, directory,
      arguments)
  end

  -- What was told to end may take a moment.
  local function await_the_end()
    local left
    local ended = pcall(support.wait_until, function()
      left = processes_with(mark)
      return #left == 0
    end, 20)
    assert.is_true(ended, table.concat(left, "\n"))
  end

  -- A driver with that vice.
  local function bad(vice)
    local link = directory .. "/" .. vice
    assert(run(("ln -s '%s/bench/spec/bad' '%s'"):format(root, link)) == 0)
    return link
  end

  local function samples()
    local result = assert(json.decode(read(directory
      .. "/out/results.json")))
    local found = {}
    for _, sample in ipairs(result.samples) do
      local name = sample.driver:match "[^/]+$"
      found[name] = found[name] or {}
      found[name][sample.case] = sample
    end
    return found, result.about
  end

  it("measures, counts, and keeps what it saw", function()
    local status, text = run(bench(
      "--drivers 'raw zklock' --cases 'W1 W2-10 W4-64-h64' 2>&1"))
    assert.equal(0, status, text)
    local found, about = samples()
    assert.truthy(about.commit and about.zookeeper)
    for _, case in ipairs { "W1", "W2-10" } do
      for _, driver in ipairs { "raw", "zklock" } do
        local sample = found[driver][case]
        assert.is_nil(sample.error)
        assert.is_true(sample.ops > 0 and sample.seconds > 0)
        assert.is_true(sample.requests > 1 and sample.bytes_out > 50)
        local counted = 0
        for _, pair in ipairs(sample.hist) do counted = counted + pair[2] end
        assert.equal(sample.ops, counted)
      end
    end
    -- What the floor is: three requests, and no segment for each length (which
    -- would be two a request; what is sent twice on a busy machine counts). On
    -- a busy machine the moment of a count is a guess: what is sure is asked.
    -- Of an operation that is under way at either end the server has counted
    -- requests, and the driver nothing: with few operations that is much.
    for case, clients in pairs { W1 = 1, ["W2-10"] = 10 } do
      local bounds, ops = found.raw[case].bounds, found.raw[case].ops
      local least, most = table.unpack(bounds.requests)
      local part = clients / ops
      assert.is_true(least < 3.3 * (1 + part) and most > 2.7 * (1 - part),
        ("%s: %g to %g requests in each of %d operations")
        :format(case, least, most, ops))
      assert.is_true(bounds.segments_out[1] < 1.6 * most,
        bounds.segments_out[1] .. " segments")
    end
    assert.is_nil(found.raw["W4-64-h64"])
    local least = found.zklock["W4-64-h64"].bounds.requests[1]
    assert.is_true(least < 1, least .. " requests")
    assert.truthy(text:find("W1, zklock : st, speed", 1, true))
    await_the_end()
  end)

  it("says of each driver that fails how, and goes on", function()
    local vices = {
      ["dies-at-once"] = "it has ended (exit 3: I was never well)",
      ["lacks-something"] = "missing: lacks: there is no such package",
      ["hangs"] = "no answer in ",
      ["dies-midway"] = "it has ended (exit 0)",
      ["babbles"] = "it answers 'good', not 'running'",
      ["floods"] = "an answer without an end",
      ["is-idle"] = "nothing was done",
      ["lies"] = "its sample makes no sense",
      ["leaves-a-child"] = "no answer in ",
      ["absent"] = "it cannot be started: No such file or directory",
    }
    local drivers = { "raw" }
    for vice in pairs(vices) do
      drivers[#drivers + 1] = vice == "absent" and directory .. "/absent"
        or bad(vice)
    end
    local status, text = run(bench(("--patience 2 --drivers '%s' --cases W1 "
      .. "2>&1"):format(table.concat(drivers, " "))))
    assert.equal(0, status, text)
    local found = samples()
    assert.is_nil(found.raw["W1"].error)
    for vice, problem in pairs(vices) do
      local told = found[vice] and found[vice]["W1"].error or "left out"
      assert.truthy(told:find(problem, 1, true), vice .. ": " .. told)
      assert.truthy(text:find(told, 1, true), vice .. " is not in the table")
    end
    await_the_end()
  end)

  -- A run under way: all its processes are there.
  local function begin(...)
    local log = directory .. "/log"
    local _, pid = run(("(%s >'%s' 2>&1 & echo $!)"):format(
      bench(("--minutes 5 --rounds 99 --drivers '%s' --cases 'W1 W2-10' "
        .. "--data '%s'"):format(table.concat({ "raw", "zklock", ... }, " "),
        directory)):gsub("bench/run", "exec bench/run"), log))
    support.wait_until(function()
      return read(log):find("W2-10", 1, true)
    end, 60, "the run's beginning")
    assert.is_true(#processes_with(mark) > 2)
    return trim(pid)
  end

  it("leaves nothing after a signal, and no process even if it is killed",
  function()
    local child = bad "leaves-a-child"
    for _, signal in ipairs { "INT", "TERM", "HUP", "KILL" } do
      local pid = signal == "KILL" and begin() or begin(child)
      run(("kill -%s %s"):format(signal, pid))
      await_the_end()
      local _, left = run(("ls -d '%s'/zklock-bench-* 2>/dev/null")
        :format(directory))
      assert.equal("", signal ~= "KILL" and trim(left) or "", signal)
    end
  end)

  it("makes the right figures of samples", function()
    local status, text = run(("python3 '%s/bench/spec/figures.py' 2>&1")
      :format(root))
    assert.equal(0, status, text)
  end)
end)
