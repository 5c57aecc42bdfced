#include "virtual/schedule.h"

#include "test.h"
#include "virtual/posix.h"

ABOUT("The scheduler of virtual time");

#define SECOND INT64_C(1000000000)

static pthread_t start(void *(*function)(void *), void *argument) {
  pthread_t thread;
  CHECK_INT(0, posix_create(&thread, NULL, function, argument, "a thread"));
  return thread;
}

static void join(pthread_t thread) { CHECK_INT(0, posix_join(thread, NULL)); }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int unguarded;

static void *increment(void *argument) {
  const bool *guarded = argument;
  for (int i = 0; i < 20; i++) {
    if (*guarded) posix_lock(&mutex);
    int seen = unguarded;
    schedule_point();
    unguarded = seen + 1;
    if (*guarded) posix_unlock(&mutex);
  }
  return NULL;
}

static int count_with(uint64_t seed, uint64_t switches, bool guarded) {
  struct schedule_exploration exploration = {.switches = switches};
  schedule_seed(seed);
  schedule_explore(&exploration);
  unguarded = 0;
  pthread_t one = start(increment, &guarded),
            other = start(increment, &guarded);
  join(one);
  join(other);
  exploration.switches = 0;
  schedule_explore(&exploration);
  return unguarded;
}

TEST("finds a lost update where it explores, and none behind a mutex") {
  int lost = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    CHECK_INT(40, count_with(seed, 0, false));
    CHECK_INT(40, count_with(seed, 3, true));
    lost += count_with(seed, 3, false) < 40;
  }
  CHECK(lost > 10);
}

TEST("stalls threads for so long, where it explores") {
  struct schedule_exploration exploration = {.stalls = 1, .stall = SECOND};
  int64_t begun = schedule_now();
  schedule_seed(1);
  schedule_explore(&exploration);
  for (int i = 0; i < 100; i++) posix_yield();
  CHECK(schedule_now() > begun + 20 * SECOND);
  CHECK(schedule_now() < begun + 100 * SECOND);
}
