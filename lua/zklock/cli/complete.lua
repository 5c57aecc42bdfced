--- `zklock complete SHELL NUMBER zklock WORD...`: what may stand at that word,
-- for completion/.  A line says what is to come (see completion.lua), then come
-- the candidates, each with a tabulator and its meaning.
--
-- Who presses a key waits for this: what the servers do not say within 200 ms
-- is not said, and nothing that goes wrong is.
local bash_words = require "zklock.cli.bash_words"
local completion = require "zklock.cli.completion"
local config = require "zklock.cli.config"
local core = require "zklock.core"
local exit = require "zklock.cli.exit"
local load = require "zklock.cli.load"
local plain = require "zklock.plain"
local zklock = require "zklock"

-- Of the 200, starting takes some.
local LIMIT = 160 -- milliseconds

-- A session above the chroot: so that looking does not make it.
local function connect(request)
  local hosts, options = config.read {
    hosts = request.hosts, chroot = request.chroot,
    auth_file = request.auth_file,
  }
  local _, chroot = core.check_hosts(hosts)
  options.acl, options.tick_time = nil, nil
  options.session_timeout = 4
  options.connect_timeout = LIMIT / 1000
  local session = assert(zklock.connect(hosts:match "^[^/]*", options))
  return session, chroot or ""
end

-- Text that is no more than text, in every shell and terminal.
local function is_shown(text) return plain.text(text) == text end

-- Not contenders, which are no locks, nor the notes of --once-per.
local function is_offered(directory, name)
  return not core.contender_in(directory .. "/" .. name)
    and not name:find "%.once$" and is_shown(name)
end

local find = {}

function find.words(found) return found[1] end

function find.files() return {} end
function find.command() return {} end

function find.paths(found)
  local word = found.word == "" and "/" or found.word
  local directory, prefix = word:match "^(.*)/([^/]*)$"
  local session, chroot = connect(found.request)
  local list, full = {}, chroot .. directory
  for _, name in ipairs(assert(session:children(full == "" and "/" or full))) do
    if name:sub(1, #prefix) == prefix and is_offered(full, name) then
      list[#list + 1] = { directory .. "/" .. name, "" }
    end
  end
  session:close()
  return list
end

function find.nodes(found)
  local session, chroot = connect(found.request)
  local list = {}
  for _, row in ipairs(assert(session:contenders(chroot .. found.path))) do
    if row.node:sub(1, #found.word) == found.word and is_shown(row.node) then
      list[#list + 1] = { row.node, plain.text(row.data or "") }
    end
  end
  session:close()
  return list
end

-- The words behind `complete SHELL NUMBER zklock`, and what bash is to know.
local function read(given)
  local shell, number, words = given[2], tonumber(given[3]), {}
  for i = 5, #given do words[i - 4] = given[i] end
  words[number] = words[number] or ""
  if shell == "bash" then return bash_words(words, number) end
  return words, number, "", function(at) return at end
end

local function write(given)
  local words, number, front, original = read(given)
  local found = completion.find(words, number)
  if not found then return end
  local lines = { found.kind }
  if found.kind == "command" then
    lines[1] = ("command %d"):format(original(found.at))
  end
  for _, candidate in ipairs(find[found.kind](found)) do
    lines[#lines + 1] = candidate[1]:sub(#front + 1) .. "\t" .. candidate[2]
  end
  exit.answer(table.concat(lines, "\n"))
end

return function(request)
  local timer = load "luv".new_timer()
  timer:start(LIMIT, 0, function() os.exit(0) end)
  pcall(write, request.words)
  timer:close()
end
