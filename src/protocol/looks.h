/* The times at which this session last looked for locks of another kind
 * (conflict.c), one for each path. The table has a fixed size and is indexed by
 * the hash of the path. A full row drops its oldest entry. */
#ifndef ZKLOCK_LOOKS_H
#define ZKLOCK_LOOKS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { LOOK_ROWS = 32, LOOKS_IN_ROW = 8 };

struct looks {
  struct look_time {
    uint64_t hash;
    int64_t at;
  } rows[LOOK_ROWS][LOOKS_IN_ROW];
};

/* Returns a pointer to the time of the last look at the path, for the caller to
 * read or to set. A path without a time is added with the time `otherwise`. */
int64_t *looks_find(struct looks *looks, const char *path, int64_t otherwise);

#pragma GCC visibility pop

#endif
