-- What --help says, and the manual pages that doc/make/man.lua makes of it.
local command = require "support.command"
local exit = require "zklock.cli.exit"
local new_parser = require "zklock.cli.parser"
local read = require "support.files".read
local shell = require "support.shell"
local support = require "support"
require "luv" -- whose loop stays

local root = os.getenv "SPEC_ROOT" or "."

-- What a reader of the page sees of it, in one line.
local function read_page(text)
  return (text:gsub("\\f[BR]", ""):gsub("\\%-", "-"):gsub("\\%(aq", "'")
    :gsub("\\%(ti", "~"):gsub("\\&", ""):gsub("\\e", "\\"):gsub("%s+", " "))
end

local function contains(text, what)
  if not text:find(what, 1, true) then
    error(("%q is not in %s"):format(what, text), 2)
  end
end

local function has_code(text, code, ...)
  assert.truthy(text:find("\n +" .. code .. "  %S"), code, ...)
end

describe("The manual", function()
  local directory

  before_each(function()
    directory = command.directory()
    shell.must(("cd '%s' && %s doc/make/man.lua '%s'"):format(root, support.lua,
      directory))
    directory = directory .. "/man/man1"
  end)

  it("is what --help says, within the width of a terminal", function()
    local parser, commands = new_parser()
    commands[#commands + 1] = { parser = parser }
    for _, one in ipairs(commands) do
      local said = command.run { one.name or "-v", "--help" }
      assert.same({ code = 0, out = one.parser:get_help() .. "\n", err = "" },
        said)
      for line in said.out:gmatch "[^\n]+" do
        assert.is_nil(line:find "[^ -~]" or line:find(("."):rep(80)), line)
      end
    end
  end)

  it("is written as pages, which have each line of it", function()
    local _, commands = new_parser()
    for _, one in ipairs(commands) do
      local name = directory .. "/zklock-" .. one.name .. ".1"
      local page = read(name)
      assert.equal("0\n", shell.output(("groff -man -ww -Tutf8 '%s' 2>&1 "
        .. ">/dev/null; echo $?"):format(name)), name)
      page = read_page(page)
      contains(page, ("NAME zklock-%s - %s .SH"):format(one.name, one.summary))
      for text in one.parser:get_help():gmatch "[^\n]+" do
        local line = text:gsub("^Usage: ", ""):gsub(":$", "")
        for part in line:gsub("  +", "\n"):gmatch "[^\n]+" do
          contains(page, line:find "^%u[%l ]+$" and line:upper() or part)
        end
      end
    end
    contains(read_page(read(directory .. "/zklock-run.1")),
      ".TP -t SECONDS, --timeout SECONDS how long to wait for the lock")
  end)

  it("has every exit code, and every setting", function()
    local help = command.run({ "run", "--help" }).out
    for name, code in pairs(exit.codes) do has_code(help, code, name) end
    local page = read_page(read(directory .. "/zklock.1"))
    for key, setting in pairs(require "zklock.cli.config".settings) do
      contains(page, key)
      if setting.variable then contains(page, setting.variable) end
    end
    contains(page, require "zklock.cli.config".system_file)
  end)
end)
