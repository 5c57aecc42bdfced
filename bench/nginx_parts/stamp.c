/* For bench/nginx, preloaded: when a thread that is not nginx's own last woke
 * it, which the library does by writing one byte. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

int64_t bench_woken; /* nanoseconds, as zklock.now() counts them */

ssize_t write(int fd, const void *bytes, size_t size) {
  static ssize_t (*next)(int, const void *, size_t);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "write");
  if (size == 1 && gettid() != getpid()) {
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    __atomic_store_n(&bench_woken, t.tv_sec * INT64_C(1000000000) + t.tv_nsec,
                     __ATOMIC_RELAXED);
  }
  return next(fd, bytes, size);
}
