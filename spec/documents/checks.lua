--- What is looked at where a block cannot be run: its syntax, and that the
-- commands of ours in it are there.
local python = require "support.python"
local quote = require "support.command".quote
local files = require "support.files"
local read = files.read
local shell = require "support.shell"

local root = os.getenv "SPEC_ROOT" or "."

local checks = {}

-- Runs a command on the text, whose file is `$1`.
local function pass(text, command)
  local ok, output = files.with(text, function(name)
    return shell.run(("set -- %s; %s"):format(quote(name), command))
  end)
  if not ok then error(output, 0) end
end

local function compile(text)
  return (loadstring or load)(text, "=block")
end

function checks.lua(text) assert(compile(text)) end

-- A check by Python code that uses a module and finds the text in `text`.
local function by_python(module, code)
  return function(text)
    pass(text, ("%s -c 'import sys, %s\ntext = open(sys.argv[1]).read()\n%s' "
      .. '"$1"'):format(python(module), module, code))
  end
end

checks.python = by_python("ast", "ast.parse(text)")
checks.yaml = by_python("yaml", "list(yaml.safe_load_all(text))")

function checks.properties(text)
  for line in text:gmatch "[^\n]+" do
    assert(line:find "^%s*#" or line:find "^[%w._-]+%s*=", line)
  end
end

-- (metrics_spec.lua reads the queries.)
function checks.promql() end

-- What the tree has: goals of make, what `make deps` is for, our commands.
local function known(file, pattern)
  return read(root .. "/" .. file):find(pattern)
end

local function check_words(line)
  for target in line:gsub("luarocks%s.*", ""):gmatch
    "%f[%w]make%s+([%l][%w/-]*)" do
    assert(target:find "^build/" or known("Makefile", "\n[%w%s-]*%f[%w-]"
      .. target:gsub("%-", "%%-") .. "%f[^%w-][%w%s-]*:"),
      "no target of make: " .. target)
  end
  for purposes in line:gmatch "FOR='?([%l%s]+)" do
    for purpose in purposes:gmatch "%l+" do
      assert(known(".ci/install", "%f[%l]" .. purpose .. "%f[%L]"), purpose)
    end
  end
  for command in line:gmatch "%f[%w]zklock%s+([%l]+)" do
    assert(known("lua/zklock/cli/parser.lua", '"' .. command .. '"'),
      "no command of zklock: " .. command)
  end
end

--- Lines of cron: five fields and a command.
function checks.crontab(text)
  for line in text:gmatch "[^\n]+" do
    if not line:find "^%s*#" and not line:find "^%u+=" then
      local fields = ("[%d*][%d*/,-]*%s+"):rep(5)
      checks.sh(assert(line:match("^" .. fields .. "(%S.*)$"), line) .. "\n")
    end
  end
end

--- Commands that are not run.
function checks.sh(text)
  pass(text, "bash -n \"$1\"")
  for line in text:gmatch "[^\n]+" do
    if not line:find "^%s*#" then check_words(line) end
  end
end

--- A drawing, a schema, pseudo code: whatever is a program is no sketch.
function checks.sketch(text)
  assert(not text:find "%f[^\n\0]%s*%$ ", "a command is no sketch")
  assert(not text:find('require "zklock', 1, true), "a program is no sketch")
  assert(not compile(text), "this compiles: it is no sketch")
end

return checks
