--- An earlier zklock, for processes that share locks with this one, as in a
-- rolling upgrade.  It is built once, from the clone's history, into build/.
local lfs = require "lfs"
local shell = require "support.shell"
local quote = shell.quote

local root = os.getenv "SPEC_ROOT" or lfs.currentdir()
local backend, version = require "zklock.core".backend, _VERSION:sub(5)

-- What is built, and where.
local COMMIT = "37ef8f760f613afbefc2f656e27a785361de72fb"

local old = { place = ("%s/build/old-%s-%s-%s"):format(root, COMMIT:sub(1, 7),
  backend, version) }

--- Is this tree a clone?  (An archive of the source has no history.)
function old.is_in_clone() return lfs.attributes(root .. "/.git") ~= nil end

-- (Make's variables for this tree are not meant for that one.  It need not be
-- quick.)
local BUILD = [[
exec 9>$place.lock && flock 9 || exit
test ! -e $place || exit 0
cd $root && rm -rf $place.new && mkdir $place.new || exit
git --git-dir=.git cat-file -e $commit^{commit} || {
  echo "This clone lacks commit $commit: git fetch --unshallow gets it."
  exit 1
}
git --git-dir=.git archive $commit Makefile bin lua src |
  tar -xC $place.new && cd $place.new &&
  env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL \
    make -s BUILD=build CFLAGS=-O0 HARDENING= LDFLAGS= ZK=$zk \
    LUA_VERSION=$lua build/$zk/$lua/zklock/core.so &&
  mv $place.new $place]]

--- Builds it, unless it is there.
function old.install()
  shell.must((BUILD:gsub("%$(%l+)", { root = quote(root), commit = COMMIT,
    place = quote(old.place), zk = backend, lua = version })))
end

--- The environment of a process that is to have it, words for a shell: this
-- tree's modules are not found beside it, but the specs' are.
function old.words()
  local own, rest = root .. "/lua/", {}
  for path in os.getenv("LUA_PATH"):gmatch "[^;]+" do
    if path:sub(1, #own) ~= own then rest[#rest + 1] = path end
  end
  return ("LUA_PATH=%s LUA_CPATH=%s"):format(
    quote(("%s/lua/?.lua;%s/lua/?/init.lua;%s;;"):format(old.place, old.place,
      table.concat(rest, ";"))),
    quote(("%s/build/%s/%s/?.so;;"):format(old.place, backend, version)))
end

return old
