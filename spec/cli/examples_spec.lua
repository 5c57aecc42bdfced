-- examples/command, run as systemd, cron and Kubernetes would run it: without a
-- terminal, and in an environment that is almost empty.
local command = require "support.command"
local read = require "support.files".read
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."
local quote = command.quote

local function example(name)
  return read(root .. "/examples/command/" .. name)
end

-- The words behind `zklock`, none of which has a space in it here.
local function words_of(line)
  local words = {}
  for word in line:match "zklock (.*)":gmatch "%S+" do
    words[#words + 1] = word
  end
  return words
end

local function seconds_of(text, pattern)
  return assert(tonumber(text:match(pattern)), pattern)
end

describe("The examples of the command", function()
  local bin, hosts

  before_each(function()
    support.start()
    bin = os.tmpname()
    os.remove(bin)
    assert(os.execute("mkdir " .. quote(bin)))
    hosts = support.hosts .. support.path() -- a chroot of our own
  end)
  after_each(function()
    os.execute("rm -rf " .. quote(bin))
    support.finish()
  end)

  local function program(name, text)
    local file = assert(io.open(bin .. "/" .. name, "w"))
    file:write("#!/bin/sh\n", text, "\n")
    file:close()
    os.execute(("chmod 755 %s/%s"):format(quote(bin), name))
    return bin .. "/" .. name
  end

  -- (A short session: what is killed is over with its lease.)
  local function start(words)
    return command.start(words, { env = { ZKLOCK_HOSTS = hosts,
      ZKLOCK_SESSION_TIMEOUT = "6" } })
  end

  -- The unit's words, for another program than its own.
  local function exec_start(job)
    local words = words_of(example "backup.service":match "ExecStart=([^\n]*)")
    for i, word in ipairs(words) do
      if word == "/usr/local/bin/backup" then words[i] = job end
    end
    return words
  end

  -- What `args:` of the container lists, for another program.
  local function container_args(job)
    local words = { "run" }
    for word in example "cronjob.yaml":match "args:\n(.-)\n +env:"
      :gmatch "%- (%S+)" do
      words[#words + 1] = word == "report" and job or word
    end
    return words
  end

  local HOLD = [[
    trap 'echo cleaned; exit 3' TERM
    echo held
    while :; do sleep 0.05; done
  ]]
  local STUBBORN = [[
    trap '' TERM
    echo held $$
    while :; do sleep 0.05; done
  ]]

  local function is_gone(pid)
    return os.execute(("kill -0 %d 2>/dev/null"):format(pid)) ~= true
      and os.execute(("kill -0 %d 2>/dev/null"):format(pid)) ~= 0
  end

  for name, words_for in pairs { ["the service"] = exec_start,
      ["the CronJob"] = container_args } do
    it("run once in their period: " .. name, function()
      local words = words_for(program("job", 'echo "$# done"'))
      local first, second = start(words), start(words)
      assert.equal(0, first:wait())
      assert.equal(0, second:wait())
      assert.equal("1 done\n", first:out() .. second:out())
      assert.equal("", first:err() .. second:err())
    end)

    it("end by SIGTERM as they like: " .. name, function()
      local it = start(words_for(program("job", HOLD)))
      it:expect "held\n"
      it:signal "TERM"
      assert.equal(3, it:wait())
      assert.equal("held\ncleaned\n", it:out())
      local again = start(words_for(program("job", "echo done")))
      assert.equal(0, again:wait())
      assert.equal("done\n", again:out())
    end)

    it("are gone when they are killed after that: " .. name, function()
      local it = start(words_for(program("job", STUBBORN)))
      local pid = tonumber(it:expect "held (%d+)\n")
      it:signal "TERM"
      it:signal "KILL"
      assert.equal(137, it:wait())
      support.wait_until(function() return is_gone(pid) end, 60,
        "the end of the job")
    end)
  end

  it("give a job that has lost its lock all of its grace", function()
    local unit, pod = example "backup.service", example "cronjob.yaml"
    assert.is_true(seconds_of(unit, "TimeoutStopSec=(%d+)\n")
      > seconds_of(unit, "%-%-grace (%d+)"))
    assert.is_true(seconds_of(pod, "terminationGracePeriodSeconds: (%d+)\n")
      > seconds_of(pod, "%-%-grace=(%d+)"))
    assert.matches("\nKillMode=mixed\n", unit)
  end)

  it("tell codes apart that mean what they say", function()
    local exit = require "zklock.cli.exit"
    local known = {}
    for _, code in pairs(exit.codes) do known[code] = true end
    local unit, pod = example "backup.service", example "cronjob.yaml"
    local lists = unit:match "SuccessExitStatus=([%d ]+)" .. " "
      .. unit:match "RestartPreventExitStatus=([%d ]+)" .. " "
      .. pod:match "values: %[([%d, ]+)%]"
    for code in lists:gmatch "%d+" do
      code = tonumber(code)
      assert.is_true(known[code] or code == 128 + 15, code)
    end
  end)

  it("are units that systemd takes", function()
    local found = os.execute "command -v systemd-analyze >/dev/null"
    if found ~= true and found ~= 0 then
      pending "systemd-analyze is not there"
      return
    end
    for _, name in ipairs { "backup.service", "backup.timer" } do
      local file = assert(io.open(bin .. "/" .. name, "w"))
      -- Whatever is not installed here.
      file:write((example(name):gsub("ExecStart=%l+", "ExecStart=/bin/true")
        :gsub("/usr/local/bin/%l+", "/bin/true")
        :gsub("Documentation=[^\n]*\n", "")))
      file:close()
    end
    local pipe = io.popen(("systemd-analyze verify %s/backup.service "
      .. "%s/backup.timer 2>&1; echo $?"):format(quote(bin), quote(bin)))
    local said = pipe:read "*a"
    pipe:close()
    assert.equal("0\n", said)
  end)

  -- A package installs it into /usr/bin, `make install` into /usr/local/bin.
  it("let systemd look for zklock where it may be installed", function()
    local units = 0
    for _, name in ipairs { "examples/command/backup.service",
      "doc/production.md" } do
      for named in read(root .. "/" .. name):gmatch "\nExecStart=(%S+)" do
        units = units + 1
        assert.equal("zklock", named, name)
      end
    end
    assert.equal(2, units)
  end)

  it("are lines that cron can run", function()
    program("zklock", ("export LUA_PATH=%s LUA_CPATH=%s\nexec %s \"$@\"")
      :format(quote(os.getenv "LUA_PATH"), quote(os.getenv "LUA_CPATH"),
        command.line({}, { env = { ZKLOCK_HOSTS = hosts } })))
    local lines = 0
    for line in example "crontab":gmatch "[^\n]+" do
      local job = line:match "^[%d*][%d*/]* %S+ %S+ %S+ %S+ +(.*)$"
      if job then
        lines = lines + 1
        -- The programs that the lines name.
        local name = job:match "%-%- (%S+)"
        program(name, "echo \"$ZKLOCK_PATH\" >>" .. quote(bin .. "/ran"))
        local pipe = io.popen(("cd /; env -i HOME=/nonexistent LOGNAME=x "
          .. "SHELL=/bin/sh PATH=%s:/usr/bin:/bin /bin/sh -c %s </dev/null "
          .. "2>&1; echo $?"):format(quote(bin), quote(job)))
        local said = pipe:read "*a"
        pipe:close()
        assert.equal("0\n", said, line)
        assert.equal(job:match "(/locks/%S+)" .. "\n", read(bin .. "/ran"))
        os.remove(bin .. "/ran")
      end
    end
    assert.equal(3, lines)
  end)
end)
