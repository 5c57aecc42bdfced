--- Runs the blocks of a page, in order: each language as CONTRIBUTING.md says.
local checks = require "documents.checks"
local directory = require "support.command".directory
local lfs = require "lfs"
local nginx = require "nginx.server"
local quote = require "support.command".quote
local reader = require "documents.reader"
local same = require "documents.same"
local write = require "support.files".write
local stores = require "documents.stores"
local support = require "support"
local Terminal = require "documents.terminal"

local root = os.getenv "SPEC_ROOT" or "."

local Page = {}
Page.__index = Page

-- What fragments may take as given: `<!-- needs: mutex -->`.
local given = {
  { "session", 'local zklock = require "zklock" local session = '
    .. 'assert(zklock.connect(os.getenv "ZKLOCK_HOSTS")) ' },
  { "mutex", 'local mutex = session:mutex "/locks/orders" ' },
  { "guard", "local guard = assert(mutex:acquire(5)) " },
}

local function prologue(need)
  local text = ""
  for _, one in ipairs(given) do
    text = text .. one[2]
    if one[1] == need then return text end
  end
  error("nothing is known of this need: " .. need, 0)
end

-- Where the server is that the page itself has started.
function Page:own_server()
  local server = self.terminals.server
  return server and server:output():match "hosts=(%S+)"
end

-- The servers of the examples are ours, in a chroot of the page's own, or the
-- page's own.
function Page:with_servers(text)
  local hosts = self:own_server() or self.hosts
  if self.redis then text = text:gsub("6379", self.redis) end
  if self.web then text = text:gsub("localhost:8080", self.web) end
  return (text:gsub("zk1:2181,zk2:2181,zk3:2181/%l+", hosts)
    :gsub("zk1:2181,zk2:2181,zk3:2181", hosts)
    :gsub("zk1:2181,zk2:2181", hosts)
    :gsub("zk1:2181", hosts):gsub("localhost:2181", hosts)
    :gsub("127%.0%.0%.1:2181", hosts))
end

function Page:terminal(name)
  name = name or "1"
  local terminal = self.terminals[name]
  if not terminal then
    self.env.ZKLOCK_HOSTS = self:own_server() or self.hosts
    terminal = support.closing(Terminal.start(self.dir, name, self.env))
    self.terminals[name] = terminal
  end
  return terminal
end

-- The files that these commands name are not forgotten ones.
function Page:strike_off(commands)
  for name in pairs(self.files) do
    if commands:find(name, 1, true) then self.files[name] = nil end
  end
end

-- (In several terminals, one after the other: `<!-- terminal: 1 2 3 -->`.)
function Page:run(commands, notes)
  self:strike_off(commands)
  for name in (notes.terminal or "1"):gmatch "%S+" do
    self:run_in(self:terminal(name), commands, notes)
  end
end

function Page:run_in(terminal, commands, notes)
  terminal:send(self:with_servers(commands))
  self.last = terminal
  if notes["goes on"] then return end
  local status = terminal:wait(60)
  if status ~= 0 then
    error(("it ended with %d:\n%s"):format(status, terminal:output()), 0)
  end
end

local kinds = {}

function kinds.lua(self, block)
  local notes = block.notes
  local text = (notes.needs and prologue(notes.needs) or "")
    .. (notes.lua and notes.lua:gsub("\n", " ") .. " " or "") .. block.text
    .. (notes.after or "")
  checks.lua(text)
  if notes["only compiles"] then return end
  self.programs = self.programs + 1
  local name = notes.file or ("block%d.lua"):format(self.programs)
  write(self.dir .. "/" .. name, self:with_servers(text))
  if notes.file then
    self.files[name] = block.line
  else
    self:run(("%s %s"):format(support.lua, name), notes)
  end
end

function kinds.sh(self, block)
  if block.notes["not run here"] then return checks.sh(block.text) end
  if block.notes.file then
    checks.sh(block.text)
    write(self.dir .. "/" .. block.notes.file, self:with_servers(block.text))
    self.files[block.notes.file] = block.line
  else
    self:run(block.text, block.notes)
  end
end

-- (What has ended writes no more: nobody waits for it.)
local function compare(shown, terminal)
  local does_fit
  pcall(support.wait_until, function()
    local is_over = terminal:is_over()
    does_fit = same(shown, terminal:output())
    return does_fit or is_over
  end, 30)
  if not does_fit then
    error(("what came out is not what the page shows:\n%s"):format(
      terminal:output()), 0)
  end
end

