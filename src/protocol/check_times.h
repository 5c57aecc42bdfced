/* The times at which this session last checked each path for locks of another
 * kind (conflict.c). The table has a fixed size, and the hash of the path
 * selects a row. If the row is full, a new path replaces the oldest entry of
 * the row. */
#ifndef ZKLOCK_CHECK_TIMES_H
#define ZKLOCK_CHECK_TIMES_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { CHECK_TIME_ROWS = 32, CHECK_TIMES_IN_ROW = 8 };

struct check_times {
  struct check_time {
    uint64_t hash;
    int64_t at;
  } rows[CHECK_TIME_ROWS][CHECK_TIMES_IN_ROW];
};

/* Returns a pointer to the time at which the path was last checked. The caller
 * can read or set that time. If the table does not contain the path, adds it
 * with the time `otherwise`. */
int64_t *check_times_find(struct check_times *check_times, const char *path,
                          int64_t otherwise);

#pragma GCC visibility pop

#endif
