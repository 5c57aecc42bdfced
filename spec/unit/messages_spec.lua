-- The list of messages that `make messages` prints: does it have what the tests
-- expect of the library?
local sayings = require "support.sayings"

local root = os.getenv "SPEC_ROOT" or "."
local DIRECTORY = root .. "/doc/make/"

local saved = package.path
package.path = DIRECTORY .. "?.lua;" .. saved
local lex = require "lex"
local sentences = require "sentences"
package.path = saved

local function files()
  local list = {}
  local pipe = assert(io.popen(("find '%s/spec' -name '*.lua'"):format(root)))
  for name in pipe:lines() do list[#list + 1] = name end
  pipe:close()
  table.sort(list)
  return list
end

-- What a test expects, of a pattern as well: with an X for what may be there.
local function plain(text)
  return (text:gsub("^%^", ""):gsub("%$$", ""):gsub("<[^>]*>", "X")
    :gsub("%[^?[^%]]*%]", "X"):gsub("[.%%][%wS]?[*+-]", "X")
    :gsub("%%(%p)", "%1"))
end

-- Every sentence in the specs that begins with the library's name.
local function expected()
  local list = {}
  for _, name in ipairs(files()) do
    local file = assert(io.open(name, "rb"))
    local tokens = lex.lua(file:read "*a")
    file:close()
    for _, one in ipairs(sentences.read(tokens, false, {}, {})) do
      if one.text:find "^%^?zklock: %S+ %S+ %S"
          and not name:find "messages_spec"
          and not name:find "errors_spec" then
        for line in plain(one.text):gmatch "[^\n]+" do
          list[#list + 1] = { where = name .. ":" .. one.line, text = line }
        end
      end
    end
  end
  return list
end

-- What the system says, times (`-v`), and what stands behind a name as an entry
-- of its own.
local function is_known(list, text)
  return text:find "No such file or directory" ~= nil
    or text:find "^zklock: X X%+? ms$" ~= nil
    or sayings.find(list, text, true) ~= nil
    or sayings.find(list, text:gsub("^zklock: %S+ ", ""), true) ~= nil
end

describe("The list of messages", function()
  it("has what the other specs expect", function()
    local list, missing, texts = sayings.all(), {}, expected()
    for _, one in ipairs(texts) do
      if not is_known(list, one.text) then
        missing[#missing + 1] = one.where .. ": " .. one.text
      end
    end
    assert.is_true(#texts > 80, #texts)
    assert.equal("", table.concat(missing, "\n"))
  end)

  it("would miss a sentence that is not there", function()
    local text = sayings.list()
    local known = "zklock: the wait for /locks/x was cancelled"
    assert.truthy(sayings.find(sayings.all(), known))
    local without = sayings.read((text:gsub("[^\n]*cancelled`[^\n]*\n", "")))
    assert.is_nil(sayings.find(without, known, true))
    for _, wrong in ipairs { "zklock: the wait for /locks/x was canceled",
      "zklock: it rains", "zklock: no server could be found" } do
      assert.is_false(is_known(sayings.all(), wrong), wrong)
    end
  end)
end)
