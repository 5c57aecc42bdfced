--- A terminal of its own, by tmux, whose screen is looked at now and then.
--
--     local terminal = Terminal.open(76, 34)
--     terminal:type "make demo"
--     print(terminal:screen())       -- with the colours' escape sequences
local Terminal = {}
Terminal.__index = Terminal

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function tmux(self, ...)
  local words = { "unset TMUX; LC_ALL=C.UTF-8 tmux -u -f /dev/null -L",
    self.name }
  for _, word in ipairs { ... } do words[#words + 1] = quote(word) end
  local pipe = io.popen(table.concat(words, " ") .. " 2>&1")
  local said = pipe:read "*a"
  pipe:close()
  return said
end

function Terminal.open(columns, rows)
  local pipe = io.popen "echo $$"
  local self = setmetatable({
    name = "zklock-record-" .. pipe:read "*l",
  }, Terminal)
  pipe:close()
  local said = tmux(self, "new-session", "-d", "-x", tostring(columns), "-y",
    tostring(rows), "PS1='$ ' exec bash --norc --noprofile -i")
  if said ~= "" then error("tmux is needed for this: " .. said, 2) end
  return self
end

function Terminal:type(line)
  tmux(self, "send-keys", "-l", line)
  tmux(self, "send-keys", "Enter")
end

function Terminal:screen() return tmux(self, "capture-pane", "-e", "-p") end

function Terminal:close() tmux(self, "kill-server") end

return Terminal
