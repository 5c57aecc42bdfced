--- Members of a double barrier, which the specs have enter and leave without
-- waiting for them.
local kinds = require "integration.family.kinds"
local support = require "support"

local members = {}

--- Begins to enter: `{ session =, gate =, guard =, code =, message = }`.
function members.enter(session, path, n, how)
  local member = { session = session, gate = session:double_barrier(path, n) }
  member.ticket = member.gate:enter_async(how, function(guard, message, code)
    member.guard, member.message, member.code = guard, message, code
  end)
  return member
end

--- Begins to leave: `{ session =, guard = true, code =, message = }`.
function members.leave(member, how)
  local leaving = { session = member.session }
  how = how or {}
  how.guard = member.guard
  leaving.ticket = member.gate:leave_async(how, function(ok, message, code)
    leaving.guard, leaving.message, leaving.code = ok, message, code
  end)
  return leaving
end

--- All of a list leave, and are out.
function members.all_leave(list)
  local leaving = {}
  for i, member in ipairs(list) do leaving[i] = members.leave(member) end
  kinds.await((unpack or table.unpack)(leaving))
  for _, one in ipairs(leaving) do assert(one.guard == true, one.message) end
end

--- What lets them in, if it is there.
function members.ready(path) return support.zk():exists(path .. "/ready") end

return members
