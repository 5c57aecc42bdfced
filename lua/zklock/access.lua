--- Access: checks the session's credentials (option `auth`) and the ACL of the
-- nodes that it creates (option `acl`).
--
-- No message shows a credential, or a key in which a user may have put one.
local check = require "zklock.check"
local misuse = require "zklock.errors".misuse

local access = {}

-- The most bytes of one credential, and of an ACL in a request.  A server
-- closes the connection if a request is larger than its jute.maxbuffer.  With
-- these limits each request fits in 16 KiB: each connection sends the
-- credentials, and each create sends one ACL, or two with two nodes.
local LARGEST_CREDENTIAL, LARGEST_ACL = 8192, 4096

-- Returns a text that is not empty or too long.  It must not contain NUL,
-- because the client library would cut the text off there.
local function read_text(value, name)
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

-- Returns whether the keys of a table are 1 to n.
local function is_list(given)
  local n = 0
  for key in pairs(given) do
    if type(key) ~= "number" then return false end
    n = n + 1
  end
  for i = 1, n do
    if given[i] == nil then return false end
  end
  return true
end

local function has_only(entry, known)
  for key in pairs(entry) do
    if not known[key] then return false end
  end
  return true
end

-- Credentials.

local of_credential = check.set "scheme credential"

local function read_credential(entry, name)
  check.type(entry, "table", name)
  if not has_only(entry, of_credential) then
    misuse("%s has an unknown key: its keys are 'scheme' and 'credential'",
      name)
  end
  local scheme = read_text(entry.scheme, name .. ".scheme")
  local credential = read_text(entry.credential, name .. ".credential")
  -- Without a colon, ZooKeeper would take the whole credential for the user's
  -- name, which every ACL shows.
  if scheme == "digest" and not credential:find "^[^:]+:." then
    misuse("%s.credential of scheme 'digest' must be \"user:password\"", name)
  end
  return { scheme = scheme, credential = credential }
end

--- Checks option `auth`; returns a list of `{ scheme =, credential = }`.
function access.read_auth(auth)
  if auth == nil then return {} end
  check.type(auth, "table", "option 'auth'")
  if next(auth) == nil then
    misuse "option 'auth' must not be empty: leave it out for no credentials"
  end
  if auth[1] == nil and type(next(auth)) ~= "number" then
    return { read_credential(auth, "option 'auth' [1]") }
  elseif not is_list(auth) then
    misuse("option 'auth' must be one { scheme =, credential = } or a list "
      .. "of such, not both, and without gaps")
  end
  local list = {}
  for i, entry in ipairs(auth) do
    list[i] = read_credential(entry, ("option 'auth' [%d]"):format(i))
  end
  return list
end

-- ACLs.

-- The bits of ZooKeeper's permissions.
local READ, WRITE, CREATE, DELETE, ADMIN = 1, 2, 4, 8, 16
local bits = { r = READ, w = WRITE, c = CREATE, d = DELETE, a = ADMIN }
local ALL = READ + WRITE + CREATE + DELETE + ADMIN

local function read_permissions(text, name)
  local seen, sum = {}, 0
  check.type(text, "string", name)
  for letter in text:gmatch "." do
    local bit = bits[letter]
    if not bit or seen[letter] then
      misuse("%s must be made of the letters c, d, r, w, a, each at most "
        .. "once, got %q", name, text)
    end
    seen[letter] = true
    sum = sum + bit
  end
  if sum == 0 then misuse("%s must not be empty", name) end
  return sum
end

