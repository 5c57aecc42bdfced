/* When this session has looked last for locks of another kind (conflict.c): a
 * table of fixed size, by the hash of the path.  The oldest of a full row is
 * forgotten. */
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

/* When it has looked at the path last; `otherwise`, and from now on, if it has
 * not. */
int64_t *looks_find(struct looks *looks, const char *path, int64_t otherwise);

#pragma GCC visibility pop

#endif
