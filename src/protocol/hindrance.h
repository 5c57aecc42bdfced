/* Hindrances: which nodes have been in the way of somebody of ours, and since
 * when.  A table of fixed size, by hash: where it is full the oldest of a row is
 * forgotten.  Knows nothing else. */
#ifndef ZKLOCK_HINDRANCE_H
#define ZKLOCK_HINDRANCE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct hindrance {
  uint64_t hash;  /* of its path */
  int64_t since;  /* then nobody had asked whose it is, or it was asked */
  bool of_nobody; /* this was the answer */
};

enum { HINDRANCE_ROWS = 32, HINDRANCES_IN_ROW = 8 };

struct hindrances {
  struct hindrance rows[HINDRANCE_ROWS][HINDRANCES_IN_ROW];
};

/* The child `name` of the directory at `path`; one that is not known yet has been
 * in the way since `since`. */
struct hindrance *hindrance_find(struct hindrances *hindrances,
                                 const char *path, const char *name,
                                 int64_t since);

#pragma GCC visibility pop

#endif
