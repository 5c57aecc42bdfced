-- Options `auth` and `acl`: a typo never passes, and no message shows a secret.
local support = require "support"
local zklock = require "zklock"

-- What connect says to these options.
local function said(options)
  return support.misuse(function() zklock.connect("a", options) end)
end

local ANN = { scheme = "digest", credential = "ann:secret" }
local HASH = "ann:lTk9FRBSsuTHUTIrBJYIZ3vFDHk="

-- Each says what `try` of its values is refused with.
local function refuses(rows, try)
  for what, row in pairs(rows) do
    local message = try(row[1], row[3])
    assert.equal(row[2], message, "it " .. what)
    assert.is_nil(message:find("secret", 1, true), "it " .. what)
  end
end

describe("Option auth", function()
  local UNKNOWN = "option 'auth' [1] has an unknown key: its keys are 'scheme' "
    .. "and 'credential'"
  local USER = "option 'auth' [1].credential of scheme 'digest' must be "
    .. "\"user:password\""
  local EITHER = "option 'auth' must be one { scheme =, credential = } or a "
    .. "list of such, not both, and without gaps"

  local ROWS = {
    ["is no table"] = { "ann:secret",
      "option 'auth' must be a table, got a string" },
    ["is empty"] = { {},
      "option 'auth' must not be empty: leave it out for no credentials" },
    ["has the scheme for a key"] = { { digest = "ann:secret" }, UNKNOWN },
    ["has a key in capitals"] = { { Scheme = "digest",
      credential = "ann:secret" }, UNKNOWN },
    ["has the secret for a key"] = { { ["ann:secret"] = "digest" }, UNKNOWN },
    ["has a key too many"] = { { { scheme = "digest",
      credential = "ann:secret", user = "ann" } }, UNKNOWN },
    ["is a list without tables"] = { { "digest", "ann:secret" },
      "option 'auth' [1] must be a table, got a string" },
    ["is a list, and one, too"] = { { ANN, scheme = "digest",
      credential = "ann:secret" }, EITHER },
    ["is a list with another key"] = { { ANN, ["ann:secret"] = 1 }, EITHER },
    ["is a list with a gap"] = { { ANN, nil, ANN }, EITHER },
    ["is a list without a beginning"] = { { [2] = ANN }, EITHER },
    ["has a credential that no packet holds"] = { { scheme = "digest",
      credential = "ann:" .. ("secret"):rep(20000) }, "option 'auth' [1]"
      .. ".credential must have at most 65536 bytes, got 120004" },
    ["has no scheme"] = { { credential = "ann:secret" },
      "option 'auth' [1].scheme must be a string, got nil" },
    ["has no credential"] = { { scheme = "digest" },
      "option 'auth' [1].credential must be a string, got nil" },
    ["has a number for a credential"] = { { scheme = "digest",
      credential = 4711 },
      "option 'auth' [1].credential must be a string, got a number" },
    ["has an empty scheme"] = { { scheme = "", credential = "ann:secret" },
      "option 'auth' [1].scheme must not be empty" },
    ["has an empty credential"] = { { scheme = "digest", credential = "" },
      "option 'auth' [1].credential must not be empty" },
    ["has a NUL in the scheme"] = { { scheme = "digest\0",
      credential = "ann:secret" },
      "option 'auth' [1].scheme must not contain a NUL byte" },
    ["has a NUL in a credential"] = { { ANN, { scheme = "digest",
      credential = "ann:sec\0ret" } },
      "option 'auth' [2].credential must not contain a NUL byte" },
    ["has a digest without a user"] = { { scheme = "digest",
      credential = ":secret" }, USER },
    ["has a digest without a colon"] = { { scheme = "digest",
      credential = "secret" }, USER },
    ["has a digest without a password"] = { { scheme = "digest",
      credential = "secret:" }, USER },
  }

  it("is refused by what is wrong with it", function()
    refuses(ROWS, function(auth) return said { auth = auth } end)
  end)
end)

