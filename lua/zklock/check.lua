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

local function shown(value)
  if type(value) == "table" then return "a table" end
  if type(value) ~= "string" then return tostring(value) end
  return #value > 200 and #value .. " bytes" or quote(value)
end

--- Returns a check: a function that returns a valid value, and raises an error
-- for any other. Valid are values of the type `expected` (nil: of any type) for
-- which `fits(value, read)` is true. `rule` describes them in the message.
-- `is_secret`: whether no message may show the value. `read`: see schema.lua.
function check.rule(expected, rule, fits, is_secret)
  return function(value, name, read)
    if expected then check.type(value, expected, name) end
    if not fits(value, read) then
      misuse("%s must be %s, got %s", name, rule,
        is_secret and "another text" or shown(value))
    end
    return value
  end
end

--- Returns a check for a number from `least` to `most`. `what`: what messages
-- call it, such as "a number of seconds". "a whole number" is also a rule.
function check.number(what, least, most)
  local rule = ("%s from %.10g to %.10g"):format(what, least, most)
  return check.rule("number", rule, function(n)
    return n >= least and n <= most
      and (what ~= "a whole number" or n == math.floor(n))
  end)
end

--- Returns a check for one of these words: `check.one_of "a b c"`.
function check.one_of(choices)
  local set = check.set(choices)
  local words = choices:gsub("%S+", '"%0"'):gsub(" ", ", ")
    :gsub(", ([^,]*)$", " or %1")
  return check.rule(nil, words, function(value) return set[value] end)
end

-- Returns a check for texts. `find_fault(text)` returns what is wrong, or nil.
local function faultless(find_fault)
  return function(text, name)
    check.type(text, "string", name)
    local fault = find_fault(text)
    if fault then misuse("%s %s, got %q", name, fault, text) end
    return text
  end
end

check.path = faultless(core.check_path)

--- Checks the name of a contender's node, as in the rows of `contenders`.
check.node = faultless(core.check_node)

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

--- Checks a fencing token. Its leading zeros can be missing.
check.token = check.rule("string", "a fencing token, of at most 19 digits",
  function(token) return #token <= 19 and token:find "^%d+$" end)

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

function check.boolean(value, name)
  return check.type(value, "boolean", name)
end

local function is_callable(value)
  local meta = type(value) == "table" and getmetatable(value)
  return type(value) == "function" or type(meta) == "table" and meta.__call
end

function check.callback(value, name)
  return is_callable(value) and value or check.type(value, "function", name)
end

--- Checks the last arguments of a call, `[options,] fn`; returns the options
-- and the function.  `usage`: the call as users write it, for messages.
function check.function_last(how, fn, usage)
  if fn == nil and is_callable(how) then return nil, how end
  if not is_callable(fn) then check.callback(fn, "argument fn of " .. usage) end
  return how, fn
end

--- Checks the data of a contender's node.
check.data = check.rule("string", ("at most %d bytes"):format(
  core.data_max), function(data) return #data <= core.data_max end)

--- Checks that a table is a list: its keys are 1 to n, and n is at least 1.
function check.list(value, name, of)
  check.type(value, "table", name)
  local n = 0
  for _ in pairs(value) do n = n + 1 end
  if n == 0 or n ~= #value then
    misuse("%s must be a list of %s, without gaps and other keys", name, of)
  end
end

--- Raises an error for an extra argument. `usage`: the call as users write it.
function check.no_more(usage, surplus)
  if surplus ~= nil then
    misuse("%s takes no more arguments, got a %s, too", usage, type(surplus))
  end
end

--- Raises the error for a method that was called with a dot or with too many
-- arguments.
function check.refuse(class, usage, self, surplus)
  if getmetatable(self) ~= class then
    misuse("%s must be called with a colon: %s", usage:match ":([%l_]+)", usage)
  end
  check.no_more(usage, surplus)
end

-- Returns a function that checks its arguments and then calls the method `fn`,
-- which has `n` parameters, three at most. It takes no varargs, because they
-- are slower. An extra argument that is nil is allowed.
local function checked(fn, n, class, usage)
  return function(self, one, two, three, surplus)
    if n == 1 then
      surplus = two
    elseif n == 0 then
      surplus = one
    elseif n == 2 then
      surplus = three
    end
    if surplus ~= nil or getmetatable(self) ~= class then
      check.refuse(class, usage, self, surplus)
    end
    return fn(self, one, two, three)
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

return check
