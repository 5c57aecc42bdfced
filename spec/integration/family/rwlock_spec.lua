-- Many readers or one writer, in the order of arrival.
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody
local refused = kinds.refused

local path
before_each(function() path = support.path() end)

local function released(guard) assert.is_true(guard:release { wait = true }) end

-- Each step: what is done, by whom, and who holds the lock then.
--     R, W   asks for reading, writing, in a session of its own
--     D      downgrades its write hold
--     -      releases its first hold, or gives its wait up
--     =      releases its second hold
local scenes = {
  { "is read by many together, and then by no writer",
    "Ra a", "Rb ab", "Rc abc", "Wd abc", "-b ac", "-a c", "-c d", "-d" },
  { "is written by one, alone",
    "Wa a", "Wb a", "Rc a", "Rd a", "-a b", "-b cd", "-c d", "-d" },
  { "keeps readers behind a writer that waits",
    "Ra a", "Wb a", "Rc a", "Wd a", "-a b", "-b c", "-c d", "-d" },
  { "grants a reader that has a writer only behind it (T31)",
    "Wa a", "Rb a", "Wc a", "-a b", "-b c", "-c" },
  { "lets readers go on when the writer between them gives up",
    "Ra a", "Wb a", "Rc a", "Rd a", "-b acd", "-a cd", "-c d", "-d" },
  { "lets a writer in past a reader that has given up",
    "Wa a", "Rb a", "Wc a", "-b a", "-a c", "-c" },
  { "that is downgraded keeps a queued writer waiting (T5)",
    "Wa a", "Rb a", "Wc a", "Rd a", "Da a", "-a ab", "-b a", "-a c", "-c d",
    "-d" },
  { "keeps the readers of a downgraded writer when that one goes",
    "Wa a", "Da a", "-a a", "Rb ab", "-a b", "Wc b", "-b c", "-c" },
  { "may be downgraded again, and read last or first",
    "Wa a", "Da a", "=a a", "Da a", "-a a", "-a", "Wb b", "Db b", "=b b",
    "-b" },
}

local acts = {}

local function ask(scene, name, side, is_free)
  local one = { side = scene.sides(nil, name), modes = { scene.modes[side] } }
  if not is_free then
    refused("busy", one.side[side]:try_acquire())
    refused("timeout", one.side[side]:acquire(0.05))
  end
  one.wait = kinds.queue_in(one.side[side], path, { owner = name })
  one.writes = side == "write"
  scene.all[name] = one
end

function acts.R(scene, name, is_free) ask(scene, name, "read", is_free) end
function acts.W(scene, name, is_free) ask(scene, name, "write", is_free) end

function acts.D(scene, name)
  local one = scene.all[name]
  local write = table.remove(one.guards)
  local read = assert(one.side.read:acquire { owner = name, timeout = 0 })
  assert.equal(write.node:sub(-10), read.node:sub(-10))
  assert.equal(write:token(), read:token())
  one.guards, one.modes = { read, write }, { "read", scene.modes.write }
end

acts["-"] = function(scene, name)
  local one = scene.all[name]
  if one.guards then
    released(table.remove(one.guards))
    table.remove(one.modes)
    if #one.guards > 0 then -- the read hold is left
      refused("deadlock", one.side.write:try_acquire { owner = name })
      return
    end
  else
    one.wait.ticket:cancel()
    refused("cancelled", await(one.wait))
  end
  scene.all[name] = nil
end

