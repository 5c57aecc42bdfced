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

-- A text must not contain NUL, because the client library would cut it off
-- there.
local function is_text(text)
  return text ~= "" and #text <= LARGEST_CREDENTIAL
    and not text:find("\0", 1, true)
end

local scheme = check.rule("string", "1 to 8192 bytes, none of them NUL",
  is_text, true)

-- A digest credential must have a colon. Without a colon, ZooKeeper would take
-- the whole credential for the user's name. Each client that may read an ACL
-- would then see the credential.
local credential = check.rule("string", "1 to 8192 bytes, none of them NUL, "
  .. "and \"user:password\" if the scheme is 'digest'", function(text, read)
    return is_text(text) and (read.scheme ~= "digest" or text:find "^[^:]+:.")
  end, true)

local credentials = schema.new(nil, {
  { "scheme", scheme, always = true },
  { "credential", credential, always = true },
}, nil, true):list "{ scheme =, credential = }"

--- Checks option `auth`, one credential or a list of them. Returns a list of `{
-- scheme =, credential = }`.
function access.read_auth(auth, title)
  check.type(auth, "table", title)
  return credentials(auth[1] == nil and { auth } or auth, title)
end

-- A server would refuse any other id of these schemes.
local id = check.rule("string", "\"anyone\" in the scheme 'world', \"\" in the "
  .. "scheme 'auth' (the creator's credentials), and \"user:hash\" in the "
  .. "scheme 'digest', the hash in base64: not the password, which every "
  .. "client could read", function(text, read)
    if read.scheme == "auth" then return text == "" end
    if read.scheme == "world" then return text == "anyone" end
    local hash = text:match "^[^:]+:([A-Za-z0-9+/]+=?=?)$"
    return is_text(text) and (read.scheme ~= "digest"
      or hash and #hash >= 28 and #hash % 4 == 0)
  end, true)

local perms = check.rule("string", "made of the letters c, d, r, w, a, each at "
  .. "most once", function(letters)
    return letters:find "^[cdrwa]+$" and not letters:find "(.).*%1"
  end)

local entries = schema.new(nil, {
  { "scheme", scheme, always = true },
  { "id", id, always = true },
  { "perms", perms, always = true },
}):list "{ scheme =, id =, perms = }"

local creator = { scheme = "auth", id = "", perms = "cdrwa" }
local readers = { scheme = "world", id = "anyone", perms = "r" }
local of_word = { creator = { creator }, read = { creator, readers } }

--- Checks option `acl`. Returns the ACL as a list of
-- `{ scheme =, id =, perms = }`, or nil if the nodes are open to all.
--
-- An ACL must let this session use the locks that it creates; otherwise they
-- would block all clients. Raises an error if no identity that the servers
-- could give this session would suffice. If only a server can tell, sets
-- `read.doubts_acl`; zklock then asks a server.
function access.read_acl(acl, title, read)
  if acl == "open" then return nil end
  if type(acl) ~= "table" and not of_word[acl] then
    misuse("%s must be \"open\", \"creator\", \"read\" or a list of "
      .. "{ scheme =, id =, perms = }", title)
  end
  local list = of_word[acl] or entries(acl, title)
  local certain, possible, size = "", "", 0
  for _, entry in ipairs(list) do
    if entry.scheme == "auth" and #read.auth == 0 then
      misuse("%s needs option 'auth', because it names the creator", title)
    end
    if entry.scheme == "auth" or entry.scheme == "world" then
      certain = certain .. entry.perms
    end
    -- zklock does not know the session's address, certificate or user, so each
    -- other scheme may match. Exception: without credentials, no entry of
    -- scheme `digest` matches.
    if entry.scheme ~= "digest" or #read.auth > 0 then
      possible = possible .. entry.perms
    end
    -- In a request, an ACL's entry has its scheme, its id, the lengths of both,
    -- and the permissions. Each length and the permissions have four bytes.
    size = size + 12 + #entry.scheme + #entry.id
    if size > LARGEST_ACL then
      misuse("%s must have at most %d bytes in a request, about 80 entries, "
        .. "got %d entries", title, LARGEST_ACL, #list)
    end
  end
  local missing = ("cdr"):gsub(("[ %s]"):format(possible), "")
  if missing ~= "" then
    misuse("%s must let this session itself create, delete and read, but no "
      .. "entry that may match it has '%s'", title, missing)
  end
  read.doubts_acl = ("cdr"):gsub(("[ %s]"):format(certain), "") ~= ""
  return list
end

return access
