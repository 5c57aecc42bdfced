-- The reference: all that there is is documented, and all that is documented is
-- there.  What there is is asked of the library itself, or read in its source.
local core = require "zklock.core"
local errors = require "zklock.errors"
local files = require "support.files"
local reference = require "support.reference"
local shell = require "support.shell"

local root = os.getenv "SPEC_ROOT" or "."
local all = reference.read()

local function source(name) return files.read(root .. "/" .. name) end

local function sorted(set)
  local list = {}
  for key in pairs(set) do list[#list + 1] = tostring(key) end
  table.sort(list)
  return table.concat(list, " ")
end

local function set_of(words)
  local set = {}
  for word in words:gmatch "%S+" do set[word] = true end
  return set
end

local function keys(map)
  local set = {}
  for key in pairs(map) do set[key] = true end
  return set
end

local function fields(class) return keys(reference.fields(all, class)) end

-- The library, and what it says of itself while it is loaded: the classes that
-- have public methods, and the schemas of options.
local classes, schemas, usages = {}, {}, {}
local function listen(check)
  local schema, methods = require "zklock.schema", check.methods
  local new = schema.new
  function schema.new(...)
    schemas[#schemas + 1] = new(...)
    return schemas[#schemas]
  end
  function check.methods(class, text)
    local prefix = text:match "([%l_]+):"
    classes[prefix] = classes[prefix] or {}
    table.insert(classes[prefix], class)
    for usage, arguments in text:gmatch "([%l_]+:[%l_]+)%(([^)]*)%)" do
      usages[usage] = select(2, arguments:gsub("[^,]+", ""))
    end
    return methods(class, text)
  end
end
local loaded = reference.load(listen, { "zklock", "zklock.ngx",
  "zklock.session", "zklock.options" })
-- (Its core is another one.)
loaded["zklock.testing"] = reference.load(listen, { "zklock.testing" },
  "zklock.testing.core")["zklock.testing"]

local function documented_functions(prefix)
  local set = {}
  for _, entry in ipairs(reference.functions(all)) do
    local name = reference.name(entry)
    if name:sub(1, #prefix) == prefix
        and not name:sub(#prefix + 1):find "[.:]" then
      set[entry.name] = true
    end
  end
  return set
end

describe("doc/api.md", function()
  it("is what the annotations say: make reference", function()
    assert.is_true(reference.page(all) == source "doc/api.md",
      "doc/api.md is not what `make reference` writes")
  end)

  it("has all files of annotations", function()
    local names = {}
    for name in shell.output(("ls '%s/lua/zklock/meta'"):format(root))
        :gmatch "([^\n]*)%.lua\n" do
      names[name] = true
    end
    assert.equal(sorted(reference.texts()), sorted(names))
  end)

  -- (Where the links lead: documents/links_spec.lua.)
  it("has each heading once", function()
    local text = source "doc/api.md":gsub("\n```.-\n```", "")
    local anchors = {}
    for title in text:gmatch "\n#+ ([^\n]+)" do
      local anchor = title:lower():gsub("[^%w _-]", ""):gsub(" ", "-")
      assert.is_nil(anchors[anchor], anchor)
      anchors[anchor] = true
    end
  end)

  it("has no pages of annotations that run", function()
    for name, text in pairs(reference.texts()) do
      assert.matches("^%-%-%-@meta _\n", text, name)
    end
  end)
end)

describe("The reference and the library have the same", function()
  it("methods of each class", function()
    local seen = 0
    for prefix, list in pairs(classes) do
      local live = {}
      for _, class in ipairs(list) do
        for name, value in pairs(class) do
          if type(value) == "function" and not name:find "^_" then
            live[name] = true
          end
        end
      end
      assert.equal(sorted(documented_functions(prefix .. ":")), sorted(live),
        prefix)
      seen = seen + 1
    end
    assert.is_true(seen >= 7)
  end)

  it("classes", function()
    local documented = {}
    for _, entry in ipairs(reference.functions(all)) do
      if entry.separator == ":" then documented[entry.variable] = true end
    end
    assert.equal(sorted(documented), sorted(keys(classes)))
  end)

  it("arguments of methods", function()
    -- (multi has a second one to say that there is none.)
    usages["session:multi"] = usages["session:multi"] - 1
    for _, entry in ipairs(reference.functions(all)) do
      local name = reference.name(entry)
      if usages[name] then
        assert.equal(usages[name], #entry.params, name)
      end
    end
  end)

  it("functions and fields of the modules", function()
    for name, class in pairs { zklock = "zklock.Module",
        ["zklock.ngx"] = "zklock.ngx.Module",
        ["zklock.testing"] = "zklock.testing.Module" } do
      local documented = documented_functions(name .. ".")
      for field in pairs(fields(class)) do documented[field] = true end
      assert.equal(sorted(documented), sorted(keys(loaded[name])))
    end
  end)
end)

local function words_in(text, pattern)
  local words = {}
  for word in text:gmatch(pattern) do words[word] = true end
  return words
end

local QUOTED = '"(%w+)"'

describe("The options", function()
  -- All classes of options, by what is in them.
  local documented = {}
  for name in pairs(all.classes) do
    if name:find "Options$" or name == "zklock.ngx.Status"
        or name == "zklock.Credential"
        or name == "zklock.ACLEntry" or name == "zklock.TLSFiles" then
      documented[sorted(fields(name))] = name
    end
  end

  local live = {}
  for _, schema in ipairs(schemas) do live[sorted(schema.has)] = schema end

  it("are documented", function()
    for words in pairs(live) do
      assert.is_truthy(documented[words], "not documented: " .. words)
    end
  end)

  it("that are documented are there", function()
    for words, name in pairs(documented) do
      assert.is_truthy(live[words], ("%s has %s"):format(name, words))
    end
  end)

  -- Else they could not be found here.
  it("are read by schemas", function()
    local text = shell.output(("cat '%s'/lua/zklock/*.lua "
      .. "'%s'/lua/zklock/*/*.lua"):format(root, root))
    local _, n = text:gsub("unknown option %%q in", "")
    assert.equal(1, n)
    assert.is_true(#schemas >= 20)
  end)

  -- Each option that is documented, with its row in the schema.
  local rows = {}
  for words, class in pairs(documented) do
    local of_class = reference.fields(all, class)
    for _, row in ipairs(live[words]) do
      rows[#rows + 1] = { row = row, field = of_class[row[1]],
        name = class .. "." .. row[1] }
    end
  end

  it("have the defaults that are documented", function()
    local n = 0
    for _, one in ipairs(rows) do
      local default = one.row[3]
      -- (What is {} or false here is documented in other words.)
      if default and type(default) ~= "table" then
        assert.equal(one.field.default:gsub('[`"]', ""), tostring(default),
          one.name)
        n = n + 1
      end
    end
    assert.is_true(n >= 15, n)
  end)

  -- By the message that refuses another word.
  it("have the words that are documented", function()
    local n = 0
    for _, one in ipairs(rows) do
      local ok, problem = pcall(one.row[2], "no such word", one.name, {})
      local words = ok and "" or sorted(words_in(
        problem:match " must be (.*)" or "", QUOTED))
      assert.equal(sorted(words_in(one.field.type, QUOTED)), words, one.name)
      if words ~= "" then n = n + 1 end
    end
    assert.is_true(n >= 6, n)
  end)
end)

-- Of each class of words those that the code has.
local words_of = {}

function words_of.Signal()
  local _, problem = pcall(loaded.zklock.release_on_signal, "SEGV")
  return words_in(problem:match "(.-), got ", "(%u%u+)")
end

function words_of.Code() return keys(errors.codes) end
function words_of.Reason() return keys(errors.losses) end

function words_of.SessionState()
  return words_in(source "src/protocol/session.h"
    :match "define SESSION_STATES.-\n\n", 'X%(%u+, "(%l+)"%)')
end

function words_of.GuardState()
  local words = words_in(source "src/lua/lua_hold_ref.c"
    :match "\nstatic int hold_ref_state.-\n}\n", '"(%l+)"')
  words.waiting, words.refused = nil, nil -- there is no guard then
  return words
end

function words_of.Mode()
  local modes = words_in(source "src/lua/lua_ask.c"
    :match "binding_roles%[%] = (%b{})", '"([%l-]+)"')
  -- These are told by another's name, or not at all.
  for word in pairs(set_of "kazoo-lock kazoo-read latch hold") do
    assert.is_true(modes[word])
    modes[word] = nil
  end
  return modes
end

function words_of.LogLevel()
  local text, levels = shell.output(("cat '%s'/src/*/*.c '%s'/lua/zklock/*.lua")
    :format(root, root)), {}
  for _, pattern in ipairs { 'log_say%([^;]-, "(%l+)",',
      'log_throttled%([^;]-, "(%l+)",', ':report%("(%l+)",' } do
    for level in pairs(words_in(text, pattern)) do levels[level] = true end
  end
  return levels
end

describe("The words of", function()
  for name, words in pairs(words_of) do
    it("zklock." .. name .. " are those that are documented", function()
      assert.equal(sorted(reference.words(all, "zklock." .. name)),
        sorted(words()))
    end)
  end

  it("zklock.Errors are the codes", function()
    assert.equal(sorted(keys(errors.codes)), sorted(fields "zklock.Errors"))
  end)
end)

describe("The tables", function()
  it("of counters are those that are documented", function()
    local session = assert(core.open { hosts = "127.0.0.1:1",
      session_timeout = 4 })
    local stats = session:stats()
    session:leave()
    assert.equal(sorted(fields "zklock.Stats"), sorted(keys(stats)))
    assert.equal(sorted(fields "zklock.InternalStats"),
      sorted(keys(stats.internal)))
    assert.equal(28, #stats.wait_histogram)
  end)

  it("of adapters have the functions that are documented", function()
    local used = {}
    for _, name in ipairs { "adapters", "wait", "loop/init" } do
      local text = source("lua/zklock/" .. name .. ".lua")
      for word in text:gmatch "%f[%w_]adapter%.([%l_]+)" do
        used[word] = true
      end
    end
    used.here = nil -- of this library's own
    assert.equal(sorted(fields "zklock.Adapter"), sorted(used))
  end)
end)
