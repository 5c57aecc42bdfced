-- Options `auth` and `acl`: a typo never passes, and no message shows a secret.
local support = require "support"
local zklock = require "zklock"

-- What connect says to these options.
local function said(options)
  return support.misuse(function() zklock.connect("a", options) end)
end

local ANN = { scheme = "digest", credential = "ann:secret" }
local HASH = "ann:lTk9FRBSsuTHUTIrBJYIZ3vFDHk="

-- Each row: a value, the message behind "option '<name>' ", option `auth`.
local function refuses(name, rows)
  for _, row in ipairs(rows) do
    local options = { auth = row[3] }
    options[name] = row[1]
    local message = said(options)
    assert.equal(row[4] or ("option '%s' %s"):format(name, row[2]), message)
    assert.is_nil(message:find("secret", 1, true))
  end
end

describe("Option auth", function()
  local function digest(credential)
    return { scheme = "digest", credential = credential }
  end

  it("refuses each mistake in it, and shows no secret", function()
    local UNKNOWN = 'unknown option "..." in option \'auth\' [1] (known: '
      .. "credential, scheme)"
    local SCHEME = "scheme must be 1 to 8192 bytes, none of them NUL, got "
      .. "another text"
    local CREDENTIAL = "credential must be 1 to 8192 bytes, none of them NUL, "
      .. "and \"user:password\" if the scheme is 'digest', got another text"
    local LIST = "must be a list of { scheme =, credential = }, without gaps "
      .. "and other keys"
    refuses("auth", {
      { "ann:secret", "must be a table, got a string" },
      { {}, "[1].scheme must be a string, got nil" },
      { { digest = "ann:secret" }, nil, nil, UNKNOWN },
      { { Scheme = "digest", credential = "ann:secret" }, nil, nil, UNKNOWN },
      { { ["ann:secret"] = "digest" }, nil, nil, UNKNOWN },
      { { { scheme = "digest", credential = "ann:secret", user = "ann" } }, nil,
        nil, UNKNOWN },
      { { "digest", "ann:secret" }, "[1] must be a table, got a string" },
      { { ANN, scheme = "digest", credential = "ann:secret" }, LIST },
      { { ANN, ["ann:secret"] = 1 }, LIST },
      { { ANN, nil, ANN }, LIST },
      { { [2] = ANN }, nil, nil, UNKNOWN },
      { digest("ann:" .. ("secret"):rep(20000)), "[1]." .. CREDENTIAL },
      { { credential = "ann:secret" },
        "[1].scheme must be a string, got nil" },
      { { scheme = "digest" }, "[1].credential must be a string, got nil" },
      { digest(4711), "[1].credential must be a string, got a number" },
      { { scheme = "", credential = "ann:secret" }, "[1]." .. SCHEME },
      { digest "", "[1]." .. CREDENTIAL },
      { { scheme = "digest\0", credential = "ann:secret" }, "[1]." .. SCHEME },
      { { ANN, digest "ann:sec\0ret" }, "[2]." .. CREDENTIAL },
      { digest ":secret", "[1]." .. CREDENTIAL },
      { digest "secret", "[1]." .. CREDENTIAL },
      { digest "secret:", "[1]." .. CREDENTIAL },
    })
  end)
end)

