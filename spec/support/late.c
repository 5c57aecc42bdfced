/* poll(2) and send(2) after which, or before which, a thread is late now and
 * then: one call in $LATE_ONE_IN sleeps, up to $LATE_LONGEST milliseconds.  The
 * others of its process go on.  Of Lua's processes and nginx's only: servers
 * are as they are.  Loaded with LD_PRELOAD: see spec/late. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static bool begins_with(const char *text, const char *word) {
  return !strncmp(text, word, strlen(word));
}

static bool is_ours(void) {
  static const char *ours;
  const char *name = program_invocation_short_name;
  if (!ours)
    ours = begins_with(name, "lua") || begins_with(name, "nginx") ? "yes" : "";
  return *ours;
}

static uint64_t number_in(const char *variable) {
  const char *text = getenv(variable);
  uint64_t n = text ? strtoull(text, NULL, 10) : 0;
  return n ? n : 1;
}

/* Of each thread its own (xorshift64; Marsaglia, "Xorshift RNGs", 2003). */
static uint64_t draw(void) {
  static _Thread_local uint64_t x;
  if (!x) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    x = ((uint64_t)getpid() << 32 ^ (uintptr_t)&x ^ (uint64_t)now.tv_nsec) | 1;
  }
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x >> 16;
}

static void be_late(void) {
  if (!is_ours() || draw() % number_in("LATE_ONE_IN") != 0) return;
  int kept = errno;
  long microseconds = (long)(draw() % (1000 * number_in("LATE_LONGEST")));
  struct timespec pause = {microseconds / 1000000,
                           microseconds % 1000000 * 1000};
  nanosleep(&pause, NULL);
  errno = kept;
}

int poll(struct pollfd *entries, nfds_t n, int milliseconds) {
  int (*real)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
  int ready = real(entries, n, milliseconds);
  if (ready > 0) be_late();
  return ready;
}

ssize_t send(int fd, const void *bytes, size_t size, int flags) {
  ssize_t (*real)(int, const void *, size_t, int) = dlsym(RTLD_NEXT, "send");
  be_late();
  return real(fd, bytes, size, flags);
}
