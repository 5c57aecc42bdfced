-- The manual is complete: whatever the command takes, and every code that it
-- exits with, is in --help, in a manual page and in the shells' completion.
local command = require "support.command"
local completion = require "zklock.cli.completion"
local exit = require "zklock.cli.exit"
local help = require "zklock.cli.help"
local manpages = require "zklock.cli.manpages"
local manual = require "zklock.cli.manual"
local output = require "support.shell".output
local outline = require "zklock.cli.outline"
require "support"

-- What a reader of the page sees of it, in one line.
local function read_page(text)
  return (text:gsub("\\f[BIR]", ""):gsub("\\%-", "-"):gsub("\\%(aq", "'")
    :gsub("\\%(ga", "`"):gsub("\\%(ha", "^"):gsub("\\%(ti", "~")
    :gsub("\\&", ""):gsub("\\e", "\\"):gsub("%s+", " "))
end

local function contains(text, what)
  if not text:find(what, 1, true) then
    error(("%q is not in %s"):format(what, text), 2)
  end
end

-- Every option of the parser itself, of a command or of all of it.
local function parsed_options(name)
  local parser = require "zklock.cli.arguments".parser()
  local list = {}
  for _, one in ipairs(parser._commands) do
    if one._name == name then parser = one end
  end
  for _, option in ipairs(parser._options) do
    for _, alias in ipairs(option._aliases) do list[#list + 1] = alias end
  end
  assert(#list > 1)
  return list
end

local function completed(words)
  local found, set = completion.find(words, #words), {}
  for _, candidate in ipairs(found[1]) do set[candidate[1]] = true end
  return set
end

local pages = manpages.all()

-- The page and the help of a command: both contain this.
local function both_contain(described, what)
  contains(read_page(pages["zklock-" .. described.name .. ".1"]), what)
  contains(help.of(described):gsub("%s+", " "), what)
end

describe("The manual", function()
  it("has every option of each command, and says what it is for", function()
    for _, described in ipairs(manual.commands) do
      local candidates = completed { described.name, "-" }
      for _, option in ipairs(parsed_options(described.name)) do
        both_contain(described, option)
        assert.is_true(candidates[option], option)
      end
      for _, list in ipairs { described.options, manual.common } do
        for _, option in ipairs(list) do
          both_contain(described, table.concat(outline.names(option), ", ")
            .. (option.argument and " " .. option.argument or "") .. " "
            .. option.help)
        end
      end
    end
  end)

  it("has the exit codes of each command, and an example that can be read",
  function()
    for _, described in ipairs(manual.commands) do
      for _, one in ipairs(outline.exits(described)) do
        both_contain(described, one[1] .. " " .. one[2])
      end
      local page = read_page(pages["zklock-" .. described.name .. ".1"])
      for _, example in ipairs(described.examples or {}) do
        contains(page, example[1] .. " .fi .RS " .. example[2])
        both_contain(described, example[1])
        contains(example[1], "zklock " .. described.name)
      end
    end
  end)

  it("is what --help says", function()
    for _, described in ipairs(manual.commands) do
      local said = command.run { described.name, "--help" }
      assert.same({ code = 0, out = help.of(described) .. "\n", err = "" },
        said)
      for line in said.out:gmatch "[^\n]+" do -- it fits into a terminal
        assert.is_nil(line:find "[^ -~]" or line:find(("."):rep(80)), line)
      end
    end
    local said = command.run { "--help" }
    assert.same({ code = 0, out = help.of_all() .. "\n", err = "" }, said)
    local candidates = completed { "" }
    for _, described in ipairs(manual.commands) do
      contains(said.out, described.summary)
      assert.is_true(candidates[described.name])
    end
  end)

  it("has every exit code, and every setting", function()
    local page = read_page(pages["zklock.1"])
    local meanings = {}
    for _, one in ipairs(manual.exits) do
      contains(page, one[1] .. " " .. one[2])
      meanings[one[1]] = one[2]
    end
    for name, code in pairs(exit.codes) do
      assert.is_string(meanings[code], name)
    end
    for key in pairs(require "zklock.cli.settings_file".keys) do
      contains(page, key)
    end
    for _, variable in pairs(require "zklock.cli.config".variables) do
      contains(page, variable)
    end
    contains(page, require "zklock.cli.config".system_file)
  end)

  it("is written as pages that a reader of pages takes", function()
    for name, page in pairs(pages) do
      assert.is_nil(page:find "[^ -~\n]", name)
      assert.equal("0\n", output(("groff -man -ww -Tutf8 '%s' 2>&1 >/dev/null; "
        .. "echo $?"):format(command.file(page))), name)
    end
  end)
end)
