-- examples/command, run as systemd, cron and Kubernetes would run it: without a
-- terminal, and in an environment that is almost empty.
local command = require "support.command"
local each = require "support.each"
local files = require "support.files"
local read, write = files.read, files.write
local shell = require "support.shell"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."
local quote = command.quote

local function example(name)
  return read(root .. "/examples/command/" .. name)
end

local unit, pod = example "backup.service", example "cronjob.yaml"
local primary = example "primary.service"

-- The words that an example has, for another program than its own.
local words_for = {}

function words_for.service(job) -- (no word has a space in it here)
  local words = {}
  for word in unit:match "ExecStart=%S*zklock ([^\n]*)":gmatch "%S+" do
    words[#words + 1] = word == "/usr/local/bin/backup" and job or word
  end
  return words
end

function words_for.CronJob(job)
  local words = { "run" }
  for word in pod:match "args:\n(.-)\n +env:":gmatch "%- (%S+)" do
    words[#words + 1] = word == "report" and job or word
  end
  return words
end

local function seconds_of(text, pattern)
  return assert(tonumber(text:match(pattern)), pattern)
end

describe("The examples of the command", function()
  local hosts

  before_each(function()
    hosts = support.hosts .. support.path() -- a chroot of our own
  end)

  it("run once in their period", function()
    each(words_for, function(words)
      local job = command.file("#!/bin/sh\necho \"$# done\"\n", "755")
      local function start()
        return command.start(words(job), { env = { ZKLOCK_HOSTS = hosts } })
      end
      local first, second = start(), start()
      assert.same({ 0, 0 }, { first:wait(), second:wait() })
      assert.equal("1 done\n", first:out() .. second:out())
      assert.equal("", first:err() .. second:err())
    end)
  end)

  it("give a job that has lost its lock all of its grace, and tell codes apart "
    .. "that mean what they say", function()
    for _, text in ipairs { unit, primary } do
      assert.is_true(seconds_of(text, "TimeoutStopSec=(%d+)\n")
        > seconds_of(text, "%-%-grace (%d+)"))
    end
    assert.is_true(seconds_of(pod, "terminationGracePeriodSeconds: (%d+)\n")
      > seconds_of(pod, "%-%-grace=(%d+)"))
    assert.matches("\nKillMode=mixed\n", unit)
    local known = { [128 + 15] = true }
    for _, code in pairs(require "zklock.cli.exit".codes) do
      known[code] = true
    end
    local lists = unit:match "SuccessExitStatus=([%d ]+)" .. " "
      .. unit:match "RestartPreventExitStatus=([%d ]+)" .. " "
      .. primary:match "SuccessExitStatus=([%d ]+)" .. " "
      .. primary:match "RestartPreventExitStatus=([%d ]+)" .. " "
      .. pod:match "values: %[([%d, ]+)%]"
    for code in lists:gmatch "%d+" do
      assert.is_true(known[tonumber(code)], code)
    end
  end)

  -- A package installs it into /usr/bin, `make install` into /usr/local/bin.
  it("are units that systemd takes, and in which it looks for zklock where it "
    .. "may be installed", function()
    for name, text in pairs { ["backup.service"] = unit,
        ["primary.service"] = primary } do
      local units = 0
      for named in text:gmatch "\nExecStart=(%S+)" do
        units = units + 1
        assert.equal("zklock", named, name)
      end
      assert.equal(1, units, name)
    end
    if not shell.run "command -v systemd-analyze" then return end
    local directory = command.directory()
    for _, name in ipairs { "backup.service", "backup.timer",
        "primary.service" } do
      -- Whatever is not installed here.
      write(directory .. "/" .. name, (example(name)
        :gsub("ExecStart=%l+", "ExecStart=/bin/true")
        :gsub("/usr/local/bin/%l+", "/bin/true")
        :gsub("Documentation=[^\n]*\n", "")))
    end
    assert.equal("", shell.must(("cd %s && systemd-analyze verify "
      .. "./backup.service ./backup.timer ./primary.service"):format(
      directory)))
  end)

  it("are lines that cron can run", function()
    local bin = command.directory()
    local function program(name, text)
      write(bin .. "/" .. name, "#!/bin/sh\n" .. text .. "\n", "755")
    end
    program("zklock", ("export LUA_PATH=%s LUA_CPATH=%s\nexec %s \"$@\"")
      :format(quote(os.getenv "LUA_PATH"), quote(os.getenv "LUA_CPATH"),
        command.line({}, { env = { ZKLOCK_HOSTS = hosts } })))
    local lines = 0
    for line in example "crontab":gmatch "[^\n]+" do
      local job = line:match "^[%d*][%d*/]* %S+ %S+ %S+ %S+ +(.*)$"
      if job then
        lines = lines + 1
        -- The programs that the lines name.
        program(job:match "%-%- (%S+)",
          "echo \"$ZKLOCK_PATH\" >" .. bin .. "/ran")
        assert.equal("", shell.must(("cd /; env -i HOME=/nonexistent "
          .. "LOGNAME=x SHELL=/bin/sh PATH=%s:/usr/bin:/bin /bin/sh -c %s "
          .. "</dev/null"):format(bin, quote(job))), line)
        assert.equal(job:match "(/locks/%S+)" .. "\n", read(bin .. "/ran"))
        os.remove(bin .. "/ran")
      end
    end
    assert.equal(3, lines)
  end)
end)
