--- A process with a session that does what it is told, a line of Lua at a time,
-- and steps its session meanwhile.  Its program may be an earlier zklock.
--
--     local actor = start { environment = …, session_timeout = 6 }
--     actor:ask("begin('a', session:mutex(%q), 'W')", path)
--     actor:ask "outcome 'a'"     -- "waits", "held" or an error code
--
-- In it a witness that is not zklock, the system's locks on files, says whether
-- two processes hold what excludes the other.
local spawn_with = require "support.child".spawn_with
local support = require "support"

local PROGRAM = [[
  local hosts, timeout, directory = ...
  local lfs = require "lfs"
  session = assert(zklock.connect(hosts,
    { session_timeout = tonumber(timeout) }))
  waits, files = {}, {}

  -- A file for each name; the system gives its lock back when the process ends.
  -- Without a directory nothing is witnessed.
  local function witness(name, mode)
    if directory == "" or not mode then return true end
    files[name] = files[name]
      or assert(io.open(directory .. "/" .. name, "a+"))
    return lfs.lock(files[name], mode == "R" and "r" or "w")
  end

  -- Begins to wait for what a lock, an election or a double barrier gives.
  function begin(name, lock, mode, options)
    local wait = { outcome = "waits" }
    waits[name] = wait
    local function done(guard, message, code)
      wait.guard, wait.message = guard, message
      wait.outcome = code or "held"
      if not guard then return end
      if not witness(name, mode) then wait.outcome = "overlap" end
      guard:on_lost(function() -- whose arguments were others before
        wait.outcome = "lost: " .. guard:reason()
        if files[name] then lfs.unlock(files[name]) end
      end)
      guard:on_revoke(function() wait.revoked = true end)
    end
    local call = lock.acquire_async or lock.campaign_async or lock.enter_async
      or lock.wait_async
    if lock.wait_async and not lock.acquire_async then
      wait.ticket = call(lock, options or {}, function(ok, _, code)
        wait.outcome = ok and "passed" or code
      end)
    else
      wait.ticket = call(lock, options or {}, done)
    end
  end

  function outcome(name) return waits[name].outcome end

  -- Gives it back: first the witness's, or it would see what is no overlap.
  function leave(name, options)
    local wait = waits[name]
    if files[name] then lfs.unlock(files[name]) end
    wait.outcome = "left"
    return wait.guard:release(options or { wait = true })
  end

  -- Takes it if it is free: "held", or the code.
  function try(lock)
    local guard, _, code = (lock.acquire or lock.campaign)(lock, 0)
    if guard then guard:release { wait = true } end
    return guard and "held" or code
  end

  -- Rows of contenders() and holders(), as a text.
  function rows(list, message)
    local lines = {}
    for i, row in ipairs(assert(list, message)) do
      local fields = {}
      for key, value in pairs(row) do
        fields[#fields + 1] = key .. "=" .. tostring(value)
      end
      table.sort(fields)
      lines[i] = table.concat(fields, " ")
    end
    return #lines .. " rows: " .. table.concat(lines, "; ")
  end

  local part
  parent_socket:settimeout(0.002)
  while true do
    local line, problem
    line, problem, part = parent_socket:receive("*l", part)
    if line then
      parent_socket:settimeout(60)
      part = nil
      say(pcall(assert((loadstring or load)(line))))
      parent_socket:settimeout(0.002)
    elseif problem ~= "timeout" then
      break
    end
    session:step()
  end
]]

local Actor = {}
Actor.__index = Actor

--- Starts one.  `options`: `environment`, words for a shell; `hosts`;
-- `session_timeout`; `directory`: the witness's, the same for all.  Where an
-- operator takes locks away there is none: a holder that has lost its node may
-- believe for a while.
local function start(options)
  local child = spawn_with(options.environment or "", PROGRAM,
    options.hosts or support.hosts, options.session_timeout or 30,
    options.directory or "")
  return setmetatable({ child = child }, Actor)
end

--- What the line of Lua returns, a text; `...` are quoted into it by %q and
-- the like.
function Actor:ask(line, ...)
  local text = (select("#", ...) > 0 and line:format(...) or line)
    :gsub("%s*\n%s*", " "):gsub("^ +", "")
  if not text:find "^return " and not text:find "^local " then
    text = "return " .. text
  end
  self.child:say(text)
  local answer = self.child:hear()
  if not answer then error("it has ended: " .. self.child:output(), 2) end
  local ok, result = answer:match "^(%a+)\t?(.*)$"
  if ok ~= "true" then
    error(("%s: %s"):format(text, result), 2)
  end
  return result
end

--- Waits until the line of Lua returns this.
function Actor:await(expected, line, ...)
  local text = select("#", ...) > 0 and line:format(...) or line
  local last
  local ok = pcall(support.wait_until, function()
    last = self:ask(text)
    return last == expected
  end, 20)
  if not ok then
    error(("%s is %q, not %q"):format(text, last, expected), 2)
  end
end

--- Closes its session, and ends well.
function Actor:finish()
  self.child:say "session:close() os.exit(0)"
  local status = self.child:wait()
  if status ~= 0 then error("its exit status is " .. status, 2) end
end

return { start = start }
