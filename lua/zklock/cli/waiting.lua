--- Waiting: shows a line on the terminal while zklock waits for a lock, and
-- erases it afterwards. The line has the number of contenders ahead, the
-- holder, and the time of the wait.
local plain = require "zklock.plain"
local quote = require "zklock.quote"
local talk = require "zklock.cli.talk"
local uv = require "luv"
local window = require "zklock.cli.window"
local zklock = require "zklock"

local waiting = {}

-- The time until the line is shown first, and then between two updates. A wait
-- shorter than FIRST would end before a user could read the line.
local FIRST, AGAIN = 300, 2000 -- milliseconds

local is_drawn = false

function waiting.erase()
  if is_drawn then talk.write "\r\27[K" end
  is_drawn = false
end

local function describe(contenders, id)
  local ahead, holder = 0, nil
  for _, one in ipairs(contenders) do
    if one.holds then holder = holder or one end
    if one.session == id then break end
    ahead = ahead + 1
  end
  return ahead, holder and holder.data
end

-- Maps an error code to a text that says why zklock cannot show the queue.
local reasons = { denied = "an ACL hides the queue",
  disconnected = "no connection to a server",
  auth = "the servers refuse the credentials" }

local function draw(session, path, begun)
  local contenders, _, code = session:contenders(path)
  local ahead, holder = 0, nil
  if contenders then ahead, holder = describe(contenders, session:id()) end
  return ("zklock: waiting for %s: %s%s, %.0f s"):format(plain.text(path),
    contenders and ("%d ahead"):format(ahead)
      or reasons[code] or "the queue cannot be read",
    holder and ", held by " .. quote(holder:sub(1, 60), #holder > 60) or "",
    zklock.now() - begun)
end

--- Shows the line from now on, if standard error is a terminal. Returns a
-- function that erases the line and stops the updates. `begun`: the time of
-- zklock.now since which zklock waits.
function waiting.begin(session, path, begun)
  if uv.guess_handle(2) ~= "tty" then return function() end end
  local timer, is_over = uv.new_timer(), false
  local function show()
    local line = draw(session, path, begun)
    if is_over then return end
    if talk.is_idle() then -- false if the terminal is stopped
      -- If the terminal has hung up, window.columns returns nil.
      local columns = window.columns(2) or 80
      talk.write("\r" .. window.cut(line, columns - 1) .. "\27[K")
      is_drawn = true
    end
    timer:start(AGAIN, 0, function()
      coroutine.resume(coroutine.create(show))
    end)
  end
  timer:start(FIRST, 0, function() coroutine.resume(coroutine.create(show)) end)
  return function()
    is_over = true
    timer:close()
    waiting.erase()
  end
end

return waiting
