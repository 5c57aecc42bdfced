--- `zklock evict`: deletes the node of one contender.
local await = require "zklock.cli.await"
local exit = require "zklock.cli.exit"
local output = require "zklock.cli.output"
local rows = require "zklock.cli.rows"
local talk = require "zklock.cli.talk"
local uv = require "luv"
local visit = require "zklock.cli.visit"

local GONE = 1 -- the exit code if the node is gone or the user said no

local function find(contenders, node)
  for _, row in ipairs(contenders) do
    if row.node == node or rows.node(row) == node then return row end
  end
end

local words = { holds = "it holds the lock", waits = "it waits for the lock",
  present = "it is a member of the double barrier",
  unowned = "no session owns it: it blocks the lock until it is deleted" }

-- The warning that zklock shows before it evicts a holder. "The lease" in
-- doc/dev/protocol.md explains how long a lease can last.
local holders_view = [[
its holder loses the lock (reason: node_deleted), and notices that within a
  sixth of its session timeout.  Until then it may believe that it holds the
  lock, while another contender is granted it, with a larger token.  Without a
  connection it may believe so until its lease ends:
  up to 0.95 of its session timeout.]]

local function describe(row, now)
  local state = rows.state(row)
  talk.say("%s is a contender of %s (%s): %s", rows.node(row), row.path,
    row.mode, words[state])
  local session, token = rows.session(row), rows.token(row)
  local age = rows.age(row, now)
  talk.say("  data %s, session %s, token %s, %s old", rows.data(row), session,
    token, age)
  if state == "holds" then
    talk.say(holders_view)
  elseif state == "waits" then
    talk.say "its waiter starts again at the end of the queue"
  elseif state == "present" then
    talk.say("a member that is inside is lost (reason: node_deleted); one "
      .. "that waits starts again")
  end
end

-- Asks a question, and returns the user's answer, one line; nil at the end of
-- the input.
local function read_answer(question)
  talk.write(question)
  local tty = assert(uv.new_tty(0, true))
  local line = await.call(function(go_on)
    local text = ""
    tty:read_start(function(problem, chunk)
      if problem or not chunk then return go_on(nil) end
      text = text .. chunk
      if text:find "\n" then go_on((text:match "^[^\n]*")) end
    end)
  end)
  tty:close()
  return line
end

local function ask(row)
  if uv.guess_handle(0) ~= "tty" then
    exit.fail("usage", "there is no terminal to ask on whether %s is to be "
      .. "deleted: say --yes", rows.node(row))
  end
  local line = read_answer(("Delete %s? [y/N] "):format(rows.node(row)))
  if not (line and line:lower():find "^%s*y") then
    exit.fail(GONE, "nothing was deleted")
  end
end

local function gone(request)
  exit.fail(GONE, "%s has no contender %s (any more)", request.path,
    (require "zklock.quote"(request.node)))
end

return function(request)
  return visit.servers(request, function(session)
    local contenders = visit.answer(session:contenders(request.path))
    local row = find(rows.number(request.path, contenders), request.node)
    if not row then gone(request) end
    describe(row, rows.servers_time(contenders))
    if not request.yes then ask(row) end
    if not visit.answer(session:evict(request.path, row.node, row.token)) then
      exit.fail(GONE, "nothing was deleted: the contender %s of %s with the "
        .. "token %s is gone", rows.node(row), request.path, rows.token(row))
    end
    output.line("deleted " .. rows.node(row))
  end)
end
