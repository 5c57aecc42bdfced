--- `zklock forget`: deletes the record of a --once-per job's last run. The job
-- can then run again in the same period.
local books = require "zklock.once"
local once = require "zklock.cli.once"
local output = require "zklock.cli.output"
local rows = require "zklock.cli.rows"
local visit = require "zklock.cli.visit"

return function(request)
  return visit.servers(request, function(session)
    local path = request.path
    local last = once.last(session, path)
    -- Deletes the record's node with lift(), as if it were a barrier's node. A
    -- server may apply a delete late. A late delete by lift() cannot delete a
    -- newer node.
    local node = session:barrier(books.book_of(path))
    local _, was_there = visit.answer(node:lift())
    if not was_there then
      return output.line("no run of " .. path .. " is noted")
    end
    output.line(("forgot the last run of %s%s"):format(path,
      last and ", by " .. rows.data(last) or ""))
  end)
end
