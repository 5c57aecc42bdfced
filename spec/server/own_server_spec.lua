-- The server that `make zookeeper` starts: where the pages and the command look
-- for it.
local socket = require "socket"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

describe("A server to try zklock with", function()
  local directory, process
  local starts = 0

  before_each(function()
    support.start()
    local pipe = io.popen "mktemp -d"
    directory = pipe:read "*l"
    pipe:close()
  end)

  local function stop()
    os.execute(("bash '%s/spec/support/zookeeper' stop '%s/%d' 2>/dev/null")
      :format(root, directory, starts))
    if process then process:close() end
    process = nil
  end

  after_each(function()
    stop()
    os.execute("rm -rf '" .. directory .. "'")
    support.finish()
  end)

  -- What it says until it serves, or ends.
  local function start(port)
    starts = starts + 1
    process = io.popen(("bash '%s/spec/support/zookeeper' start --dir "
      .. "'%s/%d' --port %s 2>&1"):format(root, directory, starts, port))
    local lines = {}
    for line in process:lines() do
      lines[#lines + 1] = line
      if line:find "^pids=" then break end
    end
    return table.concat(lines, "\n")
  end

  -- Listens on a port at that address.
  local function listen(address)
    local server = address:find ":" and assert(socket.tcp6())
      or assert(socket.tcp())
    assert(server:bind(address, 0))
    assert(server:listen())
    support.closing(server)
    local _, port = server:getsockname()
    return tonumber(port)
  end

  local function has_ipv6()
    local server = socket.tcp6()
    local ok = server and server:bind("::1", 0)
    if server then server:close() end
    return ok
  end

  it("has the port that it is told", function()
    local port = support.free_port()
    local said = start(port .. ",any")
    assert.matches("\nhosts=127%.0%.0%.1:" .. port .. "\n", said)
    assert.is_nil(said:find("taken", 1, true))
    support.connect { hosts = "127.0.0.1:" .. port }
  end)

  it("says which other port it has if that is taken", function()
    for _, address in ipairs { "127.0.0.1", "0.0.0.0",
      has_ipv6() and "::1" or nil } do -- which localhost may mean
      local port = listen(address)
      local said = start(port .. ",any")
      local other = said:match "\nhosts=127%.0%.0%.1:(%d+)\n"
      assert.are_not.equal(tostring(port), other)
      assert.truthy(said:find(("Port %d is taken: type `export ZKLOCK_HOSTS="
        .. "127.0.0.1:%s` in each terminal."):format(port, other or 0), 1,
        true), said)
      stop()
    end
    local port = listen "127.0.0.1"
    assert.equal(("zookeeper: Port %d is taken: stop what listens there, or "
      .. "name another port."):format(port), start(port))
  end)

  it("is on 2181 by itself, and on PORT= if that is said", function()
    local function typed(words)
      local pipe = io.popen(("cd '%s' && make -n INSTALLED=demo %s 2>&1")
        :format(root, words))
      local line = pipe:read "*a"
      pipe:close()
      return line:match "%-%-port %S+"
    end
    assert.equal("--port 2181,any", typed "zookeeper")
    assert.equal("--port 2345", typed "zookeeper PORT=2345")
  end)
end)
