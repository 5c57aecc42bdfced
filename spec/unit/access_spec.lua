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
    local UNKNOWN = "[1] has an unknown key: its keys are 'scheme' and "
      .. "'credential'"
    local USER = "[1].credential of scheme 'digest' must be "
      .. "\"user:password\""
    local EITHER = "must be one { scheme =, credential = } or a list of such, "
      .. "not both, and without gaps"
    refuses("auth", {
      { "ann:secret", "must be a table, got a string" },
      { {}, "must not be empty: leave it out for no credentials" },
      { { digest = "ann:secret" }, UNKNOWN },
      { { Scheme = "digest", credential = "ann:secret" }, UNKNOWN },
      { { ["ann:secret"] = "digest" }, UNKNOWN },
      { { { scheme = "digest", credential = "ann:secret", user = "ann" } },
        UNKNOWN },
      { { "digest", "ann:secret" }, "[1] must be a table, got a string" },
      { { ANN, scheme = "digest", credential = "ann:secret" }, EITHER },
      { { ANN, ["ann:secret"] = 1 }, EITHER },
      { { ANN, nil, ANN }, EITHER },
      { { [2] = ANN }, EITHER },
      { digest("ann:" .. ("secret"):rep(20000)),
        "[1].credential must have at most 8192 bytes, got 120004" },
      { { credential = "ann:secret" },
        "[1].scheme must be a string, got nil" },
      { { scheme = "digest" }, "[1].credential must be a string, got nil" },
      { digest(4711), "[1].credential must be a string, got a number" },
      { { scheme = "", credential = "ann:secret" },
        "[1].scheme must not be empty" },
      { digest "", "[1].credential must not be empty" },
      { { scheme = "digest\0", credential = "ann:secret" },
        "[1].scheme must not contain a NUL byte" },
      { { ANN, digest "ann:sec\0ret" },
        "[2].credential must not contain a NUL byte" },
      { digest ":secret", USER },
      { digest "secret", USER },
      { digest "secret:", USER },
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
    local LIST = "must be \"open\", \"creator\", \"read\" or a list of "
      .. "{ scheme =, id =, perms = }"
    local HASHED = "[1].id of scheme 'digest' must be \"user:hash\", the hash "
      .. "in base64: not the password, which every client could read"
    local function letters(text)
      return ("[1].perms must be made of the letters c, d, r, w, a, each at "
        .. "most once, got %s"):format(text)
    end
    local function shut_out(verb, letter)
      return ("must let this session itself read, create and delete: it could "
        .. "not %s, because no entry that may match it has '%s'"):format(
        verb, letter)
    end
    refuses("acl", {
      { "Creator", LIST },
      { {}, LIST },
      { world "cdrwa", LIST },
      { { world "cdrwa", perms = "r" }, LIST },
      { { world "cdrwa", nil, world "r" }, LIST },
      { { "world" }, "[1] must be a table, got a string" },
      { { { scheme = "world", id = "anyone", permissions = 31 } }, nil, nil,
        "unknown option \"permissions\" in option 'acl' [1] (known: id, "
        .. "perms, scheme)" },
      { { entry(nil, "anyone", "r") }, "[1].scheme must be a string, got nil" },
      { { entry("", "x", "r") }, "[1].scheme must not be empty" },
      { { entry("wor\0ld", "x", "r") },
        "[1].scheme must not contain a NUL byte" },
      { { entry("ip", nil, "r") }, "[1].id must be a string, got nil" },
      { { entry("ip", "", "r") }, "[1].id must not be empty" },
      { { entry("ip", "10.0.0.1\0", "r") },
        "[1].id must not contain a NUL byte" },
      { { entry("world", "anybody", "r") },
        "[1].id of scheme 'world' must be \"anyone\", got \"anybody\"" },
      { { entry("digest", "ann:secret", "cdrwa") }, HASHED },
      { { entry("digest", HASH:sub(5), "cdrwa") }, HASHED },
      { crowd, "must have at most 4096 bytes in a request, but these 20000 "
        .. "entries have 488820" },
      { { world(nil) }, "[1].perms must be a string, got nil" },
      { { world "" }, "[1].perms must not be empty" },
      { { world "crx" }, letters '"crx"' },
      { { world "CDRWA" }, letters '"CDRWA"' },
      { { world "crr" }, letters '"crr"' },
      { { world "cdr\0" }, letters '"cdr\\x00"' },
      { { world "cdrwa", world "" }, "[2].perms must not be empty" },
      { "creator", "= \"creator\" needs option 'auth'" },
      { "read", "= \"read\" needs option 'auth'" },
      { { entry("auth", "", "cdrwa") },
        "[1] of scheme 'auth' needs option 'auth'" },
      { { entry("auth", "ann", "cdrwa") }, "[1].id of scheme 'auth', the "
        .. "creator's credentials, must be \"\"", ANN },
      -- Some let the session itself not do what it has to.
      { { world "cdwa" }, shut_out("list", "r") },
      { { world "drwa" }, shut_out("create", "c") },
      { { world "crwa" }, shut_out("delete", "d") },
      { { world "cr", entry("auth", "", "crwa") }, shut_out("delete", "d"),
        ANN },
      { { entry("digest", HASH, "cdrwa") }, shut_out("list", "r") },
      { { world "r", entry("digest", HASH, "cd") }, shut_out("create", "c") },
    })
  end)

  it("is taken where some entries together let us, or may", function()
    local access = require "zklock.access"
    local function sure(acl, auth)
      local list, is_sure = access.read_acl(acl,
        auth and access.read_auth(auth) or {})
      assert.equal(type(acl) == "table" and #acl or nil,
        type(acl) == "table" and #list or nil)
      return is_sure
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
