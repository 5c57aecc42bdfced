--- Somebody with a client of their own who does harm in ZooKeeper, and looks
-- for what is left: `require "torture.operator"(settings)` in a child.
-- luacheck: globals say hear
local core = require "zklock.core"
local journals = require "torture.journal"
local raw = require "support.raw"
local seize = require "support.seizure".seize
local support = require "support"

local settings, journal
local random = math.random

-- Runs fn(client) with a client of the server at `host`; errors are nobody's
-- business: servers die here.
local function with_client(host, fn)
  local ok, client = pcall(raw.connect, host, { patience = 2, timeout = 4 })
  if not ok then return false end
  local done, result = pcall(fn, client)
  pcall(client.close, client)
  return done and result
end

-- All ephemeral nodes, and the directories between, deepest first.
local function find(zk, path, nodes, directories)
  for _, child in ipairs(zk:children(path) or {}) do
    local node = path .. "/" .. child
    local stat = zk:exists(node)
    if stat and stat.owner ~= "0x" then
      nodes[#nodes + 1] = { path = node, owner = stat.owner,
        token = stat.czxid }
    elseif stat then
      find(zk, node, nodes, directories)
      directories[#directories + 1] = node
    end
  end
  return nodes, directories
end

-- What cannot be known counts as done: its answer was lost.
local function remove_node(zk, node)
  local begun = core.now()
  local ok, removed = pcall(zk.delete, zk, node.path)
  if removed then
    journal:note("removed", node.path, ("%.9f"):format(begun), node.token,
      not ok and "unknown" or nil)
  end
  if not ok then error "no answer" end
  return removed
end

local function some(list) return #list > 0 and list[random(#list)] end

-- What fn(zk, node) returns, of some node; false: there is none.
local function with_node(host, fn)
  return with_client(host, function(zk)
    local node = some(find(zk, settings.root, {}, {}))
    return node and fn(zk, node)
  end)
end

local commands = {}

function commands.remove(host) return with_node(host, remove_node) end

-- A directory and all that is in it.
function commands.remove_all(host)
  return with_client(host, function(zk)
    local nodes, directories = find(zk, settings.root, {}, {})
    local directory = some(directories)
    if not directory then return false end
    for _, node in ipairs(nodes) do
      if node.path:sub(1, #directory + 1) == directory .. "/" then
        remove_node(zk, node)
      end
    end
    for _, inner in ipairs(directories) do
      if inner:sub(1, #directory) == directory then
        pcall(zk.delete, zk, inner)
      end
    end
    return true
  end)
end

function commands.write(host)
  return with_node(host, function(zk, node)
    return zk:set(node.path, "an operator was here")
  end)
end

--- Closes the session that some node belongs to.
function commands.seize(host)
  local node = with_node(host, function(_, one) return one end)
  if not node then return false end
  local begun = core.now()
  local closed = seize(host, node.owner)
  if closed == false then return false end -- it was over already
  journal:note("seized", node.owner, ("%.9f"):format(begun), "it",
    not closed and "unknown" or nil)
  return true
end

-- What is left when nobody holds or waits: "" at last, or after `patience`
-- seconds what there is.
function commands.look(host, patience)
  local deadline = core.now() + tonumber(patience)
  local left
  repeat
    left = with_client(host, function(zk)
      local list = {}
      for _, node in ipairs((find(zk, settings.root, {}, {}))) do
        list[#list + 1] = ("orphan %s of %s"):format(node.path, node.owner)
      end
      for i = 1, support.count_watches(settings.root, settings.hosts) do
        list[#list + 1] = "watch " .. i
      end
      return table.concat(list, ",")
    end)
    if left ~= "" then support.sleep(0.2) end
  until left == "" or core.now() > deadline
  return left
end

function commands.clear(host)
  return with_client(host, function(zk) return zk:delete_all(settings.root) end)
end

return function(given)
  settings = given
  journal = journals.create(settings.journal)
  math.randomseed(settings.seed)
  while true do
    local line = hear()
    if not line then os.exit(0) end
    local name, host, argument = line:match "(%S+) (%S+) ?(%S*)"
    say(name, commands[name](host, argument))
  end
end
