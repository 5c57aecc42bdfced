--- A terminal of its own, with a shell in it, driven by tmux.
--
--     local terminal = Terminal.open()
--     terminal:type "sleep 100"      -- and Enter
--     terminal:press "C-c"
--     terminal:expect "%^C"          -- until the screen shows it
local command = require "support.command"
local lfs = require "lfs"
local output = require "support.shell".output
local support = require "support"

local Terminal = {}
Terminal.__index = Terminal

local numbers = 0

-- Runs tmux with these arguments; what it says.
local function tmux(self, format, ...)
  return output(("unset TMUX; exec tmux -L %s -f /dev/null %s 2>&1"):format(
    self.name, format:format(...)))
end

--- With this many columns and rows; the shell is bash, as a user has it.  What
-- is written to it also goes into the file `log`.
function Terminal.open(columns, rows)
  numbers = numbers + 1
  local self = setmetatable({
    name = ("zklock-%d-%d"):format(support.pid(), numbers),
    log = command.file "",
  }, Terminal)
  local said = tmux(self, "new-session -d -x %d -y %d %s \\; pipe-pane -O %s",
    columns or 100, rows or 24,
    command.quote("PS1='ready$ ' exec bash --norc --noprofile -i"),
    command.quote("exec cat >" .. self.log))
  if said ~= "" then error("tmux is needed for this: " .. said, 2) end
  support.closing(self)
  self:expect "ready%$ $"
  return self
end

function Terminal:type(line)
  tmux(self, "send-keys -l %s \\; send-keys Enter", command.quote(line))
end

function Terminal:press(key) tmux(self, "send-keys %s", key) end

function Terminal:resize(columns, rows)
  tmux(self, "resize-window -x %d -y %d", columns, rows)
end

--- What is on the screen, without what is empty at its end.
function Terminal:screen()
  return (tmux(self, "capture-pane -p -J"):gsub("%s+$", " ")
    :gsub(" +\n", "\n"))
end

--- Waits until the screen has this pattern; its match.  (A look at the screen
-- costs two processes: it is for when more has been written, or now and then.)
function Terminal:expect(pattern, seconds)
  local seen, again = nil, 0
  local ok, match = pcall(support.wait_until, function()
    local size, now = lfs.attributes(self.log, "size"), support.now()
    if size == seen and now < again then return false end
    seen, again = size, now + 2
    return self:screen():match(pattern)
  end, seconds or 10)
  if not ok then
    error(("the terminal does not show %q but:\n%s"):format(pattern,
      self:screen()), 2)
  end
  return match
end

function Terminal:close() tmux(self, "kill-server") end

return Terminal
