-- Servers that have lost their data, and how they go on above the old tokens:
-- by the commands of doc/operations.md.
local command = require "support.command"
local raw = require "support.raw"
local read = require "support.files".read
local shell = require "support.shell"
local start_server = require "support.server".start
local support = require "support"

local PAGE = (os.getenv "SPEC_ROOT" or ".") .. "/doc/operations.md"

-- The page's commands: for each server of an ensemble, for a single one, and
-- afterwards.
local function procedure()
  local section = read(PAGE):match "### The servers have lost their data\n(.*)"
  local list = {}
  for text in section:gsub("\n##.*", ""):gmatch "```sh\n(.-)```" do
    list[#list + 1] = text
  end
  assert.equal(3, #list)
  return list
end

local function with_client(hosts, fn)
  local zk = raw.connect(hosts)
  fn(zk)
  zk:close()
end

for _, number in ipairs { 1, 3 } do
  describe(number == 1 and "A server that has lost its data"
    or "Three servers that have lost their data", function()
    local servers

    before_each(function() servers = support.closing(start_server(number)) end)

    local function data(i)
      return ("%s/servers/%d/data"):format(servers.dir, i)
    end

    local function stop_all()
      for i = 1, number do servers:kill(i) end
    end

    local function start_all()
      servers:restart(number == 1 and "1" or "1 2 3")
    end

    local function lose_data()
      stop_all()
      for i = 1, number do
        assert(os.execute(("rm -r '%s/version-2'"):format(data(i))))
      end
    end

    local function connect()
      return support.connect { hosts = servers.hosts, session_timeout = 3,
        connect_timeout = 60 }
    end

    local function tokens(session, path, count)
      local list = {}
      for i = 1, count do
        local guard = assert(session:mutex(path):acquire(60))
        list[i] = guard:token()
        assert(guard:release { wait = true })
      end
      return list
    end

    local function run(text, token, cwd)
      shell.must(("set -e\nTOKEN=%s\ncd '%s'\n%s"):format(token, cwd, text))
    end

    -- The last command of the page: zklock's words and exit code.
    local function check(text, token)
      local words = {}
      for word in text:gsub('"$TOKEN"', token):gmatch "%S+" do
        words[#words + 1] = word
      end
      assert.equal("zklock", table.remove(words, 1))
      return command.run(words, { env = { ZKLOCK_HOSTS = servers.hosts } })
    end

    it("goes on above the old tokens if it is told to", function()
      local commands = procedure()
      local session = connect()
      -- (Servers that have lost their data are as new ones: three are not made
      -- to lose them. The token is another life's.)
      local old = ("%019d"):format(7 * 2 ^ 32 + 100)
      if number == 1 then
        -- (Heartbeats, too, make the tokens larger: those after the loss of the
        -- data must not come up to this one.)
        old = tokens(session, "/a", 100)[100]
        lose_data()
        start_all()
      end
      -- What the guarantee assumes: tokens go back, and one comes twice.
      assert.is_true(tokens(connect(), "/a", 1)[1] <= old)
      assert.equal(1, check(commands[3], old).code)
      if number == 1 then
        lose_data()
        start_all()
      else
        with_client(servers.hosts, function(zk) assert(zk:create "/kept") end)
      end
      stop_all()
      for i = 1, number do
        run(commands[number == 1 and 2 or 1], old, data(i))
      end
      start_all()

      local new = tokens(session, "/a", 1)[1]
      assert.is_true(new > old, new)
      assert.is_true(tokens(connect(), "/b", 1)[1] > new)
      local said = check(commands[3], old)
      assert.equal(0, said.code, said.out .. said.err)

      -- The servers keep it.
      stop_all()
      start_all()
      assert.is_true(tokens(session, "/a", 1)[1] > new)
      if number > 1 then
        with_client(servers.hosts,
          function(zk) assert(zk:exists "/kept") end)
      end
    end)
  end)
end

-- One that lags and one that is empty are a majority, and neither knows what
-- the third has acknowledged.
describe("A server that has lost its data", function()
  it("has no vote where db.autocreate is false", function()
    local servers = support.closing(start_server(3))
    local lagging = servers:leader() % 3 + 1
    local emptied, whole = lagging % 3 + 1, (lagging + 1) % 3 + 1
    servers:configure("db.autocreate", "false")
    servers:kill(lagging)
    with_client(servers:host(whole),
      function(zk) assert(zk:create "/kept") end)
    servers:kill(emptied)
    servers:kill(whole)
    assert(os.execute(("rm -r '%s/servers/%d/data/version-2'")
      :format(servers.dir, emptied)))

    servers:begin_restart(lagging)
    servers:begin_restart(emptied)
    support.wait_until(function()
      return read(("%s/servers/%d/log"):format(servers.dir, emptied))
        :find("setting zxid to -1", 1, true)
    end, 60)
    servers:restart(whole)
    with_client(servers:host(whole),
      function(zk) assert(zk:exists "/kept") end)
  end)
end)
