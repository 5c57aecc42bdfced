-- The scripted core says what the real one says: the same calls, side by side.
local real = require "zklock.core"
local scripted = require "support.scripted_core"
local support = require "support"

-- The next event, which is over when it has been noted.
local function take(session)
  local kind, number, code = session:next()
  if kind then session:noted {} end
  return kind, number, code
end

-- The next event of interest of the core's, without what differs.
local function event(core, session, script)
  return support.wait_until(function()
    if script then script:obey() end
    local kind, number, code = take(session)
    while kind == "state" or kind == "log" do
      kind, number, code = take(session)
    end
    return kind and ("%s %s %s"):format(kind, number and ("%g"):format(number)
      or "-", tostring(code))
  end, 5, core.backend)
end

local function show(value)
  return type(value) == "number" and ("%g"):format(value) or tostring(value)
end

-- What both must say; `lose(node, claim)` takes a node away.
local function tell(core, hosts, path, script, lose)
  local lines = {}
  local function say(...)
    local list = {}
    for i = 1, select("#", ...) do list[i] = show((select(i, ...))) end
    lines[#lines + 1] = table.concat(list, " ")
  end
  local function grant(i) if script then script:grant(script.claims[i]) end end
  local session = core.open { hosts = hosts, session_timeout = 5, log = false }
  if script then script:enter "connected" end
  local way = { kind = "mutex" }
  local hold, number = session:acquire(path, 5, true, "data", nil, way)
  say("asked", number)
  grant(1)
  say(event(core, session, script))
  say(hold:state(), hold:is_held(), hold:lease() > 0, #hold:token())
  local again = hold:again()
  say("a share", hold:release(false))
  say("once more", hold:release(false))
  say(again:state(), hold:state(), again:is_held(), hold:is_held())
  say("the last", again:release(true))
  if script then
    script:obey()
    script:remove(script.claims[1])
  end
  say(event(core, session, script))
  local waiting, second = session:acquire(path, 5, true, "", nil, way)
  grant(2)
  say(event(core, session, script))
  local third_hold, third = session:acquire(path, 5, true, "", nil, way)
  say("asked", third_hold:state(), third_hold:is_held(),
    third_hold:lease() > 0)
  third_hold:cancel()
  say(second, third, event(core, session, script))
  say(third_hold:state(), third_hold:is_held())
  lose(waiting:node(), 2)
  waiting:watch()
  say(event(core, session, script))
  say(waiting:state(), waiting:is_held(), waiting:lease())
  say(waiting:reason(), waiting:find_loss(), hold:reason(), hold:find_loss())
  say("lost", waiting:release(false))
  for _, bad in ipairs {
    function() session:acquire(nil, 5, true, "", nil, way) end,
    function() session:acquire(path, {}, true, "", nil, way) end,
    function() session:acquire(path, 5, true, nil, nil, way) end,
    function() session:acquire(path, 5, true, "", nil, nil) end,
    function() session:acquire(path, 5, true, "", nil, { kind = "x" }) end,
    function() session.release(hold) end,
    function() hold.release(session) end,
  } do
    say(pcall(bad) and "taken" or "refused")
  end
  session:close()
  say(event(core, session, script), hold:state(), hold:is_held())
  session:leave()
  say(session:state(), pcall(session.fd, session) and "open" or "left")
  return lines
end

describe("The scripted core", function()
  before_each(support.start)
  after_each(support.finish)

  it("answers as the real one does", function()
    local path = support.path()
    local script = scripted.new()
    local of_real = tell(real, support.hosts, path, nil, function(node)
      support.zk():delete(node)
    end)
    local of_script = tell(scripted.core, "host:1", path, script,
      function(_, i) script:lose(script.claims[i], "deleted") end)
    assert.same(of_real, of_script)
  end)
end)
