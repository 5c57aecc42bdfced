-- A program whose numbers have a comma: what is for other programs to read has
-- a point.
local prometheus = require "support.prometheus"
local shell = require "support.shell"
local spawn_with = require "support.child".spawn_with
local support = require "support"

-- Its mark is a comma; that of the second is no ASCII, and has two bytes.
local LOCALES = { "de_DE", "ps_AF" }

describe("Where numbers have a comma", function()
  if not shell.run "ls /usr/share/i18n/locales/ps_AF" then
    return pending "there are no locales: apt-get install locales"
  end
  local directory

  setup(function()
    directory = shell.must "mktemp -d":match "%S+"
    for _, name in ipairs(LOCALES) do
      shell.must(("localedef -i %s -f UTF-8 '%s/%s'"):format(name, directory,
        name))
    end
  end)
  teardown(function() shell.must("rm -r " .. directory) end)

  -- It says what it is given as one line.
  local function start(code, ...)
    return spawn_with(("LOCPATH='%s'"):format(directory), [[
      local function show(text) say((text:gsub("\n", "\1"))) end
      local function change(name)
        assert(os.setlocale(name) == name)
        local mark = tostring(0.5):match "^0(.*)5$"
        say(mark == "." and name ~= "C" and "point" or "another")
      end
    ]] .. code, ...):expect "another"
  end

  it("session:metrics() can be read as ever", function()
    for _, name in ipairs(LOCALES) do
      local child = start([[
        change(arg[1])
        local session = assert(zklock.connect(hosts))
        assert(session:mutex(arg[2]):acquire(20)):release()
        show(session:metrics { service = "a,b" })
        session:close()
      ]], name, support.path())
      local families = prometheus.read((child:hear():gsub("\1", "\n")))
      local waited = prometheus.sum(families, "zklock_lock_wait_seconds",
        { service = "a,b" }, "_sum")
      assert.is_true(waited > 0 and waited < 20, waited)
      assert.equal(1, prometheus.sum(families, "zklock_lock_wait_seconds",
        { le = "300" }, "_bucket"))
      child:wait()
    end
  end)

  -- (Capital letters come first by their bytes, and not in any dictionary.)
  it("multis take their parts in one order, whatever their locales", function()
    local path, children = support.path(), {}
    for i, name in ipairs { "C", "de_DE" } do
      children[i] = start([[
        local session = assert(zklock.connect(hosts, { session_timeout = 30 }))
        local function both()
          return session:multi { session:mutex(arg[2] .. "/a"),
            session:mutex(arg[2] .. "/B") }
        end
        local before = both()
        change(arg[1])
        say "is there"
        hear()
        for _ = 1, 100 do assert(both():acquire(30)):release() end
        assert(before:acquire(20))
        say(both():release()) -- they are one lock
        session:close()
        say((before.path:gsub("[^,]*/", "")))
      ]], name, path):expect "is there"
    end
    for _, child in ipairs(children) do child:say() end
    for _, child in ipairs(children) do
      child:expect "true":expect "B,a":wait()
    end
  end)
end)
