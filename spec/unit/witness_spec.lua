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
    witness:read_client(name, entries("0 event connected\n" .. text), 2, 10)
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

-- A hold of `path`, believed from `from` to `to`, in a life of its own.
local function life(options)
  return ([[
    %f wait 1 task 5 %s mutex
    %f granted 1 0xabc
    %f hold 1 %s %s %019d %d %s/node-%d
    %f true 1 %f
    %f true 1 %f
    %f released 1 true
    99 end
  ]]):format(options.from - 1, options.path or "/a", options.from - 0.5,
    options.from - 0.4, options.path or "/a", options.mode or "W",
    options.token, options.turn or 0, options.path or "/a", options.token,
    options.from, options.from - 0.1, options.to + 0.1, options.to,
    options.to + 0.2)
end

local FIVE = ("%019d"):format(5)

describe("The witness", function()
  it("has nothing against holds that follow each other", function()
    assert.equal("", verdict {
      a = life { from = 10, to = 11, token = 5 },
      b = life { from = 11, to = 12, token = 6 },
      c = life { from = 10, to = 12, token = 4, path = "/b" },
    })
  end)

  it("counts what is proven, and no more", function()
    local witness = judge { a = life { from = 10, to = 11, token = 5 } }
    assert.equal(1, witness.counts["grants: mutex"])
    assert.equal(2, witness.counts["is_held true"])
    assert.equal(1, witness.counts["proven stretches"])
    -- what was asked once proves a moment only, which another may follow
    assert.equal("", verdict {
      a = "1 wait 1 t - /a mutex\n2 granted 1 0x1\n"
        .. "2 hold 1 /a W 1 0 /a/n1\n3 true 1 2.9\n4 released 1 true\n9 end",
      b = life { from = 3.1, to = 5, token = 2 },
    })
  end)

  it("sees two holders of one path", function()
    assert.equal("overlap", verdict {
      a = life { from = 10, to = 11, token = 5 },
      b = life { from = 10.999, to = 12, token = 6 },
    })
  end)

  it("sees a holder inside of another one's long hold", function()
    assert.equal("overlap overlap", verdict {
      a = life { from = 10, to = 20, token = 5 },
      b = life { from = 12, to = 13, token = 6 },
      c = life { from = 14, to = 15, token = 7 },
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
      b = life { from = 11.5, to = 13, token = 6 } }, harm))
    assert.equal("", verdict({ a = killed,
      b = life { from = 11.95, to = 13, token = 6 } }, harm))
  end)

  it("sees a writer beside a reader, and lets readers be together", function()
    local reader = life { from = 10, to = 12, token = 5, mode = "R" }
    assert.equal("", verdict { a = reader,
      b = life { from = 11, to = 13, token = 4, mode = "R" } })
    assert.equal("overlap", verdict { a = reader,
      b = life { from = 11, to = 13, token = 6 } })
  end)

  it("sees one permit too many", function()
    local function holder(n)
      return life { from = 10 + n / 10, to = 12, token = n, mode = "P2" }
    end
    assert.equal("", verdict { a = holder(1), b = holder(2) })
    assert.equal("overlap", verdict { a = holder(1), b = holder(2),
      c = holder(3) })
    assert.equal("token", verdict { a = holder(1),
      b = life { from = 10, to = 12, token = 1, mode = "P2" } })
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

  it("sees a token that does not grow", function()
    assert.equal("token", verdict {
      a = life { from = 10, to = 11, token = 5 },
      b = life { from = 12, to = 13, token = 4 },
    })
    assert.equal("token", verdict {
      a = life { from = 10, to = 11, token = 5 },
      b = life { from = 12, to = 13, token = 5 },
    })
    assert.equal("token", verdict {
      a = life { from = 10, to = 11, token = 5, mode = "R" },
      b = life { from = 12, to = 13, token = 4 },
    })
    -- local turns share their node's token
    assert.equal("", verdict {
      a = life { from = 10, to = 11, token = 5 },
      b = life { from = 12, to = 13, token = 5, turn = 1 },
    })
  end)

  it("excuses who could not know that its node was taken away", function()
    local clients = {
      a = life { from = 10, to = 12, token = 5 },
      b = life { from = 11, to = 13, token = 6 },
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
    local function holder(options)
      return (life(options):gsub("/a/node%-%d+", "/a/holder"))
    end
    local clients = {
      a = holder { from = 10, to = 12, token = 5 },
      b = holder { from = 20, to = 29, token = 6 },
    }
    local harm = "10.6 removed /a/holder 10.5 " .. FIVE
    assert.equal("", verdict(clients, harm))
    clients.c = holder { from = 21, to = 22, token = 7 }
    assert.equal("overlap", verdict(clients, harm))
    -- waiting when it was done: perhaps it was this one's
    clients.c = holder { from = 11, to = 15, token = 7 }
    clients.b = holder { from = 11.2, to = 13, token = 6 }
    assert.equal("", verdict(clients, harm))
  end)

  it("sees who goes on believing for long", function()
    assert.equal("news", verdict({
      a = life { from = 10, to = 16, token = 5 },
    }, "10.6 removed /a/node-5 10.5 " .. FIVE))
  end)

  it("sees a belief that comes back", function()
    local text = [[
      1 wait 1 task 5 /a mutex
      2 granted 1 0x1
      2 hold 1 /a W 5 0 /a/n
      3 true 1 2.9
      4 %s
      5 true 1 4.9
      6 released 1 lost
      9 end
    ]]
    assert.equal("revival", verdict { a = text:format "false 1 3.9" })
    assert.equal("revival", verdict { a = text:format "lost 1" })
  end)

  it("sees a loss that nobody is told of, or told twice", function()
    local text = [[
      1 wait 1 task 5 /a mutex
      2 granted 1 0x1
      2 hold 1 /a W 5 0 /a/n
      3 false 1 2.9
      %s
      9 end
    ]]
    assert.equal("loss", verdict { a = text:format "4 released 1 true" })
    assert.equal("loss", verdict { a = text:format "" })
    assert.equal("loss", verdict { a = text:format "4 lost 1\n5 lost 1" })
    assert.equal("", verdict { a = text:format "4 released 1 lost" })
    assert.equal("", verdict { a = text:format "4 lost 1" })
    assert.equal("", verdict { a = text:format "4 closed\n5 released 1 true" })
  end)

  it("sees a wait that does not end, or ends late", function()
    local text = "1 wait 1 task 2 /a mutex\n%s\n30 end"
    assert.equal("wait", verdict { a = text:format "" })
    assert.equal("", verdict { a = text:format "3 refused 1 timeout" })
    assert.equal("late", verdict { a = text:format "20 refused 1 timeout" })
    assert.equal("", verdict({ a = text:format "20 refused 1 timeout" },
      "18 stopped a 2"))
    assert.equal("refusal", verdict { a = text:format "3 refused 1 invalid" })
    -- a killed process waits no more
    assert.equal("", verdict({ a = "1 wait 1 task 2 /a mutex" }, "2 killed a"))
    assert.equal("death wait", verdict { a = "1 wait 1 task 2 /a mutex" })
  end)

  it("knows what may come of a wait, and of no other", function()
    local large = "1 wait 1 task 2 /a mutex auth,invalid\n%s\n30 end"
    assert.equal("", verdict { a = large:format "3 refused 1 invalid" })
    assert.equal("", verdict { a = large:format "3 refused 1 auth" })
    assert.equal("refusal", verdict { a = large:format "3 refused 1 deadlock" })
    local small = "1 wait 1 task 2 /a mutex auth\n%s\n30 end"
    assert.equal("refusal", verdict { a = small:format "3 refused 1 invalid" })
    assert.equal("wait", verdict { a = large:format "" })
  end)

  it("hands on what the director has found", function()
    local witness = judge({}, "1 violation left orphan /a/n of 0x1\n"
      .. "2 fault server killed")
    assert.same({ { kind = "left", text = "orphan /a/n of 0x1" } },
      witness.violations)
    assert.equal(1, witness.counts["fault: server killed"])
  end)
end)
