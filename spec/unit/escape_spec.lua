-- zklock.escape: any text as one component of a path.
local core = require "zklock.core"
local support = require "support"
local zklock = require "zklock"

local escape, unescape = zklock.escape, zklock.unescape
local misuse = support.misuse

-- Every marker, those of other recipes of Curator's and kazoo's, too.
local MARKERS = { "-lock-", "-__READ__", "-__WRIT__", "-lease-", "__lock__",
  "__rlock__", "-latch-", "__READ__", "__WRIT__", "_c_", "member_" }
local NUMBERS = { "0000000000", "0000000001", "2147483647", "-000000001",
  "-999999999", "-2147483648" }

-- 5.1 and LuaJIT begin with the same number in each process.
local seed = os.time() + support.pid()
math.randomseed(seed)
local random = math.random

local function pick(list) return list[random(#list)] end

local function bytes(most)
  local parts = {}
  for i = 1, random(0, most) do parts[i] = string.char(random(0, 255)) end
  return table.concat(parts)
end

-- What somebody writes who knows how names are read, and how they are escaped.
local pieces = { "=", "%", "%2D", "%2d", "/", ".", "..", "-", "_", "\0", "\n",
  "holder", "locks", "leases", "zookeeper", "sha256", "=sha256=", "ö", "\255" }
for _, list in ipairs { MARKERS, NUMBERS } do
  for _, text in ipairs(list) do pieces[#pieces + 1] = text end
end

local function adversarial()
  local parts = {}
  for i = 1, random(0, 5) do
    local piece = pick(pieces)
    local from = random(1, #piece)
    parts[i] = random(3) == 1 and piece:sub(from, random(from, #piece)) or piece
  end
  return table.concat(parts)
end

local function any_text()
  return random(2) == 1 and bytes(random(4) == 1 and 200 or 12)
    or adversarial()
end

-- (luassert's are slow.)
local function expect(condition, ...)
  if condition then return end
  error(("seed %d: "):format(seed) .. table.concat({ ... }, " "), 2)
end

local TEXTS = 5000

describe("An escaped text", function()
  it("shows ordinary text as it is", function()
    for text, expected in pairs {
      alice = "=alice=", [""] = "==", ["ann@example.com"] = "=ann@example.com=",
      ["42"] = "=42=", ["a/b"] = "=a%2Fb=", ["a b-1_2"] = "=a%20b%2D1%5F2=",
      ["ö"] = "=%C3%B6=", ["\0"] = "=%00=", ["\n"] = "=%0A=", ["="] = "=%3D=",
      ["%"] = "=%25=", ["."] = "=.=", [".."] = "=..=", ["\255"] = "=%FF=",
      holder = "=holder=", ["=a="] = "=%3Da%3D=",
    } do
      assert.equal(expected, escape(text))
      assert.equal(text, (unescape(expected)))
    end
  end)

  it("of more than 64 bytes is their SHA-256", function()
    local digest = "ac137fce49837c7c2945f6160d3c0e67"
      .. "9e6f40070850420a22bc10e0692cbdc7" -- by sha256sum
    assert.equal("=" .. ("a"):rep(64) .. "=", escape(("a"):rep(64)))
    assert.equal(194, #escape(("/"):rep(64)))
    assert.equal(73, #escape(("a"):rep(65)))
    assert.equal("=sha256=635361c48bb9eab14198e76ea8ab7f1a"
      .. "41685d6ad62aa9146d301d4f17eb0ae0=", escape(("a"):rep(65)))
    assert.equal("=sha256=" .. digest .. "=", escape(("a"):rep(66)))
    assert.equal(73, #escape(("x"):rep(2 ^ 24)))
    assert.equal("e3b0c44298fc1c149afbf4c8996fb924"
      .. "27ae41e4649b934ca495991b7852b855", core.sha256 "")
    assert.equal("ba7816bf8f01cfea414140de5dae2223"
      .. "b00361a396177a9cb410ff61f20015ad", core.sha256 "abc")
    assert.is_not.equal(core.sha256 "a\0b", core.sha256 "a\0c")
  end)

  it("differs for each text, and can be decoded up to 64 bytes", function()
    local seen = {}
    for _ = 1, TEXTS do
      local text = any_text()
      local made = escape(text)
      expect(seen[made] == nil or seen[made] == text, made)
      seen[made] = text
      local back, problem, code = unescape(made)
      if #text <= 64 then
        expect(back == text, made)
      else
        expect(back == nil and code == "invalid", made)
        expect(problem == "zklock: this is the hash of a text of more than 64 "
          .. "bytes, which cannot be reversed", made)
      end
    end
  end)

  it("differs from its text, even if the text is escaped already", function()
    for _, text in ipairs { escape "a", escape "a/b",
      escape(("a"):rep(65)), "" } do
      assert.is_not.equal(text, escape(text))
      assert.equal(text, #text <= 64 and unescape(escape(text)) or text)
    end
  end)

  it("is one safe path component, and no reserved name", function()
    local reserved = { [""] = true, ["."] = true, [".."] = true, holder = true,
      locks = true, leases = true, zookeeper = true }
    local function check(text)
      local made = escape(text)
      expect(not core.check_path("/" .. made), made)
      expect(made:find "^=[%w%%.@=]*=$", made)
      expect(#made <= 194 and not reserved[made], made)
    end
    for word in pairs(reserved) do check(word) end
    for _, piece in ipairs(pieces) do check(piece) end
    for _ = 1, TEXTS do check(any_text()) end
  end)

  -- `name_parse` itself, by the last component of a path.
  local function reads_as_contender(name) return core.contender_in(name) end

  it("breaks a contender's name if it replaces any part of it", function()
    local n = 0
    for _, marker in ipairs(MARKERS) do
      for _, number in ipairs(NUMBERS) do
        local name = "x" .. marker .. number
        for from = 1, #name + 1 do
          for to = from - 1, #name do
            local before, inside, behind =
              name:sub(1, from - 1), name:sub(from, to), name:sub(to + 1)
            local made = before .. escape(inside) .. behind
            n = n + 1
            expect(not reads_as_contender(made)
              == not reads_as_contender(behind), made)
          end
        end
      end
    end
    assert.is_true(n > 10000)
    -- (The names themselves are some: the test would see it.)
    assert.truthy(reads_as_contender "x-lock-0000000001")
    assert.truthy(reads_as_contender "x__rlock__-000000001")
  end)

  it("forms no contender's name with any text before and after it", function()
    for _ = 1, TEXTS do
      local before, behind = adversarial(), adversarial()
      behind = behind:gsub("/", "")
      if not reads_as_contender(behind) then
        local made = before:gsub("/", "") .. escape(any_text()) .. behind
        expect(not reads_as_contender(made), made)
      end
    end
    for _, made in ipairs { "user-lock-" .. escape "1234567890",
      escape "x-lock-" .. "0000000001", "x-lo" .. escape "ck-" .. "0000000001",
      "x-lock-" .. escape "" .. "0000000001", "x-lock-" .. escape "0000000001",
      "__lock__" .. escape "0000000000",
      "-lease-" .. escape "-" .. "000000001" } do
      assert.is_nil(reads_as_contender(made), made)
    end
  end)

  it("is misuse of what is no text", function()
    for value, got in pairs { [7] = "a number", [true] = "a boolean",
      [print] = "a function", [{}] = "a table" } do
      assert.equal("argument 1 of escape must be a string, got " .. got,
        misuse(function() escape(value) end))
      assert.equal("argument 1 of unescape must be a string, got " .. got,
        misuse(function() unescape(value) end))
    end
    assert.equal("argument 1 of escape must be a string, got nil",
      misuse(function() escape() end))
    assert.equal("zklock.escape(text) takes no more arguments, got a string, "
      .. "too", misuse(function() escape("a", "b") end))
  end)

  it("is not what is spelled otherwise", function()
    for _, text in ipairs { "", "=", "a", "=a", "a=", "=a b=", "=%2d=", "=%2=",
      "=%61=", "===", "=a=b=", " =a=", "=a=\n", "=ö=", "=a-b=", "/=a=",
      "=" .. ("a"):rep(65) .. "=", "=sha256==", "=sha256=00=",
      "=sha256=" .. ("A"):rep(64) .. "=", "=%\0=", "=\0=" } do
      local back, problem, code = unescape(text)
      assert.is_nil(back, text)
      assert.equal("invalid", code)
      assert.equal("zklock: this is not what zklock.escape returns for any "
        .. "text", problem)
    end
  end)
end)
