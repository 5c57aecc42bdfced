--- A real browser without a window: Chromium, by way of chromedriver.
local dkjson = require "dkjson"
local socket = require "socket"
local support = require "support"

local Browser = {}
Browser.__index = Browser

local browser = {}

local function which(name)
  local pipe = io.popen("command -v " .. name)
  local path = pipe:read "*l"
  pipe:close()
  return path
end

--- Why there is none; nil if there is.
function browser.missing()
  if which "chromium" and which "chromedriver" then return nil end
  return "Chromium is not installed: apt-get install chromium chromium-driver"
end

-- One request to chromedriver, which must not fail: the answer's value.
local function call(self, method, path, body)
  local text = body and dkjson.encode(body) or ""
  local client = assert(socket.connect("127.0.0.1", self.port))
  assert(client:send(("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: "
    .. "application/json\r\nContent-Length: %d\r\n\r\n%s"):format(method, path,
    #text, text)))
  local head = {}
  repeat
    local line = support.receive(client, "*l", 60)
    head[#head + 1] = line
  until not line or line == ""
  local length = table.concat(head, "\n"):match "[Cc]ontent%-[Ll]ength:%s*(%d+)"
  local answer = support.receive(client, tonumber(length) or "*a", 60)
  client:close()
  local value = dkjson.decode(answer or "")
  value = value and value.value
  if type(value) == "table" and value.error then
    error(("%s: %s"):format(path, value.message), 2)
  end
  return value
end

local function in_session(self, method, path, body)
  return call(self, method, "/session/" .. self.session .. path, body)
end

local ARGUMENTS = { "--headless", "--disable-gpu", "--disable-quic",
  "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--no-sandbox" }

--- Starts one, with a profile of its own; the test's end closes it.
function browser.start()
  local dir = os.tmpname()
  os.remove(dir)
  os.execute(("mkdir -m 700 '%s'"):format(dir))
  local self = setmetatable({ dir = dir, port = support.free_port() }, Browser)
  -- Its own group: whatever it starts goes with it.
  os.execute(("setsid sh -c 'echo $$ >\"%s/pid\"; exec chromedriver --port=%d "
    .. "--allowed-ips=127.0.0.1' </dev/null >'%s/log' 2>&1 &"):format(dir,
    self.port, dir))
  support.closing(self)
  support.wait_until(function()
    local ok, status = pcall(call, self, "GET", "/status")
    return ok and status and status.ready
  end, 10, "chromedriver to be ready")
  local arguments = { "--user-data-dir=" .. dir .. "/profile" }
  for i, one in ipairs(ARGUMENTS) do arguments[i + 1] = one end
  self.session = call(self, "POST", "/session", { capabilities = {
    alwaysMatch = {
      ["goog:chromeOptions"] = { args = arguments },
      ["goog:loggingPrefs"] = { browser = "ALL" },
    } } }).sessionId
  return self
end

function Browser:close()
  if self.session then pcall(in_session, self, "DELETE", "") end
  os.execute(("kill -TERM -- -$(cat '%s/pid') 2>/dev/null; sleep 0.3; "
    .. "kill -KILL -- -$(cat '%s/pid') 2>/dev/null; rm -rf '%s'"):format(
    self.dir, self.dir, self.dir))
end

local function command(self, name, parameters)
  return in_session(self, "POST", "/goog/cdp/execute",
    { cmd = name, params = parameters })
end

--- How wide the window is, in CSS pixels, and "light" or "dark".
function Browser:look(width, scheme)
  command(self, "Emulation.setDeviceMetricsOverride", { width = width,
    height = 900, deviceScaleFactor = 1, mobile = false })
  command(self, "Emulation.setEmulatedMedia", { features = {
    { name = "prefers-color-scheme", value = scheme } } })
end

function Browser:open(url)
  in_session(self, "POST", "/url", { url = url })
end

--- What the body of a function in JavaScript returns.
function Browser:run(script)
  return in_session(self, "POST", "/execute/sync",
    { script = script, args = setmetatable({}, { __jsontype = "array" }) })
end

--- What the console has been told since this was asked last.
function Browser:console()
  return in_session(self, "POST", "/se/log", { type = "browser" })
end

local function decode(text)
  local bytes, bits, n = {}, 0, 0
  local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    .. "0123456789+/"
  for one in text:gmatch "[%w+/]" do
    bits = bits * 64 + alphabet:find(one, 1, true) - 1
    n = n + 6
    if n >= 8 then
      n = n - 8
      local byte = math.floor(bits / 2 ^ n)
      bytes[#bytes + 1] = string.char(byte)
      bits = bits - byte * 2 ^ n
    end
  end
  return table.concat(bytes)
end

--- Saves a picture of the whole page.
function Browser:save(name)
  local size = self:run "return document.documentElement.scrollHeight"
  local width = self:run "return window.innerWidth"
  command(self, "Emulation.setDeviceMetricsOverride", { width = width,
    height = math.min(size, 4000), deviceScaleFactor = 1, mobile = false })
  local file = assert(io.open(name, "wb"))
  file:write(decode(in_session(self, "GET", "/screenshot")))
  file:close()
end

return browser
