#include <stdio.h>

#include "io/log.h"
#include "test.h"

ABOUT("A notice");

#define SECOND INT64_C(1000000000)

static struct log_throttle log_throttle;

static void begin(void) { log_throttle = (struct log_throttle){0}; }

/* How often it was not told before; -1: it is not told now either. */
static int tell(const char *text, int seconds) {
  int since;
  return log_throttle_due(&log_throttle, text, seconds * SECOND, &since) ? since
                                                                         : -1;
}

TEST("is known as long as it is among the last 32") {
  char text[20];
  begin();
  CHECK_INT(0, tell("a", 300));
  for (int i = 0; i < LOG_THROTTLE_MAX; i++) {
    snprintf(text, sizeof text, "sentence %d", i);
    CHECK_INT(0, tell(text, 301 + i));
  }
  for (int i = 0; i < LOG_THROTTLE_MAX; i++) {
    snprintf(text, sizeof text, "sentence %d", i);
    CHECK_INT(-1, tell(text, 340));
  }
  CHECK_INT(0, tell("a", 341));
  CHECK_INT(0, tell("sentence 0", 342));
  CHECK_INT(-1, tell("sentence 31", 343));
}