describe("Option acl", function()
  -- As many as twenty thousand users have.
  local crowd = {}
  for i = 1, 20000 do
    crowd[i] = { scheme = "ip", id = ("10.0.%d.%d"):format(math.floor(i / 256),
      i % 256),
      perms = "cdrwa" }
  end
  local LIST = "option 'acl' must be \"open\", \"creator\", \"read\" or a list "
    .. "of { scheme =, id =, perms = }"
  local HASHED = "option 'acl' [1].id of scheme 'digest' must be "
    .. "\"user:hash\", the hash in base64: not the password, for everybody "
    .. "sees it"
  local function letters(text)
    return ("option 'acl' [1].perms must be made of the letters c, d, r, w, a, "
      .. "each at most once, got %s"):format(text)
  end
  local function shut_out(verb, letter)
    return ("option 'acl' must let this session itself read, create and "
      .. "delete: it could not %s, for no entry that may be its own has '%s'")
      :format(verb, letter)
  end
  local function world(perms)
    return { scheme = "world", id = "anyone", perms = perms }
  end

  local ROWS = {
    ["is another word"] = { "Creator", LIST },
    ["is empty"] = { {}, LIST },
    ["is one entry, and no list"] = { world "cdrwa", LIST },
    ["has keys beside a list"] = { { world "cdrwa", perms = "r" }, LIST },
    ["has a gap"] = { { world "cdrwa", nil, world "r" }, LIST },
    ["has an entry that is no table"] = { { "world" },
      "option 'acl' [1] must be a table, got a string" },
    ["has an unknown key"] = { { { scheme = "world", id = "anyone",
      permissions = 31 } }, "unknown option \"permissions\" in option 'acl' "
      .. "[1] (known: id, perms, scheme)" },
    ["has no scheme"] = { { { id = "anyone", perms = "r" } },
      "option 'acl' [1].scheme must be a string, got nil" },
    ["has an empty scheme"] = { { { scheme = "", id = "x", perms = "r" } },
      "option 'acl' [1].scheme must not be empty" },
    ["has a NUL in a scheme"] = { { { scheme = "wor\0ld", id = "x",
      perms = "r" } }, "option 'acl' [1].scheme must not contain a NUL byte" },
    ["has no id"] = { { { scheme = "ip", perms = "r" } },
      "option 'acl' [1].id must be a string, got nil" },
    ["has an empty id"] = { { { scheme = "ip", id = "", perms = "r" } },
      "option 'acl' [1].id must not be empty" },
    ["has a NUL in an id"] = { { { scheme = "ip", id = "10.0.0.1\0",
      perms = "r" } }, "option 'acl' [1].id must not contain a NUL byte" },
    ["has somebody for the world"] = { { { scheme = "world", id = "anybody",
      perms = "r" } }, "option 'acl' [1].id of scheme 'world' must be "
      .. "\"anyone\", got \"anybody\"" },
    ["has a password for a hash"] = { { { scheme = "digest",
      id = "ann:secret", perms = "cdrwa" } }, HASHED },
    ["has no user for a hash"] = { { { scheme = "digest",
      id = HASH:sub(5), perms = "cdrwa" } }, HASHED },
    ["has more entries than a request should"] = { crowd, "option 'acl' must "
      .. "have at most 16384 bytes in a request, but these 20000 entries have "
      .. "488820" },
    ["has no permissions"] = { { { scheme = "world", id = "anyone" } },
      "option 'acl' [1].perms must be a string, got nil" },
    ["has empty permissions"] = { { world "" },
      "option 'acl' [1].perms must not be empty" },
    ["has an unknown permission"] = { { world "crx" }, letters '"crx"' },
    ["has a permission in capitals"] = { { world "CDRWA" },
      letters '"CDRWA"' },
    ["has a permission twice"] = { { world "crr" }, letters '"crr"' },
    ["has a NUL for a permission"] = { { world "cdr\0" },
      letters '"cdr\\x00"' },
    ["has a mistake in its second entry"] = { { world "cdrwa", world "" },
      "option 'acl' [2].perms must not be empty" },
    ["is the creator's, without credentials"] = { "creator",
      "option 'acl' = \"creator\" needs option 'auth'" },
    ["is to be read, without credentials"] = { "read",
      "option 'acl' = \"read\" needs option 'auth'" },
    ["has scheme auth without credentials"] = { { { scheme = "auth", id = "",
      perms = "cdrwa" } }, "option 'acl' [1] of scheme 'auth' needs option "
      .. "'auth'" },
    ["has scheme auth with an id"] = { { { scheme = "auth", id = "ann",
      perms = "cdrwa" } }, "option 'acl' [1].id of scheme 'auth', which is "
      .. "whoever creates, must be \"\"", ANN },
    ["lets us not list"] = { { world "cdwa" }, shut_out("list", "r") },
    ["lets us not create"] = { { world "drwa" }, shut_out("create", "c") },
    ["lets us not delete"] = { { world "crwa" }, shut_out("delete", "d") },
    ["lets users, and us, not delete"] = { { world "cr",
      { scheme = "auth", id = "", perms = "crwa" } }, shut_out("delete", "d"),
      ANN },
    ["lets only users, and we are none"] = { { { scheme = "digest", id = HASH,
      perms = "cdrwa" } }, shut_out("list", "r") },
    ["lets the world read, and only users delete"] = { { world "r",
      { scheme = "digest", id = HASH, perms = "cd" } },
      shut_out("create", "c") },
  }

  it("is refused by what is wrong with it", function()
    refuses(ROWS, function(acl, auth)
      return said { acl = acl, auth = auth }
    end)
  end)

  it("is taken where some entries together let us, or may", function()
    local access = require "zklock.access"
    local function sure(acl, auth)
      local list, is_sure = access.read_acl(acl, access.read_auth(auth))
      assert.equal(type(acl) == "table" and #acl or nil,
        type(acl) == "table" and #list or nil)
      return is_sure
    end
    assert.is_true(sure "open")
    assert.is_true(sure("creator", ANN))
    assert.is_true(sure("read", ANN))
    assert.is_true(sure { world "cdr" })
    assert.is_true(sure({ world "r",
      { scheme = "auth", id = "", perms = "cd" } }, ANN))
    -- Of these a server knows whether we are meant.
    assert.is_false(sure({ { scheme = "digest", id = HASH, perms = "cdr" } },
      ANN))
    assert.is_false(sure({ world "cr",
      { scheme = "digest", id = HASH, perms = "d" } }, ANN))
    assert.is_false(sure { { scheme = "ip", id = "127.0.0.1",
      perms = "cdrwa" } })
    assert.is_false(sure { { scheme = "x509", id = "CN=ann",
      perms = "cdrwa" } })
  end)
end)
