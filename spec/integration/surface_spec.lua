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

-- The methods of an object, in alphabetical order; those of its class.
local function methods_of(object)
  local names = {}
  for name, value in pairs(getmetatable(object)) do
    if type(value) == "function" and not name:find "^__" then
      names[name] = true
    end
  end
  return sorted(names)
end

local function documented_methods(class, names)
  names = names or {}
  for _, entry in ipairs(reference.functions(all)) do
    if entry.class == class then names[entry.name] = true end
  end
  for _, parent in ipairs(all.classes[class].parents) do
    documented_methods(parent, names)
  end
  return sorted(names)
end

describe("Documented are", function()
  local function fields(class) return reference.fields(all, class) end

  -- Those that do not begin with an underscore.
  it("the fields and methods of objects", function()
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
      if class ~= "zklock.RWLock" then -- which has two sides, and no methods
        assert.equal(documented_methods(class), methods_of(object), class)
      end
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
