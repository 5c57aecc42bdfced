--- The shell command `zklock`, as a process of its own.
--
--     local said = command.run { "ls", path }        -- .code .out .err
--     local it = command.start { "watch", path }     -- .pid
--     it:signal "TERM"
--     assert.equal(143, it:wait())
--
-- Options: `env` { NAME = "value", or false: not set }, `stdin` (a text; none:
-- /dev/null), `err` (the file for standard error), `cwd`, `seconds` (run's
-- patience), `before` (words in front of the interpreter), `program`.  By
-- $ZKLOCK_HOSTS it finds the specs' servers; of whoever runs the specs it sees
-- no settings.  What is left when the test ends is killed.
local files = require "support.files"
local json = require "dkjson"
local read, write = files.read, files.write
local shell = require "support.shell"
local quote = shell.quote
local support = require "support"

local command = {}

local Command = {}
Command.__index = Command

local program = (os.getenv "SPEC_ROOT" or ".") .. "/lua/zklock/cli/main.lua"

command.quote = quote

-- Whoever starts something in the background of a script has it ignore SIGINT:
-- so do the specs' own processes, and a shell cannot undo it.  (LuaSocket
-- ignores SIGPIPE.)
local env = "env --default-signal=INT,QUIT,PIPE"

local function environment(given)
  local all = {
    ZKLOCK_HOSTS = support.hosts,
    ZKLOCK_CHROOT = false,
    ZKLOCK_AUTH_FILE = false,
    ZKLOCK_SESSION_TIMEOUT = false,
    XDG_CONFIG_HOME = "/nonexistent",
  }
  for name, value in pairs(given or {}) do all[name] = value end
  local unset, set = {}, {}
  for name, value in pairs(all) do
    if value then
      set[#set + 1] = quote(name .. "=" .. value)
    else
      unset[#unset + 1] = "-u " .. name
    end
  end
  return table.concat(unset, " ") .. " " .. table.concat(set, " ")
end

--- A file with this text, until the test ends; `mode` is chmod's.
function command.file(text, mode)
  return write(support.closing(os.tmpname(), os.remove), text, mode)
end

--- Waits until a file has this pattern; the match.
function command.await_file(name, pattern)
  return support.wait_until(function() return read(name):match(pattern) end, 30,
    "what a command writes into a file")
end

--- A directory, until the test ends.
function command.directory()
  local name = shell.output "mktemp -d":match "%S+"
  return support.closing(name, function()
    os.execute("rm -rf " .. quote(name))
  end)
end

--- A new directory for $PATH: its only Lua is the one that runs the specs.
function command.only_lua(directory)
  assert(os.execute(([[mkdir %s && cd %s && ln -s "$(command -v %s)" lua &&
    ln -s "$(command -v readlink)" readlink]]):format(quote(directory),
    quote(directory), support.lua)))
  return directory
end

--- The words for a shell, in front of which `exec` may stand: for a pipe, or a
-- terminal.
function command.line(words, options)
  options = options or {}
  local line = { env, environment(options.env), options.before or "",
    support.lua, quote(options.program or program) }
  for _, word in ipairs(words) do line[#line + 1] = quote(word) end
  return table.concat(line, " ")
end

--- Starts it.
function command.start(words, options)
  options = options or {}
  local name = os.tmpname()
  local self = setmetatable({ name = name }, Command)
  local stdin = "/dev/null"
  if options.stdin then
    stdin = write(name .. ".in", options.stdin)
  end
  -- (One shell, and the words after it in its child.)
  self.handle = io.popen(([[
    exec 2>/dev/null
    cd %s || exit 1
    %s <%s >%s.out 2>%s &
    echo $!
    wait $!
    echo $? >%s.status
  ]]):format(quote(options.cwd or "."), command.line(words, options), stdin,
    name, options.err or name .. ".err", name))
  support.closing(self)
  self.pid = assert(tonumber((self.handle:read "*l")), "no command")
  return self
end

function Command:read(suffix) return files.find(self.name .. suffix) end

--- What it has written so far.
function Command:out() return self:read ".out" end
function Command:err() return self:read ".err" end

--- Its exit code, 128 and the number for a signal; nil while it lives.
function Command:status()
  return tonumber((self:read ".status":match "^(%d+)\n"))
end

--- "TERM", "INT", "STOP", "KILL", …
function Command:signal(name)
  os.execute(("kill -%s %d 2>/dev/null"):format(name, self.pid))
end

--- Waits for its end; its exit code.
function Command:wait(seconds)
  local ok, code = pcall(support.wait_until, function()
    return self:status()
  end, seconds or 60)
  if not ok then
    error(("the command has not ended; it said %q and %q"):format(self:out(),
      self:err()), 2)
  end
  return code
end

--- Waits until what it has written contains the pattern; the match.
function Command:expect(pattern, stream, seconds)
  local ok, match = pcall(support.wait_until, function()
    return self:read("." .. (stream or "out")):match(pattern)
  end, seconds or 30)
  if not ok then
    error(("the command did not say %q, but %q and %q"):format(pattern,
      self:out(), self:err()), 2)
  end
  return match
end

function Command:close()
  if not self.handle then return end
  if not self:status() and self.pid then self:signal "KILL" end
  self.handle:close()
  self.handle = nil
  for _, suffix in ipairs { "", ".in", ".out", ".err", ".status" } do
    os.remove(self.name .. suffix)
  end
end

--- Runs it to its end: { code =, out =, err = }.
function command.run(words, options)
  local it = command.start(words, options)
  local code = it:wait(options and options.seconds)
  local result = { code = code, out = it:out(), err = it:err() }
  it:close()
  return result
end

--- The rows of `zklock ls --json` with these words, and what `run` returns.
function command.rows(...)
  local rows, said = {}, command.run { "ls", "--json", ... }
  for line in said.out:gmatch "[^\n]+" do
    rows[#rows + 1] = json.decode(line)
  end
  return rows, said
end

return command
