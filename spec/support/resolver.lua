--- The system's resolver as a spec wants it: names that move, names with many
-- addresses, look-ups that hang.  A library put before the program's own
-- answers for the names that end in ".example".
local support = require "support"

local SOURCE = [[
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1000 };

static const char *file(char path[300], const char *suffix) {
  snprintf(path, 300, "%s%s", getenv("SPEC_RESOLVER"), suffix);
  return path;
}

static void wait_while(const char *suffix) {
  char path[300], seen[300];
  while (!access(file(path, suffix), F_OK)) {
    fclose(fopen(file(seen, ".seen"), "w"));
    usleep(10000);
  }
}

static int is_ours(const char *name) {
  size_t n = name ? strlen(name) : 0;
  return n > 8 && !strcmp(name + n - 8, ".example");
}

/* The addresses of `name`, as many as there are.  One look-up at a time, as
 * with some modules of the real one. */
static int look_up(const char *name, char list[][64]) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  char path[300], to[300], known[300];
  int n = 0;
  pthread_mutex_lock(&lock);
  if (!rename(file(path, ".hang"), file(to, ".hung"))) wait_while(".hung");
  wait_while(".stop");
  FILE *names = fopen(getenv("SPEC_RESOLVER"), "re");
  while (n < MOST && fscanf(names, "%299s %63s", known, list[n]) == 2)
    if (!strcmp(known, name)) n++;
  fclose(names);
  pthread_mutex_unlock(&lock);
  return n;
}

int getaddrinfo(const char *name, const char *port,
                const struct addrinfo *hints, struct addrinfo **found) {
  int (*real)(const char *, const char *, const struct addrinfo *,
              struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
  if (!is_ours(name) || (hints && hints->ai_flags & AI_NUMERICHOST))
    return real(name, port, hints, found);
  char (*list)[64] = malloc(MOST * 64);
  int n = look_up(name, list);
  for (int i = 0; i < n; i++) {
    int rc = real(list[i], port, hints, found);
    if (rc) return rc;
    while (*found) found = &(*found)->ai_next;
  }
  free(list);
  return n ? 0 : EAI_NONAME;
}

int gethostbyname2_r(const char *name, int family, struct hostent *entry,
                     char *space, size_t size, struct hostent **found,
                     int *problem) {
  int (*real)(const char *, int, struct hostent *, char *, size_t,
              struct hostent **, int *) = dlsym(RTLD_NEXT, "gethostbyname2_r");
  if (!is_ours(name))
    return real(name, family, entry, space, size, found, problem);
  char (*list)[64] = malloc(MOST * 64), (*bytes)[16] = malloc(MOST * 16);
  size_t width = family == AF_INET ? 4 : 16;
  int n = 0, all = look_up(name, list), rc = 0;
  for (int i = 0; i < all; i++) n += inet_pton(family, list[i], bytes[n]) == 1;
  *found = NULL;
  *problem = all ? NO_DATA : HOST_NOT_FOUND;
  if (size < 64 + (size_t)n * (width + sizeof(char *))) {
    *problem = NETDB_INTERNAL;
    rc = ERANGE;
  } else if (n) {
    char **pointers = (char **)(((size_t)space + 15) & ~(size_t)15);
    char *at = (char *)(pointers + n + 1);
    for (int i = 0; i < n; i++, at += width)
      pointers[i] = memcpy(at, bytes[i], width);
    pointers[n] = NULL;
    *entry = (struct hostent){(char *)name, pointers + n, family, (int)width,
                              pointers};
    *found = entry;
  }
  free(list);
  free(bytes);
  return rc;
}
]]

local Resolver = {}
Resolver.__index = Resolver

local function write(name, text)
  local file = assert(io.open(name, "w"))
  file:write(text)
  file:close()
end

--- `resolver.environment` are the words for spawn_with.
local function start()
  local name = os.tmpname()
  write(name .. ".c", SOURCE)
  assert(os.execute(("cc -shared -fPIC -o %s.so %s.c -ldl -lpthread")
    :format(name, name)))
  local self = setmetatable({ name = name }, Resolver)
  self.environment = ("SPEC_RESOLVER=%s LD_PRELOAD=%s.so"):format(name, name)
  support.closing(self)
  return self
end

--- From now on `name` has these addresses, and no other name has any.
function Resolver:set(name, addresses)
  local lines = {}
  for i, address in ipairs(addresses) do
    lines[i] = name .. " " .. address .. "\n"
  end
  write(self.name .. ".new", table.concat(lines))
  assert(os.rename(self.name .. ".new", self.name))
end

--- Look-ups hang until go_on().
function Resolver:stop() write(self.name .. ".stop", "") end
--- The next one does, and only that.
function Resolver:hang() write(self.name .. ".hang", "") end
function Resolver:go_on()
  for _, suffix in ipairs { ".hang", ".hung", ".stop" } do
    os.remove(self.name .. suffix)
  end
end

--- Until a look-up hangs.
function Resolver:await()
  support.wait_until(function()
    return io.open(self.name .. ".seen")
  end, 10, "a look-up"):close()
end

function Resolver:close()
  self:go_on()
  for _, suffix in ipairs { "", ".c", ".so", ".seen" } do
    os.remove(self.name .. suffix)
  end
end

return { start = start }
