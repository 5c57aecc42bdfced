-- The server that `make zookeeper` starts: where the pages and the command look
-- for it.
local command = require "support.command"
local output = require "support.shell".output
local socket = require "socket"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

describe("A server to try zklock with", function()
  -- What it says until it serves, or ends.
  local function start(port)
    local place = command.directory() .. "/server"
    local process = io.popen(("bash '%s/spec/support/zookeeper' start --dir "
      .. "'%s' --port %s 2>&1"):format(root, place, port))
    support.closing(process, function()
      os.execute(("bash '%s/spec/support/zookeeper' stop '%s' 2>/dev/null")
        :format(root, place))
      process:close()
    end)
    local lines = {}
    for line in process:lines() do
      lines[#lines + 1] = line
      if line:find "^pids=" then break end
    end
    return table.concat(lines, "\n")
  end

  -- Listens on a port at that address; nil if there is none of its kind.
  local function listen(address)
    local server = support.closing(
      address:find ":" and socket.tcp6() or socket.tcp())
    if not server:bind(address, 0) then return nil end
    assert(server:listen())
    return tonumber((select(2, server:getsockname())))
  end

  it("has the port that it is told, or says which other one if that is taken",
  function()
    local free = support.free_port()
    local said = start(free .. ",any")
    assert.matches("\nhosts=127%.0%.0%.1:" .. free .. "\n", said)
    assert.is_nil(said:find("taken", 1, true))
    support.connect { hosts = "127.0.0.1:" .. free }
    -- (localhost may mean ::1.)
    for _, address in ipairs { "127.0.0.1", "::1" } do
      local port = listen(address)
      said = port and start(port .. ",any")
      local other = port and said:match "\nhosts=127%.0%.0%.1:(%d+)\n"
      assert.are_not.equal(tostring(port), other)
      assert.truthy(not port or said:find(("Port %d is taken: type `export "
        .. "ZKLOCK_HOSTS=127.0.0.1:%s` in each terminal."):format(port, other),
        1, true), said)
      support.close_all()
    end
    local port = listen "127.0.0.1"
    assert.equal(("zookeeper: Port %d is taken: stop what listens there, or "
      .. "name another port."):format(port), start(port))
  end)

  -- What make says that it would do.
  local function typed(words)
    return output(("cd '%s' && make -n %s 2>&1"):format(root, words))
  end

  it("is on 2181 by itself, and on PORT= if that is said", function()
    assert.matches("--port 2181,any\n", typed "zookeeper", 1, true)
    assert.matches("--port 2345\n", typed "zookeeper PORT=2345", 1, true)
  end)

  it("has TLS with TLS=yes, and refuses other spellings", function()
    for _, target in ipairs { "zookeeper", "ensemble" } do
      assert.matches("--tls", typed(target .. " TLS=yes"), 1, true)
      for _, words in ipairs { "", " TLS=", " TLS=no" } do
        assert.is_nil(typed(target .. words):find("--tls", 1, true))
      end
      for _, word in ipairs { "1", "true", "on", "YES" } do
        local said = typed(target .. " TLS=" .. word)
        assert.matches("TLS must be yes or no, not '" .. word .. "'", said, 1,
          true)
        assert.is_nil(said:find("zookeeper start", 1, true))
      end
    end
  end)
end)
