-- The witness of the torture (spec/torture): does it catch what is wrong, and
-- only that?
local journals = require "torture.journal"
local new_witness = require "torture.witness".new

-- "1.5 true 7 1.4\n…" → entries, through a file as in earnest.
local function entries(text)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  for line in text:gmatch "[^\n]+" do
    file:write((line:gsub("^%s+", "")), "\n")
  end
  file:close()
  local list = journals.read(name)
  os.remove(name)
  return list
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

  it("judges leaders as holders of a mutex, and lets run release", function()
    local text = [[
      1 wait 1 task 5 /e election-latch
      2 granted 1 0x1
      2 hold 1 /e W 0000000000000000005 0 /e/n
      3 true 1 2.9
      4 false 1 3.9
      5 released 1 handed
      %s
      9 end
    ]]
    assert.equal("", verdict { a = text:format "6 lost 1" })
    assert.equal("loss", verdict { a = text:format "" })
    assert.equal("loss", verdict { a = text:format "6 lost 1\n7 lost 1" })
  end)

  it("sees an observer that is told of an earlier leader", function()
    local text = "1 leader 1 /e 0000000000000000005\n%s\n9 end"
    assert.equal("", verdict { a = text:format
      "2 leader 1 /e -\n3 leader 1 /e 0000000000000000006" })
    assert.equal("leader", verdict { a = text:format
      "2 leader 1 /e -\n3 leader 1 /e 0000000000000000005" })
    assert.equal("leader", verdict { a = text:format
      "2 leader 1 /e 0000000000000000004" })
    -- another observer; and its end
    assert.equal("", verdict { a = text:format
      "2 leader 2 /e 0000000000000000005\n3 leader 1 /e closed" })
  end)

  describe("at a barrier", function()
    -- A wait that passes from 10 to 11.
    local WAITER = "10 wait 1 task 5 /b barrier\n11 passed 1\n99 end"

    -- What has the client done who lifts and sets, and somebody else?
    local function passes(text, harm)
      return verdict({ a = WAITER, b = text .. "\n99 end" }, harm)
    end

    local function call(number, what, from, to, word, code)
      return ("%g wait %d task - /b %s auth\n%s\n"):format(from, number, what,
        to and ("%g %s %d %s"):format(to, word or "passed", number, code or "")
        or "")
    end

    local SET = call(1, "set", 8, 9)

    it("sees who passes while it is set", function()
      assert.equal("barrier", passes(SET))
      assert.equal("barrier", passes(call(2, "lift", 6, 7) .. SET))
      assert.equal("barrier", passes(SET .. call(2, "lift", 11.1, 12)))
      -- another one's barrier
      assert.equal("barrier", passes(SET,
        "10.6 lifted /c 10.5 it"))
    end)

    it("counts who waits while it is set, and who is let go on", function()
      local clients = { b = SET .. "99 end",
        a = "10 wait 1 task 1 /b barrier\n11 refused 1 timeout\n99 end" }
      local witness = judge(clients)
      assert.same({}, witness.violations)
      assert.equal(1, witness.counts["waits that a set barrier held back"])
      clients.a = WAITER
      witness = judge(clients, "10.6 lifted /b 10.5 it")
      assert.same({}, witness.violations)
      assert.equal(1, witness.counts["waits that a lift let go on"])
      assert.equal(1, witness.counts["passed: barrier"])
      assert.is_nil(witness.counts.acquisitions)
    end)

    it("has nothing against who passes when it is not, perhaps", function()
      assert.equal("", passes "")
      -- it is being set, or nobody knows whether it was
      assert.equal("", passes(call(1, "set", 9, 10.1)))
      assert.equal("", passes(call(1, "set", 8, 9, "refused", "auth")))
      -- it is being lifted
      assert.equal("", passes(SET .. call(2, "lift", 10.5, 12)))
      assert.equal("", passes(SET .. call(2, "lift", 9.1, 9.5)))
      -- which of them came first?
      assert.equal("", passes(call(1, "lift", 7, 8.5) .. call(2, "set", 8, 9)))
    end)

    it("believes in a lift without an answer until all is calm", function()
      local lift = call(2, "lift", 2, 3, "refused", "disconnected")
      assert.equal("", passes(lift .. SET))
      assert.equal("", passes(lift .. SET, "8.5 calm"))
      assert.equal("", passes(lift .. SET, "2.5 calm"))
      assert.equal("barrier", passes(lift .. SET, "7.5 calm"))
      -- who has made it has died, or has got another session meanwhile
      local killed = "4 killed c"
      local clients = { a = WAITER, b = SET .. "99 end",
        c = call(1, "lift", 2) }
      assert.equal("", verdict(clients, killed))
      assert.equal("barrier", verdict(clients, killed .. "\n5 calm"))
      clients.c = "2 wait 1 task - /b lift\n3 event expired\n4 passed 1\n9 end"
      assert.equal("", verdict(clients))
      assert.equal("barrier", verdict(clients, "5 calm"))
    end)

    it("knows that an operator lifts", function()
      assert.equal("", passes(SET, "10.6 lifted /b 10.5 it"))
      assert.equal("", passes(SET, "12 lifted /b 10.5 it unknown"))
      assert.equal("", passes(SET, "7.9 lifted /b 7 it unknown"))
      assert.equal("barrier", passes(SET, "7.9 lifted /b 7 it"))
    end)

    it("sees a wait that does not end", function()
      assert.equal("wait", verdict { a = "1 wait 1 task 2 /b barrier\n9 end" })
      assert.equal("late", verdict {
        a = "1 wait 1 task 2 /b barrier\n20 passed 1\n30 end" })
    end)
  end)

  describe("at a double barrier", function()
    -- A member that begins to enter, is in, is not, and is known to be gone.
    local function member(begun, granted, ended, gone, n)
      local lines = { ("%g wait 1 task 5 /g gate-%d"):format(begun, n or 2) }
      if granted then
        lines[#lines + 1] = ("%g granted 1 0x1\n%g hold 1 /g M%d %019d 0 /g/%d")
          :format(granted, granted, n or 2, begun * 1000, begun * 1000)
      end
      if ended then
        lines[#lines + 1] = (granted and "%g released 1 true"
          or "%g refused 1 timeout"):format(ended)
      end
      if gone then
        lines[#lines + 1] = ("%g settled %g"):format(gone, gone - 0.01)
      end
      return table.concat(lines, "\n") .. "\n99 end"
    end

    local function enter(...)
      local clients = {}
      for i, text in ipairs { ... } do clients["c" .. i] = text end
      return verdict(clients)
    end

    it("has nothing against who are inside together", function()
      assert.equal("", enter(member(1, 3, 5, 6), member(2, 3.1, 4, 5)))
      assert.equal("", enter(member(1, 3, 5, 6, 3), member(2, 3.1, 4, 5, 3),
        member(2.5, 3, 9, 9.1, 3)))
      local witness = judge { a = member(1, 3, 5, 6), b = member(2, 3, 4, 5) }
      assert.equal(2, witness.counts["members let in by no more than there "
        .. "had to be"])
    end)

    it("sees who enters alone", function()
      assert.equal("gathering", enter(member(1, 3, 5, 6)))
      assert.equal("gathering gathering", enter(member(1, 3, 5, 6, 3),
        member(2, 3.1, 4, 5, 3)))
      -- the others have gone, or come later
      assert.equal("gathering", enter(member(1, 3, 5, 6),
        member(0.1, nil, 0.5, 0.9)))
      assert.equal("gathering", enter(member(1, 3, 5, 6),
        member(3.1, nil, 3.5, 4)))
      assert.equal("gathering", enter(member(1, 3, 5, 6, 3),
        member(0.1, nil, 2, 2.2, 3), member(2.3, nil, 2.7, 4, 3)))
    end)

    it("lets who has given up be there until it is gone", function()
      assert.equal("", enter(member(1, 3, 5, 6), member(0.1, nil, 0.5, 1.1)))
      assert.equal("", enter(member(1, 3, 5, 6), member(0.1, nil, 0.5)))
      -- settled is what had ended before
      local late = member(0.1, nil, 0.5) .. "\n0.9 settled 0.4"
      assert.equal("", enter(member(1, 3, 5, 6), late))
    end)

    it("lets one be let in by who has seen others, before it came", function()
      -- the first has seen the second, which is gone when the third comes
      local first, second = member(1, 5, 6, 7, 3), member(2, nil, 3, 3.5, 3)
      local third = member(1.5, nil, 3, 3.5, 3)
      assert.equal("", enter(first, second, third, member(4, 5.1, 6, 7, 3)))
      -- but not when all have gone who have seen that
      assert.equal("gathering", enter(member(1, 3, 3.1, 3.2, 3), second, third,
        member(4, 5.1, 6, 7, 3)))
    end)

    it("lets the dead be there until all is calm", function()
      local clients = { a = member(5, 6, 7, 8),
        b = "1 wait 1 task 5 /g gate-2" }
      assert.equal("", verdict(clients, "2 killed b"))
      assert.equal("", verdict(clients, "2 killed b\n5.5 calm"))
      assert.equal("gathering", verdict(clients, "2 killed b\n4 calm"))
      assert.equal("", verdict(clients, "4.5 killed b\n4 calm"))
    end)

    it("counts with the nodes of sessions that are no more", function()
      local waiting = "1 wait 1 task 9 /g gate-2\n"
      local expired = "2 event expired\n"
      local inside = "5 granted 1 0x1\n5 hold 1 /g M2 2 0 /g/2\n"
        .. "6 released 1 true\n7 settled 6.5\n99 end"
      assert.equal("", verdict { a = waiting .. expired .. inside })
      assert.equal("gathering", verdict { a = expired .. waiting .. inside })
      -- one that has given up, and may still be there
      local gone = "1 wait 1 task 9 /g gate-2\n"
        .. "2 refused 1 timeout\n%s\n3 settled 2.5\n99 end"
      assert.equal("gathering", enter(member(4, 5, 6, 7), gone:format ""))
      assert.equal("", enter(member(4, 5, 6, 7),
        gone:format "2.1 event expired"))
      assert.equal("", enter(member(4, 5, 6, 7), gone:format "2.1 closed"))
      assert.equal("gathering", enter(member(4, 5, 6, 7),
        gone:format "2.1 closed\n2.2 gone"))
      assert.equal("", enter(member(4, 5, 6, 7),
        gone:format "2.1 event expired\n2.1 closed\n2.2 gone"))
    end)

    it("knows that who has had no connection has had no node", function()
      local text = "%s\n1 wait 1 task 9 /g gate-2\n%s\n2 refused 1 timeout\n"
        .. "99 end"
      assert.equal("", enter(member(4, 5, 6, 7), text:format("", "")))
      assert.equal("gathering", enter(member(4, 5, 6, 7),
        text:format("0.1 closed", "")))
      assert.equal("", enter(member(4, 5, 6, 7),
        text:format("0.1 closed", "1.5 event connected")))
    end)

    -- A member that leaves from 10 to 11, beside one that is proven inside.
    local function leave(inside, harm, outcome)
      return verdict({
        a = "1 wait 1 task 9 /g gate-2\n2 granted 1 0xa\n"
          .. "2 hold 1 /g M2 1 0 /g/1\n3 true 1 2.9\n"
          .. "10 wait 2 task 5 /g leave\n11 " .. (outcome or "passed 2")
          .. "\n11 released 1 true\n99 end",
        b = "1 wait 1 task 9 /g gate-2\n2 granted 1 0xb\n"
          .. "2 hold 1 /g M2 0000000000000000005 0 /g/5\n" .. inside
          .. "\n99 end",
      }, harm)
    end

    it("sees who leaves while another one is inside", function()
      assert.equal("departure",
        leave "9 true 1 8.9\n12 true 1 11.5\n13 released 1 true")
      assert.equal("departure", leave("9 true 1 8.9\n12 true 1 11.5\n"
        .. "13 released 1 true", "12.2 removed /g/5 11.2 "
        .. "0000000000000000005"))
    end)

    it("has nothing against who leaves with others, or without", function()
      assert.equal("", leave "9 true 1 8.9\n10.8 true 1 10.7")
      assert.equal("", leave "9 true 1 8.9\n12 true 1 10.9")
      -- it was not proven inside when the leave began
      assert.equal("", leave "10.1 true 1 9.9\n12 true 1 11.5")
      assert.equal("", leave("9 true 1 8.9\n12 true 1 11.5", nil,
        "refused 2 timeout"))
    end)

    it("excuses who could not see whom an operator has deleted", function()
      local inside = "9 true 1 8.9\n12 true 1 11.5\n13 released 1 lost"
      assert.equal("", leave(inside,
        "10.6 removed /g/5 10.5 0000000000000000005"))
      assert.equal("", leave(inside, "10.6 seized 0xb 10.5 it"))
      assert.equal("departure", leave(inside, "10.6 seized 0xc 10.5 it"))
    end)

    it("sees a leave that does not end, and two of one token", function()
      assert.equal("wait", verdict { a = "1 wait 1 t 2 /g leave\n9 end" })
      assert.equal("token", verdict {
        a = life { from = 1, to = 2, token = 5, mode = "M2" },
        b = life { from = 3, to = 4, token = 5, mode = "M2" } })
    end)
  end)

  it("hands on what the director has found", function()
    local witness = judge({}, "1 violation left orphan /a/n of 0x1\n"
      .. "2 fault server killed")
    assert.same({ { kind = "left", text = "orphan /a/n of 0x1" } },
      witness.violations)
    assert.equal(1, witness.counts["fault: server killed"])
  end)
end)
