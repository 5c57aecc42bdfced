#include "protocol/timer.h"

#include <stddef.h>

#include "test.h"

ABOUT("A timer");

enum { TIMERS = 200 };

static struct timers timers;
static struct timer all[TIMERS];

static void begin(void) {
  for (int i = 0; i < TIMERS; i++) timer_init(&all[i]);
}

/* The earliest, by looking at all of them. */
static int64_t earliest(void) {
  int64_t due = NEVER;
  for (int i = 0; i < TIMERS; i++)
    if (all[i].due < due) due = all[i].due;
  return due;
}

TEST("is due when it was set to be, and not before") {
  begin();
  CHECK_INT(NEVER, timers_due(&timers));
  timer_set(&timers, &all[0], 50);
  CHECK_INT(50, timers_due(&timers));
  CHECK(!timer_pop(&timers, 49));
  CHECK(timer_pop(&timers, 50) == &all[0]);
  CHECK(!timer_pop(&timers, 50));
  CHECK_INT(NEVER, all[0].due);
}

TEST("is one of many: the earliest comes first, whatever is done to them") {
  uint64_t random = 7;
  begin();
  for (int64_t step = 0; step < 200000; step++) {
    random = random * UINT64_C(6364136223846793005) + 1;
    struct timer *timer = &all[(random >> 33) % TIMERS];
    int what = (int)(random >> 60);
    if (what < 9) {
      timer_set(&timers, timer, (int64_t)(random >> 40) % 1000);
    } else if (what < 12) {
      timer_set(&timers, timer, NEVER);
    } else {
      int64_t due = earliest(), now = (int64_t)(random >> 40) % 100;
      struct timer *first = timer_pop(&timers, now);
      CHECK((first != NULL) == (due <= now));
    }
    CHECK_INT(earliest(), timers_due(&timers));
  }
  int64_t last = 0;
  for (int64_t due; (due = timers_due(&timers)) != NEVER; last = due) {
    CHECK(due >= last);
    CHECK(timer_pop(&timers, due) != NULL);
  }
  CHECK_INT(NEVER, earliest());
}
