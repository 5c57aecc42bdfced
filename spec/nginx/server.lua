--- A real nginx with the handlers of a spec.  Not a spec itself:
-- `require "nginx.server"`.
local lfs = require "lfs"
local luajit = require "support.luajit"
local processes = require "support.processes"
local reader = require "documents.reader"
local socket = require "socket"
local shell = require "support.shell"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."
local run, must = shell.run, shell.must
local files = require "support.files"
local read_file, write = files.find, files.write

local function find_modules()
  for _, place in ipairs { "/usr/lib/nginx/modules",
    "/usr/share/nginx/modules", "/usr/lib64/nginx/modules" } do
    if lfs.attributes(place .. "/ngx_http_lua_module.so") then return place end
  end
end

local nginx = {}

local _, program = run "PATH=$PATH:/usr/sbin command -v nginx"
program = program:match "^/%S+"

--- Why the specs cannot run here; nil if they can.
function nginx.missing()
  if not program or not find_modules() then
    return "nginx with its Lua module is not installed: make deps FOR=nginx"
  end
end

--- Prepares a block of tests, if they can run here.
function nginx.ready(pending)
  if not nginx.missing() then return true end
  pending(nginx.missing())
end

-- A copy where nginx's own user can read it, once for all specs of a run, which
-- takes it away with its directory.
local COPY = [[
exec 9>$place.lock; flock 9; test ! -e $place || exit 0
mkdir -m 755 $place.new && cp -r '$root/lua/zklock' $place.new &&
  cp $modules $place.new/zklock &&
  chmod -R a+rX $place.new && mv $place.new $place]]

local installed

local function install()
  if installed then return installed end
  local place = os.getenv "SPEC_TMP":gsub("[^/]*$", "nginx")
  local built = luajit.build()
  local modules = ("'%s/zklock/core.so'"):format(built)
  if luajit.has_tls then
    modules = ("%s '%s/zklock/tls.so'"):format(modules, built)
  end
  must((COPY:gsub("%$(%l+)", { place = place, root = root,
    modules = modules })))
  installed = place
  return place
end

-- As root its workers are of the user that Debian's nginx has.
local user = run "test $(id -u) = 0" and "user www-data;" or ""

local FRAME = [[
load_module $modules/ndk_http_module.so;
load_module $modules/ngx_http_lua_module.so;
$user
daemon $daemon;
worker_processes $workers;
pid $dir/pid;
error_log $dir/error.log notice;
$top
events { worker_connections 2048; }
http {
  access_log off;
  client_body_temp_path $dir/body;
  proxy_temp_path $dir/proxy;
  fastcgi_temp_path $dir/fastcgi;
  uwsgi_temp_path $dir/uwsgi;
  scgi_temp_path $dir/scgi;
  lua_package_path "$dir/?.lua;$lua/?.lua;$lua/?/init.lua;;";
  lua_package_cpath "$lua/?.so;;";
  $begin
    local of_worker = require("zklock.ngx").session
    function session(options)
      return assert(of_worker("$hosts", options or { session_timeout = 30 }))
    end
    function lock()
      return session():mutex(ngx.unescape_uri(ngx.var.arg_path))
    end
    $init
  $done
  $http
  server {
    listen 127.0.0.1:$port;
    lua_check_client_abort on;
    location = /pid { content_by_lua_block { ngx.print(ngx.worker.pid()) } }
    $server
  }
}
]]

local Nginx = {}
Nginx.__index = Nginx

local function await_workers(server, workers)
  support.wait_until(function()
    local client = socket.connect("127.0.0.1", server.port)
    if client then client:close() end
    local output = read_file(server.dir .. "/out")
    server.master = server:pids()[1]
    if output:find("[emerg]", 1, true) then error(output, 0) end
    return client and server.master and #server:workers() == workers
  end, 10, "nginx to listen")
end

