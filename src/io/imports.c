/* Changes some addresses in import tables (images.h), for two reasons.
 *
 * The first reason is a clash of names. The linker binds a name to the first
 * library in the process that exports it. If the process has loaded
 * libzookeeper_mt globally, zklock's calls would reach the functions of
 * libzookeeper_mt. The calls of libzookeeper_st to its own functions would
 * reach them, too, and would crash. So zklock binds these names to the
 * libzookeeper_st that its module is linked to. RTLD_DEEPBIND is no
 * alternative, because it also binds malloc and free. If the program has
 * another allocator, the library would then free memory that it has not
 * allocated.
 *
 * The second reason is that libzookeeper_st needs replacements for six
 * functions of the C library, listed below. For other users of libzookeeper_st
 * in the process, each replacement behaves like the original. */
#include "imports.h"

#include "images.h"

#ifdef IMAGES

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "handshake.h"
#include "stream.h"

/* True if libzookeeper_st now calls replacements for all functions that a
 * stream (stream.h) must replace. Constant after replace() has run. */
static _Atomic bool has_streams;

static int close_on_exec_socket(int domain, int type, int protocol) {
  int fd = socket(domain, type | SOCK_CLOEXEC, protocol);
  if (has_streams) {
    stream_bind(fd);
    handshake_expect(fd);
  }
  return fd;
}

/* Works like getaddrinfo, but takes no lock if the address is numeric. The
 * client library passes the flag AI_ADDRCONFIG. With this flag, getaddrinfo
 * takes a lock that lookups of names take, too: see fork.h. A numeric address
 * needs neither the flag nor the lock. */
static int lockless_getaddrinfo(const char *name, const char *service,
                                const struct addrinfo *hints,
                                struct addrinfo **found) {
  struct addrinfo numeric = hints ? *hints : (struct addrinfo){0};
  numeric.ai_flags = (numeric.ai_flags & ~AI_ADDRCONFIG) | AI_NUMERICHOST;
  int rc = getaddrinfo(name, service, &numeric, found);
  return rc == EAI_NONAME ? getaddrinfo(name, service, hints, found) : rc;
}

typedef void function(void);

static struct {
  const char *name;
  function *ours;
  bool of_stream, found;
} replacements[] = {
    {"socket", (function *)close_on_exec_socket, true, false},
    {"close", (function *)stream_close, true, false},
    {"send", (function *)stream_send, true, false},
    {"recv", (function *)stream_recv, true, false},
    {"poll", (function *)stream_poll, true, false},
    {"getaddrinfo", (function *)lockless_getaddrinfo, false, false},
};
enum { REPLACEMENTS = sizeof replacements / sizeof *replacements };

static function *replacement(const char *name) {
  for (int i = 0; i < REPLACEMENTS; i++) {
    if (strcmp(name, replacements[i].name) != 0) continue;
    replacements[i].found = true;
    return replacements[i].ours;
  }
  return NULL;
}

/* Returns whether libzookeeper_st imports every stream function that zklock
 * replaces. If one import is missing, the library can bypass the replacements.
 * With _FORTIFY_SOURCE, for example, it may call __recv_chk instead of recv.
 * zklock does not replace such variants. */
static bool has_all_of_stream(void) {
  for (int i = 0; i < REPLACEMENTS; i++)
    if (replacements[i].of_stream && !replacements[i].found) return false;
  return true;
}

static struct image library, own;
static void *ourselves; /* handle of zklock's module, for dlsym */

static const void *for_library(void *self, const char *name, const void *its) {
  (void)self;
  return its ? its : (const void *)(uintptr_t)replacement(name);
}

static const void *for_us(void *self, const char *name, const void *its) {
  (void)self;
  const void *address = its ? NULL : dlsym(ourselves, name);
  return image_has(&library, address) ? address : NULL;
}

static const char *asked;

/* Rewrites the tables of libzookeeper_st and of zklock's module. Does nothing
 * if libzookeeper_st is linked statically into zklock's module, because the
 * replacements would then call themselves. */
static void replace(void) {
  bool found = image_find(&library, dlsym(ourselves, asked)) &&
               image_find(&own, (const void *)(uintptr_t)replace) &&
               library.base != own.base;
  has_streams =
      found && image_bind(&library, for_library, NULL) && has_all_of_stream();
  if (found) image_bind(&own, for_us, NULL);
}

void imports_replace(void *module, const char *has) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  ourselves = module;
  asked = has;
  pthread_once(&once, replace);
}

bool imports_have_streams(void) { return has_streams; }

#else

void imports_replace(void *module, const char *has) {
  (void)module;
  (void)has;
}

bool imports_have_streams(void) { return false; }

#endif