-- Raises if a server would refuse the id, or if the id would match no client.
local function check_id(scheme, id, name, credentials)
  if scheme == "auth" then
    check.type(id, "string", name .. ".id")
    if id ~= "" then
      misuse("%s.id of scheme 'auth', the creator's credentials, must be \"\"",
        name)
    elseif #credentials == 0 then
      misuse("%s of scheme 'auth' needs option 'auth'", name)
    end
    return
  end
  read_text(id, name .. ".id")
  if scheme == "world" and id ~= "anyone" then
    misuse("%s.id of scheme 'world' must be \"anyone\", got %q", name, id)
  end
  local hash = id:match "^[^:]+:([A-Za-z0-9+/]+=?=?)$"
  if scheme == "digest" and not (hash and #hash >= 28 and #hash % 4 == 0) then
    misuse("%s.id of scheme 'digest' must be \"user:hash\", the hash in "
      .. "base64: not the password, which every client could read", name)
  end
end

local of_entry = check.set "scheme id perms"

local function read_entry(entry, name, credentials)
  check.options(entry, of_entry, name)
  local scheme = read_text(entry.scheme, name .. ".scheme")
  check_id(scheme, entry.id, name, credentials)
  return {
    scheme = scheme,
    id = entry.id,
    permissions = read_permissions(entry.perms, name .. ".perms"),
  }
end

-- The permissions that a session needs in a directory of its locks.
local needed = {
  { bit = READ, letter = "r", verb = "list" },
  { bit = CREATE, letter = "c", verb = "create" },
  { bit = DELETE, letter = "d", verb = "delete" },
}

local function grants(list, applies, bit)
  for _, entry in ipairs(list) do
    if applies[entry.scheme] ~= false
        and entry.permissions % (2 * bit) >= bit then
      return true
    end
  end
  return false
end

-- Schemes whose entries certainly include this session.  An entry of another
-- scheme, such as an address, a certificate or a user, includes it perhaps.  A
-- session without credentials is never a `digest` user.
local surely = setmetatable({ world = true, auth = true },
  { __index = function() return false end })
local perhaps, never_a_user = {}, { digest = false }

-- Raises if this ACL cannot let this session use its own locks, whatever its
-- identity is: such a lock would block all clients.  Returns whether the ACL
-- certainly lets the session use them.  If not, zklock asks a server.
local function check_ours(list, credentials)
  local applies = #credentials > 0 and perhaps or never_a_user
  local is_sure = true
  for _, need in ipairs(needed) do
    if not grants(list, applies, need.bit) then
      misuse("option 'acl' must let this session itself read, create and "
        .. "delete: it could not %s, because no entry that may match it has "
        .. "'%s'",
        need.verb, need.letter)
    end
    is_sure = is_sure and grants(list, surely, need.bit)
  end
  return is_sure
end

local function read_list(acl, credentials)
  if type(acl) ~= "table" or next(acl) == nil or not is_list(acl) then
    misuse("option 'acl' must be \"open\", \"creator\", \"read\" or "
      .. "a list of { scheme =, id =, perms = }")
  end
  local list, size = {}, 0
  for i, entry in ipairs(acl) do
    list[i] = read_entry(entry, ("option 'acl' [%d]"):format(i), credentials)
    -- In a request, each entry of an ACL has two lengths and the permissions,
    -- of four bytes each, beside its scheme and its id.
    size = size + 12 + #list[i].scheme + #list[i].id
  end
  if size > LARGEST_ACL then
    misuse("option 'acl' must have at most %d bytes in a request, but these %d "
      .. "entries have %d", LARGEST_ACL, #list, size)
  end
  return list, check_ours(list, credentials)
end

--- Checks option `acl`.  Returns a list of `{ scheme =, id =, permissions = }`,
-- or nil if the nodes are open to all; and whether the session can certainly
-- use nodes with this ACL.
function access.read_acl(acl, credentials)
  if acl == nil or acl == "open" then return nil, true end
  local creator = { scheme = "auth", id = "", permissions = ALL }
  if acl ~= "creator" and acl ~= "read" then
    return read_list(acl, credentials)
  end
  if #credentials == 0 then
    misuse("option 'acl' = %q needs option 'auth'", acl)
  end
  if acl == "creator" then return { creator }, true end
  return { creator,
    { scheme = "world", id = "anyone", permissions = READ } }, true
end

return access
