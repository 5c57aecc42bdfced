--- Processes with the locks of other libraries: Curator (Java), kazoo (Python).
-- Not a spec itself: `require "interop.peers"`.
local child = require "support.child"
local python = require "support.python"
local shell = require "support.shell"
local socket = require "socket"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."
local here = root .. "/spec/interop"

-- (The close of its socket ends the process.)
local Peer = setmetatable({}, { __index = child.class })
Peer.__index = Peer

--- Says a line and returns at once; `hear` has what it answers.
function Peer:begin(...) self:say(table.concat({ ... }, " ")) end

function Peer:ask(...)
  self:begin(...)
  return self:hear()
end

local peers = {}

local function launch(command)
  local self = setmetatable({ name = os.tmpname() }, Peer)
  self.listener = assert(socket.bind("127.0.0.1", 0))
  local _, port = self.listener:getsockname()
  self.handle = io.popen(("exec %s %d </dev/null >%s.out 2>&1"):format(command,
    port, self.name))
  return self
end

-- All begin to start before the first is waited for.
local function start(count, command)
  local list = {}
  for i = 1, count do list[i] = launch(command) end
  for _, peer in ipairs(list) do
    peer.listener:settimeout(60)
    peer.socket = peer.listener:accept()
    peer.listener:close()
    if not peer.socket then
      error("a peer did not start: " .. peer:output(), 0)
    end
    peer:expect "ready"
  end
  return list
end

local CLASSES = [[curator-recipes curator-framework curator-client guava
  failureaccess slf4j-api slf4j-nop zookeeper zookeeper-jute]]

local function classpath(first)
  local parts = { first }
  for name in CLASSES:gmatch "%S+" do
    parts[#parts + 1] = "/usr/share/java/" .. name .. ".jar"
  end
  return table.concat(parts, ":")
end

-- (Without the flag, statistics go to /tmp, under a name that is known
-- beforehand.)
local JAVA = [[env PATH="$JAVA_HOME/bin:$PATH" java -XX:-UsePerfData]]
local JAVAC = [[env PATH="$JAVA_HOME/bin:$PATH" javac -J-XX:-UsePerfData]]

local directory -- of what is compiled

--- Compiles what is to run.
function peers.install()
  shell.must(("sh '%s/.ci/install' --check interop"):format(root))
  directory = shell.must "mktemp -d":match "%S+"
  shell.must(("%s --release 11 -Werror -d '%s' -cp '%s' "
    .. "'%s/curator/Peer.java'"):format(JAVAC, directory,
    classpath(directory), here))
end

function peers.uninstall() os.execute("rm -rf '" .. directory .. "'") end

--- Starts so many processes with Curator's locks.
function peers.curator(count)
  return start(count, ("%s -Xmx96m -XX:+UseSerialGC "
    .. "-XX:TieredStopAtLevel=1 -Xshare:auto -cp '%s' Peer '%s'")
    :format(JAVA, classpath(directory), support.hosts))
end

--- The same with kazoo's.
function peers.kazoo(count)
  return start(count, ("%s -B '%s/kazoo/peer.py' '%s'")
    :format(python "kazoo.recipe.lock", here, support.hosts))
end

return peers
