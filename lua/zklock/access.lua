--- Access: checks the session's credentials (option `auth`) and the ACL of the
-- nodes that it creates (option `acl`).
--
-- No error message contains a credential. A user may have written a credential
-- as a key by mistake, so no message contains an unknown key either.
local check = require "zklock.check"
local misuse = require "zklock.errors".misuse
local schema = require "zklock.schema"

local access = {}

-- The maximum size, in bytes, of one credential and of an ACL in a request. A
-- server closes the connection if a request is larger than its jute.maxbuffer.
-- With these limits each request fits in 16 KiB, the smallest jute.maxbuffer
-- that zklock supports. After each connect, zklock sends the credentials. A
-- create request sends one ACL; with two nodes, it sends two.
local LARGEST_CREDENTIAL, LARGEST_ACL = 8192, 4096

-- Checks that `value` is a text that is neither empty nor too long, and returns
-- it. The text must not contain NUL, because the client library would cut the
-- text off there.
local function text(value, name)
  check.type(value, "string", name)
  if value == "" then misuse("%s must not be empty", name) end
  if #value > LARGEST_CREDENTIAL then
    misuse("%s must have at most %d bytes, got %d", name, LARGEST_CREDENTIAL,
      #value)
  end
  if value:find("\0", 1, true) then
    misuse("%s must not contain a NUL byte", name)
  end
  return value
end

-- Returns whether a table is a list: its keys are 1 to n, and n is at least 1.
local function is_list(given)
  local n = 0
  for _ in pairs(given) do
    n = n + 1
    if given[n] == nil then return false end
  end
  return n > 0
end

-- Credentials.

-- Checks one credential. A digest credential must have a colon. Without a
-- colon, ZooKeeper would take the whole credential for the user's name. Each
-- client that may read an ACL would then see the credential.
local function credential(value, name, read)
  text(value, name)
  if read.scheme == "digest" and not value:find "^[^:]+:." then
    misuse("%s of scheme 'digest' must be \"user:password\"", name)
  end
  return value
end

local of_credential = schema.new(nil, {
  { "scheme", text, always = true },
  { "credential", credential, always = true },
}, nil, "%s has an unknown key: its keys are 'scheme' and 'credential'")

--- Checks option `auth`, one credential or a list of them. Returns a list of `{
-- scheme =, credential = }`.
function access.read_auth(auth)
  check.type(auth, "table", "option 'auth'")
  local key = next(auth)
  if key == nil then
    misuse "option 'auth' must not be empty: leave it out for no credentials"
  elseif auth[1] == nil and type(key) ~= "number" then
    auth = { auth }
  elseif not is_list(auth) then
    misuse("option 'auth' must be one { scheme =, credential = } or a list "
      .. "of such, not both, and without gaps")
  end
  local list = {}
  for i, entry in ipairs(auth) do
    list[i] = of_credential:read(entry, {}, ("option 'auth' [%d]"):format(i))
  end
  return list
end

-- ACLs.

-- Maps the letter of each permission to ZooKeeper's bit for it.
local bits = { r = 1, w = 2, c = 4, d = 8, a = 16 }
local ALL = 31

local function has(permissions, bit) return permissions % (2 * bit) >= bit end

local function perms(letters, name)
  local sum = 0
  check.type(letters, "string", name)
  for letter in letters:gmatch "." do
    local bit = bits[letter]
    if not bit or has(sum, bit) then
      misuse("%s must be made of the letters c, d, r, w, a, each at most "
        .. "once, got %q", name, letters)
    end
    sum = sum + bit
  end
  if sum == 0 then misuse("%s must not be empty", name) end
  return sum
end

-- Checks the id of an ACL's entry, and returns it. Raises an error if a server
-- would refuse the id.
local function id(value, name, read)
  local scheme = read.scheme
  if scheme == "auth" then
    check.type(value, "string", name)
    if value ~= "" then
      misuse("%s of scheme 'auth', the creator's credentials, must be \"\"",
        name)
    end
    return value
  end
  text(value, name)
  local hash = value:match "^[^:]+:([A-Za-z0-9+/]+=?=?)$"
  if scheme == "world" and value ~= "anyone" then
    misuse("%s of scheme 'world' must be \"anyone\", got %q", name, value)
  elseif scheme == "digest"
      and not (hash and #hash >= 28 and #hash % 4 == 0) then
    misuse("%s of scheme 'digest' must be \"user:hash\", the hash in "
      .. "base64: not the password, which every client could read", name)
  end
  return value
end

local of_entry = schema.new(nil, {
  { "scheme", text, always = true },
  { "id", id, always = true },
  { "perms", perms, always = true },
})

-- The permissions that a session needs in a directory of its locks.
local needed = { { "list", "r" }, { "create", "c" }, { "delete", "d" } }

-- Checks that the ACL lets this session use the locks it creates; otherwise
-- they would block all clients. Returns true if it certainly does. Returns
-- false if only a server can tell; zklock then asks one. Raises an error if no
-- identity that the servers could give this session would suffice.
local function check_ours(list, credentials)
  local is_sure = true
  for _, need in ipairs(needed) do
    local verb, letter = need[1], need[2]
    local certainly, perhaps = false, false
    for _, entry in ipairs(list) do
      local scheme = entry.scheme
      if has(entry.perms, bits[letter]) then
        certainly = certainly or scheme == "world" or scheme == "auth"
        -- zklock does not know the session's address, certificate or user, so
        -- each of these schemes may match. Exception: without credentials, no
        -- entry of scheme `digest` matches.
        perhaps = perhaps or scheme ~= "digest" or #credentials > 0
      end
    end
    if not perhaps then
      misuse("option 'acl' must let this session itself read, create and "
        .. "delete: it could not %s, because no entry that may match it has "
        .. "'%s'", verb, letter)
    end
    is_sure = is_sure and certainly
  end
  return is_sure
end

local function read_list(acl, credentials)
  if type(acl) ~= "table" or not is_list(acl) then
    misuse("option 'acl' must be \"open\", \"creator\", \"read\" or "
      .. "a list of { scheme =, id =, perms = }")
  end
  local list, size = {}, 0
  for i, given in ipairs(acl) do
    local name = ("option 'acl' [%d]"):format(i)
    local entry = of_entry:read(given, {}, name)
    if entry.scheme == "auth" and #credentials == 0 then
      misuse("%s of scheme 'auth' needs option 'auth'", name)
    end
    list[i] = entry
    -- In a request, an ACL's entry has its scheme, its id, the lengths of both,
    -- and the permissions. Each length and the permissions have four bytes.
    size = size + 12 + #entry.scheme + #entry.id
  end
  if size > LARGEST_ACL then
    misuse("option 'acl' must have at most %d bytes in a request, but these %d "
      .. "entries have %d", LARGEST_ACL, #list, size)
  end
  return list, check_ours(list, credentials)
end

local creator = { scheme = "auth", id = "", perms = ALL }
local readers = { scheme = "world", id = "anyone", perms = bits.r }
local of_word = { creator = { creator }, read = { creator, readers } }

--- Checks option `acl`. Returns the ACL as a list of
-- `{ scheme =, id =, perms = }`, with `perms` as bits. Returns nil if the nodes
-- are open to all. Also returns whether the session can certainly use nodes
-- with this ACL.
function access.read_acl(acl, credentials)
  if acl == "open" then return nil, true end
  if not of_word[acl] then return read_list(acl, credentials) end
  if #credentials == 0 then
    misuse("option 'acl' = %q needs option 'auth'", acl)
  end
  return of_word[acl], true
end

return access
