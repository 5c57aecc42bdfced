/* The sessions as their leader watches over them: when each expires, and over
 * which server its client is connected. */
#ifndef ZKLOCK_VIRTUAL_TRACKER_H
#define ZKLOCK_VIRTUAL_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct tracked {
  int64_t id;
  int32_t timeout_ms;
  int owner;       /* the number of the server; -1: unknown */
  int64_t expires; /* a multiple of the tick */
};

struct tracker {
  struct tracked *list; /* by id */
  int count, room;
  int64_t tick, phase; /* sessions expire at these moments alone */
};

struct tracked *tracker_find(const struct tracker *tracker, int64_t id);
struct tracked *tracker_add(struct tracker *tracker, int64_t id,
                            int32_t timeout_ms, int64_t now);
void tracker_remove(struct tracker *tracker, int64_t id);
/* It lives for its timeout from now, and until the tick that follows. */
void tracker_touch(const struct tracker *tracker, struct tracked *session,
                   int32_t timeout_ms, int64_t now);
int64_t tracker_next(const struct tracker *tracker);
void tracker_clear(struct tracker *tracker);

#pragma GCC visibility pop

#endif
