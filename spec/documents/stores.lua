--- Databases of a page's own, on loopback: `<!-- with: redis -->` starts one,
-- and the page's commands find it where a database of that kind always is.
local lfs = require "lfs"
local write = require "support.files".write
local directory = require "support.command".directory
local quote = require "support.command".quote
local shell = require "support.shell"
local support = require "support"

local run, must = shell.run, shell.must

local stores = {}

--- Redis, at the port `page.redis`.  Its client is told where it is.
function stores.redis(page)
  local port = support.free_port()
  local dir = page.dir .. "/.redis"
  assert(lfs.mkdir(dir))
  must(("cd %s && redis-server --port %d --bind 127.0.0.1 --save '' "
    .. "--daemonize yes --pidfile %s/pid --logfile log"):format(quote(dir),
    port, dir))
  support.closing(dir, function()
    run(("kill $(cat %s/pid)"):format(quote(dir)))
  end)
  local client = must "command -v redis-cli":match "%S+"
  write(page.dir .. "/.bin/redis-cli",
    ("#!/bin/sh\nexec %s -p %d \"$@\"\n"):format(client, port), "755")
  support.wait_until(function()
    return run(quote(page.dir .. "/.bin/redis-cli") .. " ping | grep -q PONG")
  end, 10, "redis")
  page.redis = tostring(port)
  return true
end

-- Debian keeps the server's programs out of $PATH.
local function postgres_programs()
  local _, found = run("ls -d /usr/lib/postgresql/*/bin; "
    .. "dirname $(command -v initdb)")
  for place in found:gmatch "/%S+" do
    if lfs.attributes(place .. "/initdb") then return place end
  end
end

--- PostgreSQL, which `psql` finds; false where there is none.
-- (Root may not run it: Debian's package has made a user for it.)
function stores.postgresql(page)
  local bin = run "command -v psql" and postgres_programs()
  if not bin then return false end
  local port, as, dir = support.free_port(), "", directory()
  if run "test $(id -u) = 0" then
    must("chown postgres " .. quote(dir))
    as = "setpriv --reuid=postgres --regid=postgres --clear-groups "
  end
  local start = ("cd %s && %s%s/pg_ctl -w -D data -l log"):format(quote(dir),
    as, bin)
  support.closing(dir, function() run(start .. " -m immediate stop") end)
  must(("cd %s && %s%s/initdb -D data -A trust -U postgres -N"):format(
    quote(dir), as, bin))
  must(("%s -o '-p %d -k %s -h 127.0.0.1 -F' start"):format(start, port, dir))
  write(page.dir .. "/.bin/psql", ("#!/bin/sh\nexport PGHOST=127.0.0.1 "
    .. "PGPORT=%d PGUSER=postgres PGDATABASE=postgres\nexec %s \"$@\"\n")
    :format(port, (must "command -v psql":match "%S+")), "755")
  return true
end

return stores
