#include "clock.h"

#include <time.h>

int64_t clock_now(void) {
  struct timespec t;
#ifdef CLOCK_BOOTTIME
  clock_gettime(CLOCK_BOOTTIME, &t);
#else
  clock_gettime(CLOCK_MONOTONIC, &t);
#endif
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
