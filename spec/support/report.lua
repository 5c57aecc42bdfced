--- How busted reports to spec/run: failures as they come, and in the file
-- $SPEC_RESULTS a line for each test and an `end`, without which the
-- interpreter did not live to tell.

-- Specs make further names from a temporary one (name .. ".log"). In /tmp
-- another user could have taken those; spec/run gives each process a directory.
local directory, tmpname = os.getenv "SPEC_TMP", os.tmpname
function os.tmpname() -- luacheck: ignore 122
  local name = tmpname()
  if not directory then return name end
  os.remove(name)
  name = directory .. name:match "/[^/]*$"
  assert(io.open(name, "w")):close()
  return name
end

local function failure(name, message, trace)
  local where = trace and trace.short_src
    and (" (%s:%s)"):format(trace.short_src, trace.currentline) or ""
  if type(message) == "table" then message = message.message or message end
  io.write(("FAILED: %s%s\n"):format(name or "?", where))
  for line in tostring(message):gmatch("[^\n]+") do
    io.write("    ", line, "\n")
  end
  io.flush()
end

return function()
  local busted = require "busted"
  local handler = require "busted.outputHandlers.base"()
  local results = assert(io.open(os.getenv "SPEC_RESULTS" or "/dev/null", "w"))

  local function count(word, name)
    results:write(word, "\t", name or "", "\n")
    results:flush()
  end

  local started
  function handler.test_start()
    started = busted.monotime()
    return nil, true
  end

  local last = ""
  function handler.test_end(element, _, status)
    local name = handler.getFullName(element)
    last = name
    local took = busted.monotime() - started
    if status == "error" or status == "failure" then status = "failure" end
    count(status, ("%s\t%.3f"):format(name, took))
    return nil, true
  end

  local function on_problem(element, _, message, trace)
    local name = handler.getFullName(element)
    if element.descriptor == "after_each" then name = "after: " .. last end
    failure(name, message, trace)
    if element.descriptor ~= "it" then count("failure", name) end
    return nil, true
  end

  function handler.suite_end()
    results:write("end\n")
    results:close()
    return nil, true
  end

  busted.subscribe({ "test", "start" }, handler.test_start)
  busted.subscribe({ "test", "end" }, handler.test_end)
  busted.subscribe({ "failure" }, on_problem)
  busted.subscribe({ "error" }, on_problem)
  busted.subscribe({ "suite", "end" }, handler.suite_end)
  return handler
end