-- Runs the command that starts it.
local function launch(self, command, workers)
  self.handle = io.popen(("echo $$ >'%s/started'; %s </dev/null >'%s/out' 2>&1")
    :format(self.dir, command, self.dir))
  local ok, problem = pcall(await_workers, self, workers)
  if ok then return self end
  -- (It may not have got as far as to write its pid, and try again.)
  self.master = self.master or tonumber(read_file(self.dir .. "/started"))
  error(problem, 0)
end

-- How unshare makes a namespace for mounts here: as root; as root in a chroot;
-- as another user.
local place

local function find_place()
  if place == nil then
    place = false
    for _, flags in ipairs { "-m", "-m --propagation unchanged",
      "-c -m --keep-caps" } do
      place = place or run(("unshare %s mount --bind /run /run"):format(flags))
        and flags
    end
  end
  return place
end

-- A directory that nginx runs in, on a port that was free a moment ago.
local function new_server()
  local dir = os.tmpname()
  os.remove(dir)
  assert(lfs.mkdir(dir))
  local self = setmetatable({ dir = dir, port = support.free_port(),
    pid_file = dir .. "/pid", error_log = dir .. "/error.log" }, Nginx)
  return support.closing(self)
end

--- Starts nginx.  `given`: top, server, http, init: parts of its configuration;
-- files: modules by name; workers: 1; daemon = "on": only then does nginx obey
-- USR2; late: `init` runs, and loads zklock, in a timer of each worker, not in
-- the master process.
function nginx.start(given)
  local self = new_server()
  local dir = self.dir
  local words = {
    modules = find_modules(), dir = dir, port = self.port,
    lua = install(),
    hosts = given.hosts or support.hosts,
    user = user,
    daemon = given.daemon or "off", workers = given.workers or 1,
    top = given.top or "", init = given.init or "", http = given.http or "",
    server = given.server or "",
    begin = given.late
      and "init_worker_by_lua_block { ngx.timer.at(0, function()"
      or "init_by_lua_block {",
    done = given.late and "end) }" or "}",
  }
  local config = FRAME:gsub("%$(%l+)", words)
  write(dir .. "/nginx.conf", (config:gsub("%$(%l+)", words)))
  for name, text in pairs(given.files or {}) do
    write(dir .. "/" .. name, (text:gsub("%$(%l+)", words)))
  end
  return launch(self, ("exec %s -p '%s' -e error.log -c nginx.conf"):format(
    program, dir), words.workers)
end

--- Why a page's whole configuration cannot be run as it is; nil if it can.
function nginx.no_place()
  return not find_place()
    and "neither root nor a namespace for mounts: nginx must write /run" or nil
end

-- Where a page's nginx runs: what it writes in /run and /var goes into its own
-- directory.
local PLACE = [[
mount --bind run /run && mount --bind log /var/log &&
mount --bind lib /var/lib/nginx && exec $nginx -c $PWD/nginx.conf]]

--- Runs a page's whole configuration as README says, but for the port.
function nginx.start_page(config, hosts)
  local self = new_server()
  local dir, lua = self.dir, install()
  for _, name in ipairs { "run", "log", "log/nginx", "lib" } do
    assert(lfs.mkdir(dir .. "/" .. name))
  end
  self.pid_file = dir
    .. (config:match "\npid /var(/run/[^;]+);" or "/run/nginx.pid")
  self.error_log = dir .. (config:match "\nerror_log /var(/log/%S+)" or "/out")
  local changed, n = config:gsub("listen 8080;", ("listen %d;"):format(
    self.port))
  assert(n == 1, "no port to change")
  write(dir .. "/nginx.conf", changed)
  return launch(self, ([[
    cd '%s'; export ZKLOCK_HOSTS='%s'
    export LUA_PATH='%s/?.lua;%s/?/init.lua;;' LUA_CPATH='%s/?.so;;'
    exec unshare %s sh -c '%s']]):format(dir, hosts, lua, lua, lua,
    find_place(), (PLACE:gsub("%$nginx", program))), 1)
end

