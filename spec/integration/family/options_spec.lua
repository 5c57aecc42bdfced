-- Every option with every kind of lock, as doc/api.md has it.
local files = require "support.files"
local kinds = require "integration.family.kinds"
local support = require "support"
local connect, misuse = support.connect, support.misuse

local function cells_of(line)
  local cells = {}
  for cell in line:gmatch "|%s*([^|]-)%s*%f[|]" do cells[#cells + 1] = cell end
  return cells
end

-- The tables of a document: lists of rows, the heading first.
local function tables_of(text)
  local tables, rows = {}, nil
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if line:sub(1, 1) ~= "|" then
      rows = nil
    elseif not rows then
      rows = { cells_of(line) }
      tables[#tables + 1] = rows
    elseif not line:match "^|%-" then
      rows[#rows + 1] = cells_of(line)
    end
  end
  return tables
end

local load_text = loadstring or load

-- "… `name = value` …" → { name = value }, name
local function option_in(cell)
  local code = cell:match "`(.-)`"
  if not code then return {} end
  return assert(load_text("return { " .. code .. " }"))(), code:match "^[%w_]+"
end

-- What a call raises, whose line the blame is on does not matter.
local function raised(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^.-: zklock: ", ""))
end

local makers = kinds.makers

local page = files.read((os.getenv "SPEC_ROOT" or ".") .. "/doc/api.md")
local of_locks, of_calls = (unpack or table.unpack)(
  tables_of(page:match "\n## Which options go together\n(.-)\n## "))

describe("The options of a lock", function()
  local heading = of_locks[1]
  for row = 2, #of_locks do
    local option, name = option_in(of_locks[row][1])
    it(("are as documented: %s"):format(of_locks[row][1]), function()
      local session = connect()
      assert.equal(#heading, #of_locks[row])
      for column = 2, #heading do
        local family = heading[column]:match "^[%a ]+"
        local options = option_in(heading[column])
        for key, value in pairs(option) do options[key] = value end
        local path, make = support.path(), makers[family]
        if of_locks[row][column] == "yes" then
          make(session, path, options):acquire(30):release()
        else
          assert.equal("refused", of_locks[row][column])
          local message = raised(make, session, path, options)
          assert.matches(name, message, 1, true)
          assert.matches("['\"]", message)
          -- and nothing of the path is taken by the refusal
          assert.is_table(session:semaphore(path, 7))
        end
      end
    end)
  end

  it("are refused if they are unknown, or of a wrong type", function()
    local session, path = connect(), support.path()
    for _, family in ipairs { "mutex", "rwlock", "semaphore", "election",
        "double barrier" } do
      local make = makers[family]
      local said = raised(make, session, path, { timeuot = 1 })
      assert.matches(('^unknown option "timeuot" in %s options %%(known: '
        .. "data, .*max_hold, "):format(family), said)
      assert.matches("unknown option",
        raised(make, session, path, { "data" }))
      assert.matches(family .. " options must be a table, got a ",
        raised(make, session, path, "fair"))
    end
    local wrong = {
      reentrant = { 1, "no" }, fair = { 0, "no" },
      data = { 1, true, {}, function() end },
      max_hold = { -1, "1", 0 / 0, true },
      lose_on_suspend = { "lose", "", 1, {} }, layout = { "Curator", 1, true },
      wait = { "pole", 1, true },
      local_turns = { -1, 0.5, "1", true, 0 / 0, math.huge, 1e7 },
      poll_interval = { -1, 0, "1", 0 / 0 },
    }
    for name, values in pairs(wrong) do
      for _, value in ipairs(values) do
        local options = { [name] = value }
        if name == "poll_interval" then options.wait = "poll" end
        assert.matches("^option '" .. name .. "' must be ",
          misuse(function() session:mutex(path, options) end))
      end
    end
  end)

  it("of with_lock of a session are those of a mutex and of a call", function()
    local session = connect()
    for row = 2, #of_locks do
      local option = option_in(of_locks[row][1])
      if of_locks[row][2] == "yes" then
        option.timeout, option.owner = 5, "me"
        assert(session:with_lock(support.path(), option, function() end))
      end
    end
  end)
end)

describe("The options of a call", function()
  local heading = of_calls[1]

  local function call(lock, method, options)
    if method == "with_lock" then
      return lock:with_lock(options, function() end)
    elseif method == "acquire_async" then
      return kinds.await(kinds.wait_in(lock, options))
    end
    return lock[method](lock, options)
  end

  kinds.each(it, "are as documented", function(kind)
    local lock = kind.make(connect(), support.path())
    for row = 2, #of_calls do
      for column = 2, #heading do
        local option, name = option_in(of_calls[row][1])
        local method = heading[column]
        if of_calls[row][column] == "yes" then
          local guard, message = call(lock, method, option)
          assert(guard, message)
          if guard ~= true then guard:release() end
        else
          assert.matches(name,
            misuse(function() lock[method](lock, option) end))
        end
      end
    end
  end)
end)

describe("A path", function()
  local uses = {
    { "a mutex", function(s, p) return s:mutex(p) end },
    { "an unfair mutex",
      function(s, p) return s:mutex(p, { fair = false }) end },
    { "a mutex in kazoo's layout",
      function(s, p) return s:mutex(p, { layout = "kazoo" }) end },
    { "a rwlock", function(s, p) return s:rwlock(p).write end },
    { "a rwlock in kazoo's layout",
      function(s, p) return s:rwlock(p, { layout = "kazoo" }).write end },
    { "an election", function(s, p) return s:election(p) end },
    { "an election in kazoo's layout",
      function(s, p) return s:election(p, { layout = "kazoo" }) end },
    { "a barrier", function(s, p) return s:barrier(p) end },
    { "a double barrier of 1 member",
      function(s, p) return s:double_barrier(p, 1) end },
    { "a double barrier of 2 members",
      function(s, p) return s:double_barrier(p, 2) end },
    { "a semaphore of 2 permits", function(s, p) return s:semaphore(p, 2) end },
    { "a semaphore of 3 permits", function(s, p) return s:semaphore(p, 3) end },
  }

  it("is used in one way by one session", function()
    local session = connect()
    for i, one in ipairs(uses) do
      local path = support.path()
      local lock = one[2](session, path)
      for k, other in ipairs(uses) do
        if i == k then
          assert.is_truthy(other[2](session, path))
        else
          local message = raised(other[2], session, path)
          assert.matches(path .. " is used as ", message, 1, true)
          assert.matches(one[1]:match " (.*)", message, 1, true)
          assert.matches(other[1]:match " (.*)", message, 1, true)
        end
      end
      if lock.acquire then assert(lock:acquire(30)):release() end
    end
  end)

  it("may be used in another way when nothing refers to the first", function()
    local session, path = connect(), support.path()
    session:mutex(path):acquire(30):release()
    support.wait_until(function()
      collectgarbage()
      return (pcall(session.semaphore, session, path, 2))
    end)
  end)
end)
