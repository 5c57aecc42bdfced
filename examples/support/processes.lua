--- Other processes that run the same example: what an example needs to show
-- several of them on one screen, and none of your programs needs.
--
-- Each is this interpreter with this script and the arguments HOSTS NAME …
local processes = {}

local own = arg -- (5.1 has another `arg` in a function with dots)

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function command(...)
  local lua = 0
  while own[lua - 1] do lua = lua - 1 end
  local words = { own[lua], own[0], ... }
  for i, word in ipairs(words) do words[i] = quote(word) end
  return table.concat(words, " ")
end

--- Starts one for each name, at the same time; what all of them print, line by
-- line. Ends this program where one of them has failed, after its own message.
function processes.lines(hosts, names, ...)
  local all, ends = {}, {}
  for i, name in ipairs(names) do
    all[i] = command(hosts, name, ...) .. " & p" .. i .. "=$!\n"
    ends[i] = "wait $p" .. i .. " || failed=yes\n"
  end
  local pipe = io.popen(table.concat(all) .. table.concat(ends)
    .. "[ -z \"$failed\" ] || echo FAILED")
  return function()
    local line = pipe:read()
    if not line then pipe:close() end
    if line == "FAILED" then os.exit(1) end
    return line
  end
end

local Process = {}
Process.__index = Process

-- Whatever becomes of us, nothing is left: somebody looks whether we are there.
local GUARDED = [[
sh -c 'echo $$; exec "$@"' sh %s & child=$!
(while kill -0 $PPID && kill -0 $child; do sleep 0.5; done
kill -9 $child) >/dev/null 2>&1 &
wait $child 2>/dev/null
]]

--- Starts one.
function processes.start(hosts, name)
  local pipe = io.popen(GUARDED:format(command(hosts, name)))
  return setmetatable({ pipe = pipe, pid = pipe:read() }, Process)
end

--- The next line that it prints; nil if it has ended.
function Process:read() return self.pipe:read() end

--- Sends it a signal: "TERM", "KILL".
function Process:kill(signal)
  os.execute(("kill -%s %s"):format(signal, self.pid))
end

--- Waits until it has ended.
function Process:wait() self.pipe:close() end

return processes
