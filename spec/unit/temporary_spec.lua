--- The directory for temporary files is all users': a name in it that another
-- user can know beforehand may be a link of that user's.
local lfs = require "lfs"
local shell = require "support.shell"

local root = os.getenv "SPEC_ROOT" or "."

describe("In the directory for temporary files the specs", function()
  local directory

  setup(function() directory = shell.must("mktemp -d"):match "%S+" end)
  teardown(function() shell.must("rm -r " .. directory) end)

  local function leaves_nothing(command)
    shell.must(("cd '%s' && TMPDIR='%s' %s"):format(root, directory, command))
    assert.equal("", shell.must("ls -A " .. directory))
  end

  it("reserve no port for what a spec starts", function()
    leaves_nothing(os.getenv "SPEC_LUA"
      .. [[ -e 'require "support".free_port()']])
  end)

  it("reserve no port for a server", function()
    leaves_nothing [[sh -c 'bash spec/support/zookeeper start --detach |
      sed -n s/^dir=//p | xargs bash spec/support/zookeeper stop']]
  end)

  it("make names from others where only they can", function()
    local name = os.tmpname()
    assert.equal("rwxr-xr-x",
      lfs.attributes(name:match "^(.*)/", "permissions"))
    os.remove(name)
  end)
end)