--- The snippet of doc/nginx.md in a server of its own; only its ZooKeeper
-- servers are others.
function nginx.paste(hosts)
  local snippet = reader.block(root .. "/doc/nginx.md", "nginx")
  local own = '"zk1:2181,zk2:2181,zk3:2181/app"'
  assert(snippet:find(own, 1, true))
  return nginx.start {
    server = snippet:gsub(own:gsub("[/.]", "%%%0"), ("%q"):format(hosts)),
  }
end

function Nginx:pids()
  return { tonumber(read_file(self.pid_file)) }
end

--- The workers' process ids.
function Nginx:workers(master)
  return processes.children(master or self.master)
end

function Nginx:signal(name, pid)
  processes.signal(name, pid or self.master)
end

--- Waits until these processes have gone.
function nginx.await_end(pids, seconds)
  for _, pid in ipairs(pids) do processes.await_end(pid, seconds or 5) end
end

local Request = {}
Request.__index = Request

--- Sends a request (by GET, unless the method is another) and returns at once:
-- `answer()` has what comes back.
function Nginx:begin(path, method)
  local client = assert(socket.connect("127.0.0.1", self.port))
  assert(client:send(("%s %s HTTP/1.0\r\nHost: spec\r\n\r\n"):format(
    method or "GET", path)))
  return setmetatable({ socket = client, path = path, nginx = self }, Request)
end

--- The body, the status, and the lines of the head; nothing if nginx closed the
-- connection.
function Request:answer(seconds)
  local text, problem, part = support.receive(self.socket, "*a", seconds or 15)
  self.socket:close()
  text = text or part or ""
  local head, body = text:match "^(HTTP/.-\r\n)\r\n(.*)$"
  if not head then
    if problem == "timeout" then
      error(("no answer to %s\n%s"):format(self.path, self.nginx:log()), 2)
    end
    return nil
  end
  return body, tonumber(head:match "^%S+ (%d+)"), head
end

--- Has it not been answered yet?
function Request:is_open()
  self.socket:settimeout(0)
  local _, problem = self.socket:receive(0)
  return problem == "timeout"
end

--- The client goes away.  (An nginx that was started since may have inherited
-- the descriptor.)
function Request:abort()
  self.socket:shutdown "both"
  self.socket:close()
end

function Nginx:get(path, seconds)
  return self:begin(path):answer(seconds)
end

--- The same, which must be answered with 200.
function Nginx:must(path, seconds)
  local body, status = self:get(path, seconds)
  if status ~= 200 then
    error(("%s: %s %s\n%s"):format(path, tostring(status), tostring(body),
      self:log()), 2)
  end
  return body
end

--- Waits until the answer is this one.
function Nginx:await(path, expected)
  local answer
  local ok = pcall(support.wait_until, function()
    answer = self:must(path)
    return answer == expected
  end, 15)
  if not ok then
    error(("%s: %s, not %s"):format(path, answer, expected), 2)
  end
end

function Nginx:log() return read_file(self.error_log) end

--- What is in the error log beyond notices.
function Nginx:complaints()
  local list = {}
  for line in self:log():gmatch "[^\n]+" do
    if not line:find "^%d+/%d+/%d+ [%d:]+ %[notice%]" then
      list[#list + 1] = line
    end
  end
  return table.concat(list, "\n")
end

function Nginx:close()
  if not self.handle then return end
  local pids = self:pids()
  if self.master ~= pids[1] then pids[#pids + 1] = self.master end
  for i = 1, #pids do
    for _, pid in ipairs(self:workers(pids[i])) do pids[#pids + 1] = pid end
    self:signal("TERM", pids[i])
  end
  if not pcall(nginx.await_end, pids, 5) then
    for _, pid in ipairs(pids) do self:signal("KILL", pid) end
  end
  self.handle:close()
  self.handle = nil
  local complaints = self:complaints()
  must(("rm -rf '%s'"):format(self.dir))
  if complaints ~= "" and not self.may_complain then
    error("in nginx's error log:\n" .. complaints:sub(1, 2000), 0)
  end
end

return nginx
