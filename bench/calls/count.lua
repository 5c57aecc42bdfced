--- Counts the calls of one uncontended acquire and of its release, in C and in
-- Lua, on both threads; bench/calls/run calls this.
--
--     count.lua CALLS.so CORE.so HOSTS
local calls = assert(package.loadlib(arg[1], "luaopen_calls"))()
local core = arg[2]
local zklock = require "zklock"

local numbers, files = {}, {}

-- The number of a file; nil for what is not ours.
local function number_of(source)
  local file = source:match "^@.*/(lua/zklock/.*)$"
  if not file then return end
  if not numbers[file] then
    files[#files + 1] = file
    numbers[file] = #files
  end
  return numbers[file]
end

local function hook()
  local info = debug.getinfo(2, "S")
  local number = info.what ~= "C" and number_of(info.source)
  if number then calls.enter(number) end
end

local function trace(body)
  calls.begin()
  debug.sethook(hook, "c")
  body()
  debug.sethook()
  return calls.stop()
end

-- The files of functions in C, by their addresses.
local function resolve(list)
  local addresses, of = {}, {}
  for _, call in ipairs(list) do
    if type(call) == "string" and not of[call] then
      of[call] = true
      addresses[#addresses + 1] = call
    end
  end
  local pipe = assert(io.popen(("addr2line -e '%s' %s"):format(core,
    table.concat(addresses, " "))))
  for _, address in ipairs(addresses) do
    of[address] = pipe:read "l":match "(src/%l+/[%w_]+%.%l)"
  end
  pipe:close()
  return of
end

local function report(what, ...)
  local seen, counted, distinct, changes = {}, 0, 0, 0
  for _, list in ipairs { ... } do
    local of, last = resolve(list), nil
    for _, call in ipairs(list) do
      local file = of[call] or files[call]
      if file then
        counted = counted + 1
        if not seen[file] then distinct = distinct + 1 end
        if file ~= last then changes = changes + 1 end
        seen[file], last = true, file
      end
    end
  end
  print(("%-8s %5d calls in %2d files, %3d changes of file"):format(what,
    counted, distinct, changes))
end

local session = assert(zklock.connect(arg[3], { loop = "poll" }))
local mutex = session:mutex "/calls"
for _ = 1, 3 do assert(mutex:acquire(10)):release { wait = true } end

local guard
report("acquire", trace(function() guard = assert(mutex:acquire(10)) end))
report("release", trace(function() guard:release { wait = true } end))
session:close()
