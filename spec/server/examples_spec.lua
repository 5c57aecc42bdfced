-- The examples, as their readers run them: what each prints is what its last
-- lines say, and what befalls it is told in a sentence.
local examples = require "support.examples"
local files = require "support.files"
local support = require "support"

local all = examples.all()

-- (A library that is loaded may open a descriptor for good.)
local is_there = {}
for _, example in ipairs(all) do
  is_there[example] = examples.is_there(example)
end

-- Runs commands of the shell, all at the same time: what each has written to
-- its output, and to its errors, and its exit code.
local function run(commands)
  local pipes, results = {}, {}
  for i, command in ipairs(commands) do
    pipes[i] = { name = os.tmpname() }
    pipes[i].pipe = io.popen(("timeout 120 %s 2>%s </dev/null; echo $?")
      :format(command, pipes[i].name))
  end
  for i, one in ipairs(pipes) do
    local out, code = one.pipe:read "*a":match "^(.-)(%d+)\n$"
    one.pipe:close()
    results[i] = { out = out, err = files.read(one.name),
      code = tonumber(code) }
    os.remove(one.name)
  end
  return results
end

local function told(result)
  return ("%s%sexit code %s"):format(result.out, result.err, result.code)
end

describe("The examples #stock", function()
  it("print what they say, or which library they need", function()
    local some = {}
    for i, example in ipairs(all) do
      some[#some + 1] = example
      if #some == 6 or i == #all then
        local commands = {}
        for n, one in ipairs(some) do
          commands[n] = examples.command(one, support.hosts .. support.path())
        end
        for n, result in ipairs(run(commands)) do
          local one = some[n]
          if is_there[one] then
            assert.are.equal(0, result.code, one.name .. told(result))
            assert.are.equal("", result.err, one.name)
            assert.is_true(examples.prints(one, result.out),
              one.name .. result.out)
          else
            assert.are.equal(1, result.code, one.name)
            assert.matches("^" .. one.library
              .. "[^\n]* is needed[^\n]*\n$", result.err)
          end
        end
        some = {}
      end
    end
  end)

  -- All that can run here, so many times, at the same time.
  local function run_all(times, hosts)
    local commands = {}
    for _, example in ipairs(all) do
      for _ = 1, is_there[example] and times or 0 do
        commands[#commands + 1] = examples.command(example, hosts)
      end
    end
    return ipairs(run(commands))
  end

  it("run beside themselves, and say in a sentence that there is no server",
  function()
    for _, result in run_all(2, support.hosts .. support.path()) do
      assert.same({ "", 0 }, { result.err, result.code }, told(result))
    end
    for _, result in run_all(1, "127.0.0.1:1") do
      assert.equal(1, result.code, told(result))
      assert.matches("^zklock: no server of 127%.0%.0%.1:1 answered within "
        .. "[^\n]+\n", result.err)
      assert.is_nil(result.err:find("traceback", 1, true), result.err)
    end
  end)

  it("give back what they hold, and say nothing, on Ctrl-C", function()
    local path = support.path()
    local guard, holder = support.hold(path .. "/examples/mutex")
    local name = os.tmpname()
    local pipe = io.popen(("%s >%s 2>&1 & echo $!; wait $!; echo $?"):format(
      examples.command({ name = "mutex" }, support.hosts .. path), name))
    local pid = pipe:read()
    support.wait_for_queue(path .. "/examples/mutex", 2)
    os.execute("kill -INT " .. pid)
    assert.are.equal("130", pipe:read())
    pipe:close()
    assert.are.equal("", files.read(name))
    os.remove(name)
    support.wait_until(function()
      return #assert(holder:contenders(path .. "/examples/mutex")) == 1
    end, 2, "the example's node to go")
    guard:release()
  end)
end)

describe("The list of examples", function()
  it("has each as its head says, and nothing that is not there", function()
    local readme = examples.read "README.md"
    for _, example in ipairs(all) do
      local row = ("| [%s](%s.lua) | %s | %s | %s |"):format(example.name,
        example.name, example.title:gsub("%.$", ""), example.lock,
        example.loop)
      assert.is_truthy(readme:find("\n" .. row .. "\n", 1, true), row)
      assert.are.equal("make example NAME=" .. example.name, example.run)
    end
    local linked = { -- and what needs no link
      ["README.md"] = true, run = true, support = true, demo_parts = true,
    }
    for entry in readme:gmatch "%]%(([^):/]+)/?%)" do linked[entry] = true end
    local there = {}
    for _, entry in ipairs(examples.entries()) do there[entry] = true end
    assert.are.same(there, linked)
  end)
end)
