-- The witness of the torture (spec/torture): does it catch what is wrong, and
-- only that?
local files = require "support.files"
local journals = require "torture.journal"
local new_witness = require "torture.witness".new

-- "1.5 true 7 1.4\n…" → entries, through a file as in earnest.
local function entries(text)
  local lines = ("\n" .. text .. "\n"):gsub("\n%s*", "\n"):sub(2)
  return files.with(lines, journals.read)
end

-- Every client's text must come to its end; `harm`: what others have done.
local function judge(clients, harm)
  local witness = new_witness()
  witness:read_harm(entries(harm or ""))
  for name, text in pairs(clients) do
    witness:read_client(name, entries("0 event connected\n" .. text), 2)
  end
  witness:judge()
  return witness
end

local function verdict(clients, harm)
  local witness, kinds = judge(clients, harm), {}
  for _, violation in ipairs(witness.violations) do
    kinds[#kinds + 1] = violation.kind
  end
  return table.concat(kinds, " ")
end

-- A hold, believed from `hold[1]` to `hold[2]`, with the token `hold[3]`, in a
-- life of its own.
local function life(hold)
  local from, to, token = hold[1], hold[2], hold[3]
  local path = hold.path or "/a"
  return ([[
    %f wait 1 task 5 %s mutex
    %f granted 1 0xabc
    %f hold 1 %s %s %019d %d %s/node-%d
    %f true 1 %f
    %f true 1 %f
    %f released 1 true
    99 end
  ]]):format(from - 1, path, from - 0.5, from - 0.4, path, hold.mode or "W",
    token, hold.turn or 0, path, token, from, from - 0.1, to + 0.1, to,
    to + 0.2)
end

local FIVE = ("%019d"):format(5)

-- What is said of several lives, of each: the verdict, and a hold for each.
local lives = {
  ["has nothing against holds that follow each other"] = {
    { "", { 10, 11, 5 }, { 11, 12, 6 }, { 10, 12, 4, path = "/b" } },
  },
  ["sees two holders of one path"] = {
    { "overlap", { 10, 11, 5 }, { 10.999, 12, 6 } },
  },
  ["sees a holder inside of another one's long hold"] = {
    { "overlap overlap", { 10, 20, 5 }, { 12, 13, 6 }, { 14, 15, 7 } },
  },
  ["sees a writer beside a reader, and lets readers be together"] = {
    { "", { 10, 12, 5, mode = "R" }, { 11, 13, 4, mode = "R" } },
    { "overlap", { 10, 12, 5, mode = "R" }, { 11, 13, 6 } },
  },
  ["sees one permit too many"] = {
    { "", { 10.1, 12, 1, mode = "P2" }, { 10.2, 12, 2, mode = "P2" } },
    { "overlap", { 10.1, 12, 1, mode = "P2" }, { 10.2, 12, 2, mode = "P2" },
      { 10.3, 12, 3, mode = "P2" } },
    { "token", { 10.1, 12, 1, mode = "P2" }, { 10, 12, 1, mode = "P2" } },
  },
  ["sees a token that does not grow"] = {
    { "token", { 10, 11, 5 }, { 12, 13, 4 } },
    { "token", { 10, 11, 5 }, { 12, 13, 5 } },
    { "token", { 10, 11, 5, mode = "R" }, { 12, 13, 4 } },
    -- local turns share their node's token
    { "", { 10, 11, 5 }, { 12, 13, 5, turn = 1 } },
  },
}

-- What is said of one client's text, of each: the text, and verdicts by what is
-- filled in.
local texts = {
  ["sees a belief that comes back"] = { [[
    1 wait 1 task 5 /a mutex
    2 granted 1 0x1
    2 hold 1 /a W 5 0 /a/n
    3 true 1 2.9
    4 %s
    5 true 1 4.9
    6 released 1 lost
    9 end
  ]], ["false 1 3.9"] = "revival", ["lost 1"] = "revival" },
  ["sees a loss that nobody is told of, or told twice"] = { [[
    1 wait 1 task 5 /a mutex
    2 granted 1 0x1
    2 hold 1 /a W 5 0 /a/n
    3 false 1 2.9
    %s
    9 end
  ]], ["4 released 1 true"] = "loss", [""] = "loss",
    ["4 lost 1\n5 lost 1"] = "loss", ["4 released 1 lost"] = "",
    ["4 lost 1"] = "", ["4 closed\n5 released 1 true"] = "" },
  ["sees a wait that does not end, or ends late"] = {
    "1 wait 1 task 2 /a mutex\n%s\n30 end",
    [""] = "wait", ["3 refused 1 timeout"] = "",
    ["20 refused 1 timeout"] = "late", ["3 refused 1 invalid"] = "refusal" },
  ["knows what may come of a wait, and of no other"] = {
    "1 wait 1 task 2 /a mutex auth,invalid\n%s\n30 end",
    ["3 refused 1 invalid"] = "", ["3 refused 1 auth"] = "",
    ["3 refused 1 deadlock"] = "refusal", [""] = "wait" },
  ["knows a wait of which one thing may come"] = {
    "1 wait 1 task 2 /a mutex auth\n%s\n30 end",
    ["3 refused 1 invalid"] = "refusal" },
}

describe("The witness", function()
  for title, rows in pairs(lives) do
    it(title, function()
      for i, row in ipairs(rows) do
        local clients = {}
        for k = 2, #row do clients[k] = life(row[k]) end
        assert.equal(row[1], verdict(clients), i)
      end
    end)
  end

  for title, row in pairs(texts) do
    it(title, function()
      for filled, expected in pairs(row) do
        if filled ~= 1 then
          assert.equal(expected, verdict { a = row[1]:format(filled) }, filled)
        end
      end
    end)
  end

  it("counts what is proven, and no more", function()
    local witness = judge { a = life { 10, 11, 5 } }
    assert.equal(1, witness.counts["grants: mutex"])
    assert.equal(2, witness.counts["is_held true"])
    assert.equal(1, witness.counts["proven stretches"])
    -- what was asked once proves a moment only, which another may follow
    assert.equal("", verdict {
      a = "1 wait 1 t - /a mutex\n2 granted 1 0x1\n"
        .. "2 hold 1 /a W 1 0 /a/n1\n3 true 1 2.9\n4 released 1 true\n9 end",
      b = life { 3.1, 5, 2 },
    })
  end)

  it("sees a holder that was killed, up to its last word", function()
    local killed = [[
      9 wait 1 task - /a mutex
      10 granted 1 0x1
      10 hold 1 /a W 0000000000000000005 0 /a/n
      10 true 1 9.9
      12 true 1 11.9
    ]]
    local harm = "12.1 killed a"
    assert.equal("overlap", verdict({ a = killed,
      b = life { 11.5, 13, 6 } }, harm))
    assert.equal("", verdict({ a = killed,
      b = life { 11.95, 13, 6 } }, harm))
  end)

  it("lets an owner be beside itself", function()
    assert.equal("", verdict { a = [[
      1 wait 1 task 5 /a rwlock
      2 granted 1 0x1
      2 hold 1 /a W 5 0 /a/w
      3 true 1 2.9
      3 wait 2 task 5 /a downgrade
      4 granted 2 0x1
      4 hold 2 /a R 5 0 /a/r
      5 true 2 4.9
      5 true 1 4.9
      6 released 1 true
      7 true 2 6.9
      8 released 2 true
      9 end
    ]] })
  end)

  it("excuses who could not know that its node was taken away", function()
    local clients = {
      a = life { 10, 12, 5 },
      b = life { 11, 13, 6 },
    }
    assert.equal("overlap", verdict(clients))
    local harm = "%s removed /a/%s %s " .. FIVE
    assert.equal("", verdict(clients, harm:format(10.6, "node-5", 10.5)))
    assert.equal("overlap",
      verdict(clients, harm:format(11.6, "node-5", 11.5)))
    assert.equal("overlap",
      verdict(clients, harm:format(10.6, "other", 10.5)))
    clients.b = clients.b:gsub("0xabc", "0xdef")
    assert.equal("", verdict(clients, "10.6 seized 0xabc 10.5 it unknown"))
    assert.equal("overlap", verdict(clients, "10.6 seized 0x123 10.5 it"))
  end)

  it("tells the nodes of unfair locks apart, which have one name", function()
    local function holder(hold)
      return (life(hold):gsub("/a/node%-%d+", "/a/holder"))
    end
    local clients = {
      a = holder { 10, 12, 5 },
      b = holder { 20, 29, 6 },
    }
    local harm = "10.6 removed /a/holder 10.5 " .. FIVE
    assert.equal("", verdict(clients, harm))
    clients.c = holder { 21, 22, 7 }
    assert.equal("overlap", verdict(clients, harm))
    -- waiting when it was done: perhaps it was this one's
    clients.c = holder { 11, 15, 7 }
    clients.b = holder { 11.2, 13, 6 }
    assert.equal("", verdict(clients, harm))
  end)

  it("sees who goes on believing for long", function()
    assert.equal("news", verdict({
      a = life { 10, 16, 5 },
    }, "10.6 removed /a/node-5 10.5 " .. FIVE))
  end)

  it("excuses a wait whose process was stopped or killed", function()
    local text = "1 wait 1 task 2 /a mutex"
    assert.equal("", verdict({ a = text .. "\n20 refused 1 timeout\n30 end" },
      "18 stopped a 2"))
    assert.equal("", verdict({ a = text }, "2 killed a"))
    assert.equal("death wait", verdict { a = text })
  end)

  it("hands on what the director has found", function()
    local witness = judge({}, "1 violation left orphan /a/n of 0x1\n"
      .. "2 fault server killed")
    assert.same({ { kind = "left", text = "orphan /a/n of 0x1" } },
      witness.violations)
    assert.equal(1, witness.counts["fault: server killed"])
  end)
end)
