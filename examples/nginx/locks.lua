--- The handlers of nginx.conf.
local zklock = require "zklock.ngx"

local locks = {}
local hosts = os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local shop = ngx.shared.shop

-- This worker's one session, opened by its first call.
local function session()
  return assert(zklock.session(hosts))
end

-- Answers with what fn returns under the lock, when the lock was held until fn
-- had returned.  503 if it was not granted (then fn did not run), or was lost.
local function answer_under(lock, fn)
  local ok, result, code = lock:with_lock(5, fn)
  if ok then return ngx.say(result) end
  ngx.log(ngx.ERR, result)
  ngx.status = 503
  ngx.say(code)
end

-- An argument of the URL, as it was meant; 400 where there is none.
local function argument(name)
  local text = ngx.unescape_uri(ngx.var["arg_" .. name] or "")
  return text ~= "" and text or ngx.exit(400)
end

-- 1. A critical section for each user: read, work, write.  Users choose their
-- names: a path is made of the escaped one, never of the name itself.

function locks.spend()
  local user, amount = argument "user", tonumber(argument "amount")
  if not amount then return ngx.exit(400) end
  local path = "/example/users/" .. zklock.escape(user)
  answer_under(session():mutex(path), function()
    local balance = shop:get("balance " .. user) or 100
    ngx.sleep(0.005) -- the database takes its time
    if balance < amount then return "not enough" end
    shop:set("balance " .. user, balance - amount)
    return balance - amount
  end)
end

function locks.balance()
  ngx.say(shop:get("balance " .. argument "user") or 100)
end

-- 2. A cache that is refreshed as a whole: readers together, the writer alone.

local function prices() return session():rwlock "/example/prices" end

function locks.prices()
  answer_under(prices().read, function()
    local apples = shop:get "apples"
    ngx.sleep(0.005)
    return ("apples %d pears %d"):format(apples or 1, shop:get "pears" or 1)
  end)
end

function locks.refresh()
  answer_under(prices().write, function()
    local edition = shop:incr("apples", 1, 1)
    ngx.sleep(0.01)
    shop:set("pears", edition)
    return "edition " .. edition
  end)
end

-- 3. A job that one worker of all does, until it leaves or dies; then another
-- one goes on.  A timer, so it may wait; and it waits for as long as it takes.

local function lead(guard)
  while guard:is_held() and not ngx.worker.exiting() do
    shop:incr("reports", 1, 0)
    shop:set("reporter", ngx.worker.pid())
    ngx.sleep(0.1)
  end
end

function locks.report(premature)
  if premature then return end
  local election = session():election "/example/report"
  repeat
    local stopped, message = election:run(lead)
    if not stopped then
      ngx.log(ngx.ERR, message)
      ngx.sleep(1)
    end
  until stopped or ngx.worker.exiting()
end

function locks.reports()
  ngx.say(shop:get "reports" or 0, " so far, by worker ", shop:get "reporter")
end

-- 4. A job that runs once in each period, whichever worker's timer is first.
-- What is not done to its end, because the worker was killed, does not count.

local function tidy()
  local began = ngx.now()
  shop:set("tidier", ngx.worker.pid())
  ngx.sleep(0.5)
  shop:delete "tidier"
  return ("from %.3f to %.3f by worker %d"):format(began, ngx.now(),
    ngx.worker.pid())
end

function locks.tidy(premature)
  if premature then return end
  local ran, result, code = session():once("/example/tidy",
    { per = 1, timeout = 0 }, tidy)
  if ran then
    shop:set("tidied " .. shop:incr("tidied", 1, 0), result)
  elseif ran == nil and code ~= "timeout" and code ~= "disconnected" then
    ngx.log(ngx.ERR, result) -- (zklock itself logs that there is no connection)
  end
end

function locks.tidied()
  for i = 1, shop:get "tidied" or 0 do ngx.say(shop:get("tidied " .. i)) end
  local tidier = shop:get "tidier"
  if tidier then ngx.say("under way by worker ", tidier) end
end

return locks
