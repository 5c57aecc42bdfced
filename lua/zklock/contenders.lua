--- Revocation and eviction: asks holders to release, and deletes the nodes of
-- contenders.
--
-- An unfair lock's node always has the same name. So each acquisition also
-- creates a second node with a unique name, in the same transaction
-- (src/protocol/unfair.c). This second node is called the node *beside* the
-- first.
local core = require "zklock.core"
local questions = require "zklock.questions"
local quote = require "zklock.quote"
local refusal = require "zklock.errors".refusal
local surveys = require "zklock.survey"

local ask, expect, ask_now = questions.send, questions.expect, questions.ask_now
local UNFAIR = surveys.UNFAIR

local contenders = {}

local HIDDEN = { missing = true, hidden = true }
local GONE = { missing = true, undone = true }

-- Returns the names in the directory `path` that can belong to a node beside an
-- unfair lock's node. An unfair lock's acquisition creates this second node in
-- the same transaction. Returns an empty list if the session may not list the
-- directory.
local function list_beside(path)
  local list, names = ask_now(path, { { "list", path } })[1], {}
  for _, name in ipairs(expect(list, HIDDEN).names or {}) do
    if core.mode(name) == "hold" then names[#names + 1] = name end
  end
  return names
end

-- Reads the Stat of `node` and of the nodes in `names`. `read`: the function
-- that sends the requests. Returns the answer about `node`. Also returns the
-- path of the node in `names` that has the same token, or nil. The same session
-- has created these two nodes in one transaction.
local function look_beside(read, path, node, names)
  local looks = { { "exists", path .. "/" .. node } }
  for i, name in ipairs(names) do
    looks[i + 1] = { "exists", path .. "/" .. name }
  end
  local found = read(looks)
  local seen, beside = found[1], nil
  for i, other in ipairs(found) do
    expect(other, HIDDEN)
    if i > 1 and other.token and other.token == seen.token
        and other.session == seen.session then
      beside = looks[i][2]
    end
  end
  return seen, beside
end

-- Returns whether the node that was read is the node to delete: it exists and
-- has `token`. With `token` nil, every existing node is right. If this session
-- may not read the node, its token is unknown, so it is right only without
-- `token`.
local function is_meant(seen, token)
  if seen.is == "missing" then return false end
  return not token or seen.token and seen.token:match "^0*(.+)$" == token
end

-- Deletes a node if it exists and has `token` (is_meant). An unfair lock's node
-- has a second node beside it. This function finds the second node in the
-- directory, and deletes both. Returns whether it has deleted anything.
--
-- Between the check and the delete, a later node can take the same name. A
-- delete request does not check the token, so it then deletes the later node.
-- Names repeat if a directory is deleted and created again. An unfair lock's
-- node always has the same name, but there the later node is safe. Its two
-- nodes are deleted together or not at all, and the second one's name is
-- unique.
local function evict(path, node, token)
  local seen, beside = look_beside(function(looks)
    return ask_now(path, looks)
  end, path, node, node == UNFAIR and list_beside(path) or {})
  if not is_meant(seen, token) then return false end
  local deleted = ask { beside and { "delete-both", beside }
    or { "delete", path .. "/" .. node } }[1]
  return not expect(deleted, GONE).code
end

--- Deletes a contender's node; with a token, only if the node has this token.
-- Returns whether the node existed.
function contenders.evict(engine, path, node, token)
  return questions.order(engine, ("the eviction of %s from"):format(
    quote(node)), evict, path, node, token and (token:match "^0*(%d+)$"))
end

-- Revocation: writes a mark into the holders' nodes, which asks their owners to
-- release. The mark follows the data of the node. zklock reads a node, and
-- writes it only if no client has written to it since. Otherwise zklock reads
-- the node again.
--
-- The versions of all nodes begin with the same number. So the version does not
-- distinguish an unfair lock's node from a later node of the same name. zklock
-- therefore writes to such a node only if its second node, the one beside it,
-- exists. If one node is gone or refuses the write, zklock still asks the
-- holders of the other nodes.

-- The maximum number of times that zklock reads and writes a node, if other
-- clients write to it in between.
local TRIES = 5

-- The maximum size, in bytes, of a marked node's path and data together. A
-- server closes the connection if a request is larger than its jute.maxbuffer,
-- which is at least 16 KiB. No lock of zklock comes near this limit.
local LARGEST = 12 * 1024

-- How many nodes zklock reads and marks together, so that their data need at
-- most some 3 MB.
local WAVE = 256

local NO_MARK = { code = "invalid",
  reason = "its path and data leave no room for a mark" }

local function note_refusal(result, row, answer)
  result.refused = result.refused or { node = row.node, code = answer.code,
    reason = answer.reason }
end

-- Returns the request that writes the mark into a node. Returns nil if the node
-- is gone, is already marked or cannot be marked. Records the last two cases in
-- `result`. `row`: the node's row; `read`: the answer to the request for its
-- data.
local function mark(result, row, path, read)
  local data = read.data
  if read.is == "missing" then return nil end
  if read.code then return note_refusal(result, row, read) end
  if data and #core.own_data(data) < #data then -- the node is already marked
    result.marked = result.marked + 1
    return nil
  end
  if not data or #path + #data > result.room then
    return note_refusal(result, row, NO_MARK)
  end
  return { "set", path, data .. core.revoke_mark, read.version,
    row.node == UNFAIR and result.beside or nil }
end

-- Marks a wave of nodes. Returns the rows of nodes to which other clients wrote
-- between zklock's read and write; these must be read again.
local function mark_rows(path, rows, result)
  local gets, sets, of_sets, again = {}, {}, {}, {}
  for i, row in ipairs(rows) do
    gets[i] = { "get", path .. "/" .. row.node, nil, row.size or 0 }
  end
  local most = LARGEST + #core.revoke_mark -- the node can be marked already
  local found = ask(gets, most, WAVE * most)
  for i, row in ipairs(rows) do
    local set = mark(result, row, gets[i][2], found[i])
    if set then
      sets[#sets + 1] = set
      of_sets[#sets] = row
    end
  end
  if #sets == 0 then return again end
  found = ask(sets)
  for i, row in ipairs(of_sets) do
    local written = found[i]
    if not written.code then
      result.marked = result.marked + 1
    elseif written.is == "changed" then
      row.refusal = written
      again[#again + 1] = row
    elseif not GONE[written.is] then
      note_refusal(result, row, written)
    end
  end
  return again
end

local function mark_all(path, rows, chroot)
  local result = { marked = 0, refused = false, beside = nil,
    room = LARGEST - #chroot }
  for _, row in ipairs(rows) do
    if row.node == UNFAIR then
      local _, beside = look_beside(ask, path, UNFAIR, list_beside(path))
      result.beside = beside
    end
  end
  for first = 1, #rows, WAVE do
    local wave = { (table.unpack or unpack)(rows, first,
      math.min(first + WAVE - 1, #rows)) }
    for _ = 1, TRIES do
      wave = mark_rows(path, wave, result)
      if #wave == 0 then break end
    end
    for _, row in ipairs(wave) do note_refusal(result, row, row.refusal) end
  end
  return result
end

--- Asks each holder of a path to release; returns how many holders it asked.
function contenders.revoke(engine, path)
  local holders, message, code = surveys.holders(engine, path)
  if not holders then return nil, message, code end
  if #holders == 0 then return 0 end
  local result
  result, message, code = questions.order(engine, "the request to release",
    mark_all, path, holders, engine.chroot)
  if not result then return nil, message, code end
  local refused, marked = result.refused, result.marked
  if not refused then return marked end
  return refusal(refused.code, "%d of %d holders of %s%s %s asked to release "
    .. "it, but not %s: %s", marked, #holders, engine.chroot, path,
    marked == 1 and "was" or "were", quote(refused.node), refused.reason)
end

return contenders