-- contenders() and holders() show this.
local function shows(scene)
  local expected, rows, holders = {}, {}, {}
  for who in ("abcd"):gmatch "." do
    local one = scene.all[who] or { modes = {} }
    for _, mode in ipairs(one.modes) do
      expected[#expected + 1] = ("%s %s %s"):format(mode, who, one.guards
        and "holds" or "waits")
    end
  end
  for i, item in ipairs(scene.observer._session:contenders(path)) do
    rows[i] = ("%s %s %s"):format(item.mode, item.data, item.holds
      and "holds" or "waits")
    if item.holds then holders[#holders + 1] = item.data end
  end
  for i, item in ipairs(scene.observer:holders()) do
    assert.equal(holders[i], item.data)
  end
  table.sort(expected)
  table.sort(rows)
  assert.same(expected, rows)
end

acts["="] = function(scene, name)
  released(table.remove(scene.all[name].guards, 1))
  table.remove(scene.all[name].modes, 1)
end

local function play(scene, steps)
  local last = ""
  for i = 2, #steps do
    local act, name, holders = steps[i]:match "^(.)(%a) ?(%a*)$"
    acts[act](scene, name, holders:find(name))
    local waiters = {}
    for who in ("abcd"):gmatch "." do
      local one = scene.all[who] or { guards = {} }
      if one.wait and not holders:find(who) then
        waiters[#waiters + 1] = one.wait
      elseif not one.guards then
        one.guards = { await(one.wait) }
        local token = one.guards[1]:token()
        if one.writes then assert.is_true(token > last) end
        if token > last then last = token end
      end
      for _, guard in ipairs(one.guards or {}) do
        assert.is_true(guard:verify())
      end
    end
    nobody(0.03, (unpack or table.unpack)(waiters))
    shows(scene)
  end
  assert.is_nil(next(scene.all))
end

for _, layout in ipairs { "curator", "kazoo" } do
  local of = (" in %s's layout"):format(layout)
  describe("A rwlock" .. of, function()
    -- The sides of the lock in a session of its own.
    local function sides(options, data)
      return connect(options):rwlock(path, { layout = layout, data = data })
    end

    for _, steps in ipairs(scenes) do
      it(steps[1], function()
        play({ all = {}, sides = sides, observer = sides().read,
          modes = { read = "read",
            write = layout == "kazoo" and "mutex" or "write" } }, steps)
      end)
    end

    -- Reentry.

    it("is a deadlock for a reader that asks for writing", function()
      local side = sides()
      local also = assert(sides().read:acquire(30))
      local read = assert(side.read:acquire(30))
      kinds.takes(0, function()
        for _, call in ipairs { "acquire", "try_acquire", "with_lock" } do
          local fn = call == "with_lock" and print or nil
          assert.equal("zklock: " .. path .. " is held for reading by the "
            .. "caller, which waits for itself when it asks for writing",
            refused("deadlock", side.write[call](side.write, fn)))
        end
      end)
      side.write:acquire_async({ owner = "me" }, function() end):cancel()
      local mine = assert(side.read:acquire { owner = "me", timeout = 5 })
      refused("deadlock", await(wait_in(side.write, { owner = "me" })))
      assert.is_true(read:verify())
      -- somebody else's task only waits
      local waiter = wait_in(side.write, { owner = "another" })
      nobody(0.03, waiter)
      for _, guard in ipairs { also, read, mine } do released(guard) end
      await(waiter):release()
    end)

    -- Downgrade.

    it("is downgraded in every way of asking, by its owner only", function()
      local side = sides()
      for _, how in ipairs {
        function() return side.read:acquire() end,
        function() return side.read:acquire(0) end,
        function() return side.read:try_acquire() end,
        function() return side.read:acquire { timeout = 5, data = "d" } end,
      } do
        local write = assert(side.write:acquire(30))
        local read = assert(how())
        released(write)
        assert.is_true(read:verify())
        released(read)
        assert.same({}, kinds.nodes(path))
      end
      local write = assert(side.write:acquire { owner = "o", timeout = 5 })
      refused("busy", side.read:try_acquire { owner = "b" })
      local other = wait_in(side.read, { owner = "b" })
      nobody(0.03, other)
      local read = await(wait_in(side.read, { owner = "o" }))
      nobody(0.03, other)
      released(write)
      released(await(other))
      released(read)
      assert.is_true(side.write:with_lock(5, function()
        assert(side.read:with_lock(function(guard)
          assert.is_true(guard:is_held())
        end))
      end))
    end)

    it("is lost on both sides when a node of one is deleted", function()
      local side = sides { session_timeout = 10 }
      for _, which in ipairs { "both", "write", "read" } do
        local guards = { assert(side.write:acquire(30)) }
        if which ~= "write" then guards[2] = assert(side.read:acquire(30)) end
        if which == "read" then released(table.remove(guards, 1)) end
        for _, guard in ipairs(guards) do support.lose(guard) end
        for _, one in pairs { side.read, side.write } do
          refused("lost", one:acquire(30))
          refused("lost", one:try_acquire())
        end
        for _, guard in ipairs(guards) do refused("lost", guard:release()) end
        assert(side.write:acquire(30)):release()
      end
    end)
  end)
end

it("A rwlock respects a downgrade that Curator 5.5 or later makes "
  .. "(T5)", function()
  local zk = support.zk()
  zk:make(path)
  local uuid = "/_c_00000000-0000-4000-8000-00000000000"
  local write = zk:create(path .. uuid .. "1-__WRIT__",
    { sequential = true, ephemeral = true })
  local reader = kinds.queue_in(connect():rwlock(path).read, path)
  local writer = kinds.queue_in(connect():rwlock(path).write, path)
  local behind = kinds.queue_in(connect():rwlock(path).write, path)
  local read = zk:create(path .. uuid .. "2-__READ__" .. write:sub(-10),
    { ephemeral = true })
  nobody(0.03, reader, writer, behind)
  zk:delete(write)
  await(reader)
  nobody(0.05, writer, behind)
  reader.guard:release()
  nobody(0.05, writer, behind)
  zk:delete(read)
  await(writer)
  nobody(0.03, behind)
  writer.guard:release()
  await(behind):release()
end)
