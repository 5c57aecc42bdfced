-- How contenders are spelled. A name is a hint: sessions of different versions
-- share a lock, and hardly two sessions spell theirs alike.
local kinds = require "integration.family.kinds"
local support = require "support"
local connect, await, nobody = support.connect, kinds.await, kinds.nobody

-- As zklock has spelled its contenders before: a uuid, the last twelve digits
-- of which count the session's nodes.
local OLDER, OLDER_KAZOO = "_c_6f1f4a5e-08a2-4b7d-9c31-%012x%s",
  "6f1f4a5e08a24b7d9c31%012x%s"

local older = 0

-- An older session's contender in `directory`.
local function stand(directory, marker)
  older = older + 1
  local spelling = marker:find "^__" and OLDER_KAZOO or OLDER
  local node = support.zk():create(directory .. "/"
    .. spelling:format(older, marker), { ephemeral = true, sequential = true })
  return support.closing(node, function() support.zk():delete(node) end)
end

-- Ours waits, and has its node in `directory`.
local function wait_in(kind, path, directory)
  local before = #kinds.nodes(directory)
  local wait = kinds.wait_in(kind.make(connect(), path))
  support.step_until(wait.session, function()
    return #kinds.nodes(directory) > before
  end, nil, "our node in " .. directory)
  return wait
end

-- What is waited for, where, and by which of ours.
local rows = {
  { "mutex", "", "-lock-" },
  { "handoffs", "", "-lock-" },
  { "parent", "", "-lock-" },
  { "poll", "", "-lock-" },
  { "kazoo", "", "__lock__" },
  { "write", "", "-__WRIT__" },
  { "write", "", "-__READ__" },
  { "read", "", "-__WRIT__" },
  { "kazoo write", "", "__rlock__" },
  { "kazoo read", "", "__lock__" },
  { "semaphore", "/locks", "-lock-" },
  { "multi", "/a", "-lock-" },
  -- (Of ours one at a time comes so far.)
  { "multi", "/b", "-lock-", alone = true },
  { "semaphore", "/leases", "-lease-", alone = true },
}

describe("Beside a zklock that spells its contenders longer, ours", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  it("waits in the order of the numbers", function()
    for _, row in ipairs(rows) do
      local kind, path, zk = kinds.of[row[1]], support.path(), support.zk()
      local directory = path .. row[2]
      zk:make(directory)
      local first = stand(directory, row[3])
      local one = wait_in(kind, path, directory)
      local third = not row.alone and stand(directory, row[3])
      local two = third and wait_in(kind, path, directory)
      nobody(0.05, one, two or nil)
      zk:delete(first)
      assert.is_true(await(one):is_held(), row[1])
      if two then nobody(0.05, two) end
      one.guard:release { wait = true }
      if two then
        nobody(0.05, two) -- the older one's turn
        zk:delete(third)
        assert.is_true(await(two):is_held(), row[1])
        two.guard:release { wait = true }
      end
    end
  end)

  it("reads together with its readers, and is two fifths as long", function()
    local path = support.path()
    support.zk():make(path)
    local theirs = stand(path, "-__READ__"):gsub("__READ__", "lock-")
    local guard = assert(connect():rwlock(path).read:acquire(10))
    assert.is_true(guard:is_held())
    guard:release { wait = true }
    guard = assert(connect():mutex(path, { share_path = true }):acquire(10))
    assert.equal(55, #theirs - #path - 1)
    assert.equal(22, #guard.node - #path - 1)
    guard:release { wait = true }
  end)
end)

-- (Two of a thousand are alike once in 1800 times, four of them hardly ever.)
describe("A thousand sessions", function()
  before_each(support.start)
  after_each(support.finish)

  it("have as many spellings, but for a chance", function()
    local path, seen, different = support.path(), {}, 0
    for _ = 1, 1000 do
      local session = connect()
      local guard = assert(session:mutex(path):acquire(30))
      local base = guard.node:match "/(%w%w%w%w%w)1%-lock%-%d+$"
      if not seen[base] then different = different + 1 end
      seen[base] = true
      session:close()
    end
    assert.is_true(different >= 999, different)
  end)
end)
