--- For wrk: which requests are made; its argument is plain, cold, hot, turns or
-- mixed.
-- luacheck: globals init request wrk
local kind

function init(arguments) kind = arguments[1] end

local function cold()
  return wrk.format("GET", "/lock?name=cold-" .. math.random(1000))
end

local function hot() return wrk.format("GET", "/lock?name=hot") end

local kinds = {
  plain = function() return wrk.format("GET", "/plain") end,
  turns = function() return wrk.format("GET", "/turns") end,
  cold = cold,
  hot = hot,
  mixed = function() return math.random(10) == 1 and hot() or cold() end,
}

function request() return kinds[kind]() end
