-- A resolver that answers at first, and hangs when the servers are gone.
local spawn_with = require "support.child".spawn_with
local start_proxy = require "support.proxy".start
local support = require "support"

-- getaddrinfo(3) that knows one name, and does not look it up while the file
-- is there that $HANG names; it says so in another one.
local SOURCE = [[
  #define _GNU_SOURCE
  #include <dlfcn.h>
  #include <netdb.h>
  #include <stdio.h>
  #include <stdlib.h>
  #include <string.h>
  #include <unistd.h>
  typedef int resolve(const char *, const char *, const struct addrinfo *,
                      struct addrinfo **);
  int getaddrinfo(const char *host, const char *port,
                  const struct addrinfo *hints, struct addrinfo **found) {
    resolve *real = (resolve *)dlsym(RTLD_NEXT, "getaddrinfo");
    int is_numeric = hints && hints->ai_flags & AI_NUMERICHOST;
    if (host && !strcmp(host, "host.example") && !is_numeric) {
      char name[200];
      snprintf(name, sizeof name, "%s.seen", getenv("HANG"));
      while (!access(getenv("HANG"), F_OK)) {
        fclose(fopen(name, "w"));
        usleep(50000);
      }
      host = "127.0.0.1";
    }
    return real(host, port, hints, found);
  }
]]

describe("A resolver that hangs while there is no server #stock", function()
  before_each(support.start)
  after_each(support.finish)

  it("holds up no loss, no deadline, no release and no close", function()
    local name, path, proxy = os.tmpname(), support.path(), start_proxy()
    local function write(suffix, text)
      local file = assert(io.open(name .. suffix, "w"))
      file:write(text)
      file:close()
    end
    write(".c", SOURCE)
    assert(os.execute(("cc -shared -fPIC -o %s.so %s.c -ldl")
      :format(name, name)))
    local child = spawn_with(
      ("HANG=%s.hang LD_PRELOAD=%s.so"):format(name, name), [[
      local now = require "zklock.core".now
      local hosts, path = ...
      local session = assert(zklock.connect(hosts, { session_timeout = 3 }))
      local guard = assert(session:mutex(path):acquire(5))
      local brief = assert(session:mutex(path .. "/b"):acquire {
        timeout = 5, max_hold = 60 })
      say "held"
      hear() -- and now there is neither a server nor a name
      local begun = now()
      while guard:is_held() and now() < begun + 5 do socket.sleep(0.01) end
      say("lost", now() - begun < 2.2)
      begun = now()
      local _, _, code = session:mutex(path .. "/c"):acquire(0.5)
      say("acquire", code, now() - begun < 1.5)
      say("release", select(3, brief:release()))
      begun = now()
      session:close()
      say("close", now() - begun < 3)
      os.exit(0)
    ]], "host.example:" .. proxy.hosts:match ":(%d+)", path)
    child:expect "held"
    write(".hang", "")
    proxy:refuse()
    support.wait_until(function()
      return io.open(name .. ".hang.seen")
    end, 10, "a look-up"):close()
    child:say()
    child:expect "lost\ttrue"
    child:expect "acquire\tdisconnected\ttrue"
    child:expect "release\tlost"
    child:expect "close\ttrue"
    assert.equal(0, child:wait(5))
    proxy:heal()
    for _, suffix in ipairs { "", ".c", ".so", ".hang", ".hang.seen" } do
      os.remove(name .. suffix)
    end
    support.wait_for_queue(path, 0)
  end)
end)
