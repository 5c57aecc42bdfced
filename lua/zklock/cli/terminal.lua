--- The terminal: its screen, and a question to who sits there.
local await = require "zklock.cli.await"
local leaving = require "zklock.cli.leaving"
local output = require "zklock.cli.output"
local signals = require "zklock.cli.signals"
local talk = require "zklock.cli.talk"
local uv = require "luv"

local terminal = {}

local HIDE, SHOW = "\27[?25l", "\27[?25h"
-- The other screen of the terminal, which leaves what was there as it was.
local ENTER, LEAVE = "\27[?1049h", "\27[?1049l"
local HOME, TO_END_OF_LINE, TO_END = "\27[H", "\27[K", "\27[J"

function terminal.is_output()
  return uv.guess_handle(1) == "tty"
end

-- The shell has its screen back while we are stopped.
local function stop_and_go_on(enter, leave, redraw)
  signals.watch("TSTP", function()
    leave(function() uv.kill(uv.os_getpid(), "sigstop") end)
  end)
  signals.watch("CONT", function()
    enter()
    redraw()
  end)
end

--- Takes the whole screen until the command ends; `redraw` when it has another
-- size, or has been ours again.  `show(lines)`, and what gives the screen back.
function terminal.take(redraw)
  local show, late -- what to show once a slow terminal has caught up
  local function catch_up()
    local lines = late
    late = nil
    if lines then show(lines) end
  end
  function show(lines)
    if not output.is_idle() then
      late = lines
      return
    end
    output.put(HOME .. table.concat(lines, TO_END_OF_LINE .. "\r\n")
      .. TO_END_OF_LINE .. TO_END, catch_up)
  end
  local function enter() output.put(ENTER .. HIDE, catch_up) end
  local function leave(go_on)
    late = nil
    output.put(SHOW .. LEAVE, go_on)
  end
  local keep = leaving.before(leave)
  enter()
  signals.watch("WINCH", redraw)
  stop_and_go_on(enter, leave, redraw)
  return show, function()
    keep()
    leave()
  end
end

--- May somebody be asked?
function terminal.can_ask() return uv.guess_handle(0) == "tty" end

--- What is answered, a line; nil at its end.
function terminal.ask(question)
  talk.write(question)
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
