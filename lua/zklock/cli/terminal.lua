--- Terminal: draws on the terminal's screen, and asks the user.
local await = require "zklock.cli.await"
local leaving = require "zklock.cli.leaving"
local output = require "zklock.cli.output"
local signals = require "zklock.cli.signals"
local talk = require "zklock.cli.talk"
local uv = require "luv"

local terminal = {}

local PACE = 0.02 -- seconds between two checks for room

local HIDE, SHOW = "\27[?25l", "\27[?25h"
-- These escape sequences switch to the terminal's alternate screen and back.
-- The main screen stays as it was.
local ENTER, LEAVE = "\27[?1049h", "\27[?1049l"
local HOME, TO_END_OF_LINE, TO_END = "\27[H", "\27[K", "\27[J"

function terminal.is_output()
  return uv.guess_handle(1) == "tty"
end

-- Handles Ctrl-Z. While this process is stopped, shows the main screen, which
-- the shell uses; then shows zklock's screen again.
local function stop_and_go_on(enter, leave, redraw)
  signals.watch("TSTP", function()
    leave()
    output.flush()
    uv.kill(uv.os_getpid(), "sigstop")
  end)
  signals.watch("CONT", function()
    enter()
    redraw()
  end)
end

--- Uses the whole screen until the command ends. Calls `redraw` when the size
-- of the terminal has changed, or the process continues after a stop. Returns
-- `show(lines)`, and a function that restores the main screen.
function terminal.take(redraw)
  local function enter() output.put(ENTER .. HIDE) end
  local function leave() output.put(SHOW .. LEAVE) end
  local keep = leaving.before(leave)
  enter()
  signals.watch("WINCH", redraw)
  stop_and_go_on(enter, leave, redraw)
  local has_shown = false
  local function show(lines)
    -- If zklock has not written the last screen yet, the terminal is slow or
    -- stopped. Then zklock skips this screen.
    if has_shown and not output.is_idle() then return end
    has_shown = true
    output.put(HOME .. table.concat(lines, TO_END_OF_LINE .. "\r\n")
      .. TO_END_OF_LINE .. TO_END)
  end
  return show, function()
    keep()
    leave()
  end
end

--- Returns whether standard input is a terminal.
function terminal.can_ask() return uv.guess_handle(0) == "tty" end

--- Asks a question, and returns the user's answer, one line; nil at the end of
-- the input.
function terminal.ask(question)
  while not talk.write(question) do await.seconds(PACE) end
  while not talk.is_idle() do await.seconds(PACE) end
  local tty = assert(uv.new_tty(0, true))
  local line = await.call(function(go_on)
    local text = ""
    tty:read_start(function(problem, chunk)
      if problem or not chunk then return go_on(nil) end
      text = text .. chunk
      if text:find "\n" then go_on((text:match "^[^\n]*")) end
    end)
  end)
  tty:close()
  return line
end

return terminal
