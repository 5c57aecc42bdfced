-- What users hold has the methods and fields that are documented, and no
-- others; the state of a session is written in one place.
local files = require "support.files"
local reference = require "support.reference"
local support = require "support"

local all = reference.read()

local function sorted(set)
  local names = {}
  for name in pairs(set) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, " ")
end

-- The methods of an object, in alphabetical order.
local function methods_of(object)
  local names = {}
  for name, value in pairs(getmetatable(object)) do
    if type(value) == "function" and not name:find "^__" then
      names[name] = true
    end
  end
  return sorted(names)
end

describe("The methods of", function()
  local of_lock = "acquire acquire_async cancel holders release try_acquire "
    .. "with_lock"
  local of_guard = "is_held lease on_lost on_revoke reason release state "
    .. "token token_number turn verify"
  local session, path
  before_each(function() session, path = support.connect(), support.path() end)

  it("a session are public", function()
    assert.equal("barrier children close contenders double_barrier election "
      .. "evict fd id metrics multi mutex on on_trace once revoke rwlock "
      .. "semaphore stamp stat state stats step timeout with_lock",
      methods_of(session))
  end)

  it("a lock, its guard and its ticket are public", function()
    local lock = session:mutex(path)
    assert.equal(of_lock, methods_of(lock))
    local guard = lock:acquire(30)
    assert.equal(of_guard, methods_of(guard))
    guard:release()
    assert.equal("cancel", methods_of(lock:acquire_async(type)))
  end)

  it("a multi, its guard and its ticket are public", function()
    local lock = session:multi { session:mutex(path) }
    assert.equal(of_lock, methods_of(lock))
    local guard = lock:acquire(30)
    assert.equal((of_guard:gsub("token token_number turn", "tokens")),
      methods_of(guard))
    guard:release()
    assert.equal("cancel", methods_of(lock:acquire_async(type)))
  end)

  it("what is built on locks are public", function()
    assert.equal("campaign campaign_async cancel is_stopping leader resign run "
      .. "stop", methods_of(session:election(path .. "/a")))
    assert.equal("cancel is_set lift set wait wait_async",
      methods_of(session:barrier(path .. "/b")))
    assert.equal("cancel enter enter_async leave leave_async",
      methods_of(session:double_barrier(path .. "/c", 2)))
  end)
end)

describe("Documented are", function()
  local function fields(class) return reference.fields(all, class) end

  -- Those that do not begin with an underscore.
  it("the fields of objects", function()
    local session, path = support.connect(), support.path()
    local mutex = session:mutex(path .. "/a")
    local multi = session:multi { mutex, session:mutex(path .. "/b") }
    local objects = {
      ["zklock.Session"] = session,
      ["zklock.Lock"] = mutex,
      ["zklock.Multi"] = multi,
      ["zklock.RWLock"] = session:rwlock(path .. "/c"),
      ["zklock.Guard"] = mutex:acquire(),
      ["zklock.MultiGuard"] = multi:acquire(),
      ["zklock.Election"] = session:election(path .. "/d"),
      ["zklock.Barrier"] = session:barrier(path .. "/e"),
      ["zklock.DoubleBarrier"] = session:double_barrier(path .. "/f", 2),
      ["zklock.Ticket"] = session:mutex(path .. "/g"):acquire_async(type),
    }
    for class, object in pairs(objects) do
      for field in pairs(object) do
        assert.is_true(field:find "^_" ~= nil or fields(class)[field] ~= nil,
          ("%s.%s is not documented"):format(class, field))
      end
      for field in pairs(fields(class)) do
        assert.is_truthy(object[field],
          ("%s.%s is not there"):format(class, field))
      end
    end
    -- A guard tells its own without having them.
    local known = files.read((os.getenv "SPEC_ROOT" or ".")
      .. "/lua/zklock/guard.lua"):match "local known = (%b{})"
    for field in known:gmatch "\n  ([%l_]+) =" do
      assert.is_truthy(fields "zklock.Guard"[field], field)
    end
  end)

  it("the events of a session", function()
    local session = support.connect()
    local _, problem = pcall(session.on, session, "nothing", print)
    local words = {}
    for word in problem:match " must be (.-) got ":gmatch "%l+" do
      words[word] = word ~= "or" or nil
    end
    assert.equal(sorted(reference.words(all, "zklock.Event")), sorted(words))
  end)
end)
