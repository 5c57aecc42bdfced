/* What notices tell of many sentences, in a time of its own. */
#include <assert.h>
#include <stdio.h>

#include "../../src/io/notice.h"

#define SECOND INT64_C(1000000000)

int main(void) {
  static struct notices notices;
  char text[20];
  int since;
  /* At once; then once a minute, and how often it was not. */
  assert(notice_due(&notices, "a", 5 * SECOND, &since) && since == 0);
  for (int i = 6; i < 65; i++)
    assert(!notice_due(&notices, "a", i * SECOND, &since));
  assert(notice_due(&notices, "b", 64 * SECOND, &since) && since == 0);
  assert(notice_due(&notices, "a", 65 * SECOND, &since) && since == 59);
  assert(!notice_due(&notices, "a", 66 * SECOND, &since));
  assert(notice_due(&notices, "a", 200 * SECOND, &since) && since == 1);
  assert(notice_due(&notices, "a", 300 * SECOND, &since) && since == 0);
  /* The last 32 are known. */
  for (int i = 0; i < NOTICES_MAX; i++) {
    snprintf(text, sizeof text, "sentence %d", i);
    assert(notice_due(&notices, text, (301 + i) * SECOND, &since));
  }
  for (int i = 0; i < NOTICES_MAX; i++) {
    snprintf(text, sizeof text, "sentence %d", i);
    assert(!notice_due(&notices, text, 340 * SECOND, &since));
  }
  assert(notice_due(&notices, "a", 341 * SECOND, &since) && since == 0);
  assert(notice_due(&notices, "sentence 0", 342 * SECOND, &since));
  assert(!notice_due(&notices, "sentence 31", 343 * SECOND, &since));
  puts("fine");
  return 0;
}
