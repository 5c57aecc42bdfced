--- `zklock complete WORD...`: prints completions of the last word, one a line:
-- paths of locks, and nodes for `evict`. The scripts of zklock.cli.completion
-- call this command.
--
-- The user has pressed a key in the shell, and waits for the completions. So if
-- the servers take more than a second, zklock ends without completions. It
-- never prints an error.
local config = require "zklock.cli.config"
local core = require "zklock.core"
local exit = require "zklock.cli.exit"
local load = require "zklock.cli.load"
local new_parser = require "zklock.cli.parser"
local plain = require "zklock.plain"
local zklock = require "zklock"

local LIMIT = 1000 -- milliseconds until zklock gives up

-- Opens a session without the chroot; the callers put the chroot before each
-- path. A session with the chroot would create the chroot's node, but a
-- completion must not create nodes.
local function connect(request)
  local hosts, options = config.read {
    hosts = request.hosts, chroot = request.chroot,
    auth_file = request.auth_file, tls_ca = request.tls_ca,
    tls_cert = request.tls_cert, tls_key = request.tls_key,
    tls_name = request.tls_name,
  }
  local _, chroot = core.check_hosts(hosts)
  options.acl, options.tick_time = nil, nil
  options.session_timeout = 4
  options.connect_timeout = LIMIT / 1000
  local session = assert(zklock.connect(hosts:match "^[^/]*", options))
  return session, chroot or ""
end

-- Returns whether the name of a node is safe to print as a completion. Other
-- clients choose these names. A shell could run a part of a name as a command.
-- A terminal could obey control characters in it.
local function is_offered(name)
  return not name:find "[^%w_./:=@%%+,\128-\255-]" and plain.text(name) == name
end

local find = {}

function find.paths(request, session, chroot)
  local word = request.path == "" and "/" or request.path
  local directory, prefix = word:match "^(.*)/([^/]*)$"
  local list, full = {}, chroot .. directory
  for _, name in ipairs(assert(session:children(full == "" and "/" or full))) do
    -- Omits nodes that are not locks: contenders, and the records of
    -- --once-per.
    if name:sub(1, #prefix) == prefix and is_offered(name)
      and not core.contender_in(full .. "/" .. name)
      and not name:find "%.once$"
    then
      list[#list + 1] = directory .. "/" .. name
    end
  end
  return list
end

function find.nodes(request, session, chroot)
  local list, word = {}, request.node
  for _, row in ipairs(assert(session:contenders(chroot .. request.path))) do
    if row.node:sub(1, #word) == word and is_offered(row.node) then
      list[#list + 1] = row.node
    end
  end
  return list
end

local function answer(words)
  table.remove(words, 1)
  local ok, request = new_parser(true):pparse(words)
  if not ok or not request.path or (request.COMMAND or {})[1] then return end
  local session, chroot = connect(request)
  local list = find[request.node and "nodes" or "paths"](request, session,
    chroot)
  session:close()
  if list[1] then exit.answer(table.concat(list, "\n")) end
end

return function(request)
  local timer = load "luv".new_timer()
  timer:start(LIMIT, 0, function() os.exit(0) end)
  pcall(answer, request.words)
  timer:close()
end
