#include "io/turns.h"

#include "test.h"

ABOUT("The histogram of waits");

TEST("has a bucket for less than each power of two microseconds") {
  CHECK_INT(0, wait_bucket(0));
  CHECK_INT(0, wait_bucket(999));
  for (int i = 1; i < WAIT_BUCKETS; i++) {
    int64_t least = (INT64_C(1) << (i - 1)) * 1000;
    CHECK_INT(i, wait_bucket(least));
    if (i < WAIT_BUCKETS - 1) CHECK_INT(i, wait_bucket(2 * least - 1));
  }
}

TEST("counts in the last bucket all that took longer") {
  CHECK_INT(WAIT_BUCKETS - 1, wait_bucket(INT64_MAX));
}