describe("Option acl", function()
  local function entry(scheme, id, perms)
    return { scheme = scheme, id = id, perms = perms }
  end
  local function world(perms) return entry("world", "anyone", perms) end

  it("refuses each mistake in it, and shows no secret", function()
    local crowd = {} -- as many as twenty thousand users have
    for i = 1, 20000 do
      crowd[i] = entry("ip", ("10.0.%d.%d"):format(math.floor(i / 256),
        i % 256), "cdrwa")
    end
    local WORD = "must be \"open\", \"creator\", \"read\" or a list of "
      .. "{ scheme =, id =, perms = }"
    local LIST = "must be a list of { scheme =, id =, perms = }, without gaps "
      .. "and other keys"
    local SCHEME = "[1].scheme must be 1 to 8192 bytes, none of them NUL, got "
      .. "another text"
    local ID = "[1].id must be \"anyone\" in the scheme 'world', \"\" in the "
      .. "scheme 'auth' (the creator's credentials), and \"user:hash\" in the "
      .. "scheme 'digest', the hash in base64: not the password, which every "
      .. "client could read, got another text"
    local NEEDS = "needs option 'auth', because it names the creator"
    local function letters(text, i)
      return ("[%d].perms must be made of the letters c, d, r, w, a, each at "
        .. "most once, got %s"):format(i or 1, text)
    end
    local function shut_out(missing)
      return ("must let this session itself create, delete and read, but no "
        .. "entry that may match it has '%s'"):format(missing)
    end
    refuses("acl", {
      { "Creator", WORD },
      { 31, WORD },
      { {}, LIST },
      { world "cdrwa", LIST },
      { { world "cdrwa", perms = "r" }, LIST },
      { { world "cdrwa", nil, world "r" }, LIST },
      { { "world" }, "[1] must be a table, got a string" },
      { { { scheme = "world", id = "anyone", permissions = 31 } }, nil, nil,
        "unknown option \"permissions\" in option 'acl' [1] (known: id, "
        .. "perms, scheme)" },
      { { entry(nil, "anyone", "r") }, "[1].scheme must be a string, got nil" },
      { { entry("", "x", "r") }, SCHEME },
      { { entry("wor\0ld", "x", "r") }, SCHEME },
      { { entry("ip", nil, "r") }, "[1].id must be a string, got nil" },
      { { entry("ip", "", "r") }, ID },
      { { entry("ip", "10.0.0.1\0", "r") }, ID },
      { { entry("world", "anybody", "r") }, ID },
      { { entry("digest", "ann:secret", "cdrwa") }, ID },
      { { entry("digest", HASH:sub(5), "cdrwa") }, ID },
      { crowd, "must have at most 4096 bytes in a request, about 80 entries, "
        .. "got 20000 entries" },
      { { world(nil) }, "[1].perms must be a string, got nil" },
      { { world "" }, letters '""' },
      { { world "crx" }, letters '"crx"' },
      { { world "CDRWA" }, letters '"CDRWA"' },
      { { world "crr" }, letters '"crr"' },
      { { world "cdr\0" }, letters '"cdr\\x00"' },
      { { world "cdrwa", world "" }, letters('""', 2) },
      { "creator", NEEDS },
      { "read", NEEDS },
      { { entry("auth", "", "cdrwa") }, NEEDS },
      { { entry("auth", "ann", "cdrwa") }, ID, ANN },
      -- Some let the session itself not do what it has to.
      { { world "cdwa" }, shut_out "r" },
      { { world "drwa" }, shut_out "c" },
      { { world "crwa" }, shut_out "d" },
      { { world "cr", entry("auth", "", "crwa") }, shut_out "d", ANN },
      { { entry("digest", HASH, "cdrwa") }, shut_out "cdr" },
      { { world "r", entry("digest", HASH, "cd") }, shut_out "cd" },
    })
  end)

  it("is taken where some entries together let us, or may", function()
    local access = require "zklock.access"
    local function sure(acl, auth)
      local read = { auth = auth and access.read_auth(auth, "auth") or {} }
      local list = access.read_acl(acl, "acl", read)
      assert.equal(type(acl) == "table" and #acl or nil,
        type(acl) == "table" and #list or nil)
      return not read.doubts_acl
    end
    assert.is_true(sure "open")
    assert.is_true(sure("creator", ANN))
    assert.is_true(sure("read", ANN))
    assert.is_true(sure { world "cdr" })
    assert.is_true(sure({ world "r", entry("auth", "", "cd") }, ANN))
    -- Of these a server knows whether we are meant.
    assert.is_false(sure({ entry("digest", HASH, "cdr") }, ANN))
    assert.is_false(sure({ world "cr", entry("digest", HASH, "d") }, ANN))
    assert.is_false(sure { entry("ip", "127.0.0.1", "cdrwa") })
    assert.is_false(sure { entry("x509", "CN=ann", "cdrwa") })
  end)
end)
