--- Check: checks arguments.  Each message names the argument and the rule.
local core = require "zklock.core"
local misuse = require "zklock.errors".misuse
local quote = require "zklock.quote"

local check = {}

--- Returns a set of words: `check.set "a b"` is `{ a = true, b = true }`.
function check.set(words)
  local set = {}
  for word in words:gmatch("%S+") do set[word] = true end
  return set
end

function check.type(value, expected, name)
  if type(value) ~= expected then
    misuse("%s must be a %s, got %s", name, expected,
      value == nil and "nil" or "a " .. type(value))
  end
  return value
end

local function faultless(text, name, find_fault)
  check.type(text, "string", name)
  local fault = find_fault(text)
  if fault then misuse("%s %s, got %q", name, fault, text) end
  return text
end

function check.path(path, name)
  return faultless(path, name, core.check_path)
end

--- Checks the path of any node, and returns it. Accepts "/", too.
function check.place(path, name)
  return path == "/" and path or check.path(path, name)
end

--- Checks the name of a contender's node, as in the rows of `contenders`.
function check.node(node, name)
  return faultless(node, name, core.check_node)
end

--- Checks a fencing token, a text of at most 19 digits. Its leading zeros can
-- be missing.
function check.token(token, name)
  return faultless(token, name, function()
    return not (#token <= 19 and token:find "^%d+$")
      and "must be a fencing token"
  end)
end

--- Checks the path of a lock. No component of the path may have a name like a
-- contender's node. A lock at a path above would take such a component for one
-- of its contenders. The path must not be /zookeeper or below it. `chroot`: the
-- session's chroot, with which the full path begins.
function check.lock_path(path, chroot, name)
  check.path(path, name)
  local full = chroot .. path
  local where = chroot == "" and "" or " with the chroot " .. quote(chroot)
  local component = core.contender_in(full)
  if component then
    misuse("%s must not have a component that reads as a contender's node: %q "
      .. "does, in %q%s", name, component, path, where)
  elseif (full .. "/"):sub(1, 11) == "/zookeeper/" then
    misuse("%s must not be /zookeeper or below it, which is ZooKeeper's own, "
      .. "got %q%s", name, path, where)
  end
  return path
end

--- Checks a time in seconds, and returns it. Returns nil for no limit: if the
-- time is extremely long, such as math.huge.
function check.duration(value, name)
  if not (type(value) == "number" and value >= 0) then
    check.type(value, "number", name)
    misuse("%s must be a number of seconds, not negative, got %s", name,
      tostring(value))
  end
  if value < 1e9 then return value end
end

--- Returns a function that checks a number. `fits(value)` returns whether the
-- number is valid; `rule` describes the valid numbers in the message.
function check.number(rule, fits)
  return function(value, name)
    check.type(value, "number", name)
    if not fits(value) then
      misuse("%s must be %s, got %s", name, rule, tostring(value))
    end
    return value
  end
end

--- Returns a function that checks a whole number from `least` to 1000000.
function check.whole(least)
  return check.number(("a whole number from %d to 1000000"):format(least),
    function(n) return n == math.floor(n) and n >= least and n <= 1e6 end)
end

--- Returns a function that checks that a value is one of these words:
-- `check.one_of "a b c"`.
function check.one_of(choices)
  local set = check.set(choices)
  local words = choices:gsub("%S+", '"%0"'):gsub(" ", ", ")
    :gsub(", ([^,]*)$", " or %1")
  return function(value, name)
    if not set[value] then
      misuse("%s must be %s, got %s", name, words, tostring(value))
    end
    return value
  end
end

function check.boolean(value, name)
  return check.type(value, "boolean", name)
end

local function is_callable(value)
  local meta = type(value) == "table" and getmetatable(value)
  return type(value) == "function" or type(meta) == "table" and meta.__call
end

function check.callback(value, name)
  if not is_callable(value) then
    misuse("%s must be a function, got %s", name,
      value == nil and "nil" or "a " .. type(value))
  end
  return value
end

--- Checks the last arguments of a call, `[options,] fn`; returns the options
-- and the function.  `usage`: the call as users write it, for messages.
function check.function_last(how, fn, usage)
  if fn == nil and is_callable(how) then return nil, how end
  if is_callable(fn) then return how, fn end
  if is_callable(how) then
    misuse("%s takes the function last: %s", usage:match "^[%l_]+", usage)
  end
  check.callback(fn, "argument fn of " .. usage)
end

--- Checks the data of a contender's node.
function check.data(value, name)
  check.type(value, "string", name)
  if #value > core.data_max then
    misuse("%s must be at most %d bytes, got %d", name,
      core.data_max, #value)
  end
  return value
end

--- Raises the error for a method that was called with a dot or with too many
-- arguments. `usage`: the method as users write it. `surplus`: the extra
-- argument.
function check.refuse(class, usage, self, surplus)
  if getmetatable(self) ~= class then
    misuse("%s must be called with a colon: %s", usage:match ":([%l_]+)", usage)
  end
  misuse("%s takes no more arguments, got a %s, too", usage, type(surplus))
end

-- Returns a function that checks its arguments and then calls the method `fn`,
-- which has `n` parameters. If `n` is at most 1, the function takes no varargs,
-- because varargs are slower. An extra argument that is nil is allowed.
local function checked(fn, n, class, usage)
  local refuse = check.refuse
  if n < 2 then
    return function(self, one, surplus)
      if n == 0 then one, surplus = nil, one end
      if surplus ~= nil or getmetatable(self) ~= class then
        refuse(class, usage, self, surplus)
      end
      return fn(self, one)
    end
  end
  return function(self, ...)
    local surplus = select(n + 1, ...)
    if surplus ~= nil or getmetatable(self) ~= class then
      refuse(class, usage, self, surplus)
    end
    return fn(self, ...)
  end
end

--- Makes the public methods of a class raise an error if called with a dot or
-- with extra arguments. `usages`: the methods as users write them, with one in
-- each line.
function check.methods(class, usages)
  for usage, name, arguments in
    usages:gmatch "([%l_]+:([%l_]+)%(([^)]*)%))" do
    local _, n = arguments:gsub("[^,]+", "")
    class[name] = checked(class[name], n, class, usage)
  end
end

--- Calls check.methods for the methods that all kinds of locks have.
function check.lock_methods(class)
  check.methods(class, [[
    lock:acquire(timeout or options)
    lock:try_acquire(options)
    lock:with_lock(timeout or options, fn)
    lock:acquire_async(timeout or options, fn)
    lock:release(options)
    lock:holders()
    lock:cancel()
  ]])
end

--- Raises an error if a function of the module is called with a colon or with
-- too many arguments. `usage`: the call as users write it. `first`: the first
-- argument, which is the module itself if a colon was used. `surplus`: the
-- extra argument, or nil.
function check.arguments(usage, first, surplus)
  if type(first) == "table" and first.connect then
    misuse("%s must be called with a dot", usage)
  elseif surplus ~= nil then
    check.refuse(nil, usage, nil, surplus)
  end
end

return check