function kinds.text(self, block)
  if block.notes.sketch then return checks.sketch(block.text) end
  local terminal = block.notes.terminal and self:terminal(block.notes.terminal)
    or self.last
  if not terminal then error("this is the output of nothing", 0) end
  compare(block.text, terminal)
end

-- `$ command`, and what it prints, several times.
function kinds.console(self, block)
  local command, output = nil, {}
  local function run()
    if not command then return end
    self:run(command, block.notes)
    local text = table.concat(output, "\n") .. "\n"
    if text:find "%S" then compare(text, self.last) end
  end
  for line in block.text:gmatch "([^\n]*)\n" do
    local next_command = line:match "^%$ (.*)"
    if next_command then
      run()
      command, output = next_command, {}
    elseif not command then
      error("a console's block begins with a command, $ …", 0)
    else
      output[#output + 1] = line
    end
  end
  run()
end

-- In the context `http` stands a whole server, at port 8080, which later
-- commands may ask; in `main` a whole configuration, which is run as it is.
local function start_nginx(self, text, context)
  if context == "main" then
    local server = nginx.start_page(text, self.hosts)
    self.web = "127.0.0.1:" .. server.port
    return server
  end
  self.web = "127.0.0.1:" .. support.free_port()
  return nginx.start { workers = 2, [context] = self:with_servers(text)
    :gsub("listen 8080;", ("listen %s;"):format(self.web)) }
end

-- `get` is a list of lines `PATH STATUS`.
function kinds.nginx(self, block)
  if nginx.missing() then error(nginx.missing(), 0) end
  local notes, context = block.notes, block.notes.context or "server"
  if context == "main" and nginx.no_place() then return end
  local server = start_nginx(self, block.text, context)
  server.may_complain = notes.get
  for path, status in (notes.get or ""):gmatch "(/%S*)%s+(%d+)" do
    local body, got = server:get(path)
    if got ~= tonumber(status) then
      error(("%s: %s %s\n%s"):format(path, tostring(got), tostring(body),
        server:log()), 0)
    end
    self.last = { output = function() return body end,
      is_over = function() return true end }
  end
end

-- What a note asks for before the block; false where its store is not here.
function Page:prepare(notes)
  local store = notes.with
  if store and self.stores[store] == nil then
    self.stores[store] = stores[store](self)
  end
  if store and not self.stores[store] then return false end
  if notes.before then
    self:run(notes.before, { terminal = notes.terminal })
  end
  if notes.keys then
    local name, key = notes.keys:match "^(%S+) Ctrl%-(%u)$"
    self:terminal(name):key(key == "C" and "INT" or "TSTP")
  end
  return true
end

function Page:step(block)
  if not self:prepare(block.notes) then
    self:strike_off(block.text)
    return block.lang == "sh" and checks.sh(block.text)
  end
  if not block.lang then return end
  if kinds[block.lang] then return kinds[block.lang](self, block) end
  local check = block.lang ~= "sketch" and checks[block.lang]
  if not check then
    error("nothing looks at blocks of " .. block.lang, 0)
  end
  check(block.text)
end

--- Runs all blocks of a file; an error names the block.  `name` is the page's.
function Page.run_all(file, name)
  local dir = directory()
  assert(lfs.mkdir(dir .. "/.bin"))
  lfs.link(root, dir .. "/zklock", true)
  write(dir .. "/.bin/zklock", ("#!/bin/sh\nexec %s %s \"$@\"\n"):format(
    support.lua, quote(root .. "/lua/zklock/cli/main.lua")), "755")
  local self = setmetatable({ dir = dir, hosts = support.hosts
    .. support.path(), terminals = {}, files = {}, programs = 0,
    stores = {} }, Page)
  self.env = {
    ZKLOCK_HOSTS = self.hosts, XDG_CONFIG_HOME = "/nonexistent",
    PATH = dir .. "/.bin:" .. os.getenv "PATH" .. ":/usr/sbin",
    -- Debian has some libraries for 5.3 only, which are the same for 5.4.
    LUA_PATH = os.getenv "LUA_PATH" .. ";/usr/share/lua/5.3/?.lua",
  }
  local blocks = reader.read(file, name)
  for _, block in ipairs(blocks) do
    local ok, problem = pcall(self.step, self, block)
    if not ok then
      error(("%s:%d: %s"):format(name, block.line, tostring(problem)), 0)
    end
  end
  for left, line in pairs(self.files) do
    error(("%s:%d: nothing runs %s"):format(name, line, left), 0)
  end
  return #blocks
end

return Page
