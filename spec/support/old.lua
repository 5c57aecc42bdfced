--- An earlier zklock, for processes that share locks with this one, as in a
-- rolling upgrade.  It is built once, from the clone's history, into build/.
local lfs = require "lfs"
local shell = require "support.shell"
local support = require "support"
local quote = shell.quote

local old = {}

--- What is built.
old.commit = "37ef8f760f613afbefc2f656e27a785361de72fb"

local root = os.getenv "SPEC_ROOT" or lfs.currentdir()
local backend, version = require "zklock.core".backend, _VERSION:sub(5)

-- Runs it in a shell: did it end with 0, and what it wrote.
local function run(command, ...)
  local words = {}
  for i = 1, select("#", ...) do words[i] = quote((select(i, ...))) end
  return shell.run(command:format((unpack or table.unpack)(words)))
end

local function exists(name) return lfs.attributes(name) ~= nil end

--- Is this tree a clone?  (An archive of the source has no history.)
function old.is_in_clone() return exists(root .. "/.git") end

-- Where another run has built it, too.
local function keep(new, place)
  if not os.rename(new, place) then
    run("rm -rf %s", new)
    assert(exists(place), "build/ cannot be written")
  end
end

-- Several runs may build it at the same time: the first one's stays.  (Make's
-- variables for this tree are not meant for that one.  It need not be quick.)
local function build(place)
  local new = ("%s.%d"):format(place, support.pid())
  local ok, said = run([[
    cd %s && mkdir -p %s &&
    git --git-dir=.git archive %s Makefile bin lua src | tar -xC %s &&
    test -e %s/Makefile && cd %s &&
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL \
      make -s BUILD=build CFLAGS=-O0 HARDENING= LDFLAGS= ZK=%s LUA_VERSION=%s \
      build/%s/%s/zklock/core.so]], root, new, old.commit, new, new, new,
    backend, version, backend, version)
  if ok then return keep(new, place) end
  run("rm -rf %s", new)
  error("the earlier zklock could not be built: " .. said, 0)
end

-- It says what is missing where the history is not there: a shallow clone.
local function check_history()
  local ok, said = run("cd %s && git --git-dir=.git cat-file -e %s", root,
    old.commit .. "^{commit}")
  if ok then return end
  error(("the earlier zklock, commit %s, is not in this clone: a shallow one "
    .. "gets it by 'git fetch --unshallow'; git said: %s"):format(old.commit,
    said), 0)
end

--- Builds it, unless it is there; its directory.
function old.install()
  local place = ("%s/build/old-%s-%s-%s"):format(root, old.commit:sub(1, 7),
    backend, version)
  if not exists(place) then
    check_history()
    build(place)
  end
  old.place = place
  return place
end

-- This tree's modules are not found beside it, but the specs' are.
local function paths()
  local own = root .. "/lua/"
  local rest = {}
  for path in os.getenv("LUA_PATH"):gmatch "[^;]+" do
    if path:sub(1, #own) ~= own then rest[#rest + 1] = path end
  end
  return {
    LUA_PATH = ("%s/lua/?.lua;%s/lua/?/init.lua;%s;;"):format(old.place,
      old.place, table.concat(rest, ";")),
    LUA_CPATH = ("%s/build/%s/%s/?.so;;"):format(old.place, backend, version),
  }
end

--- The environment of a process that is to have it: words for a shell.
function old.words()
  local words = {}
  for name, value in pairs(paths()) do
    words[#words + 1] = name .. "=" .. quote(value)
  end
  return table.concat(words, " ")
end

return old
