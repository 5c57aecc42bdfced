/* The leader's table of sessions: when each session expires, and to which
 * server its client is connected. */
#ifndef ZKLOCK_VIRTUAL_TRACKER_H
#define ZKLOCK_VIRTUAL_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct tracked {
  int64_t id;
  int32_t timeout_ms;
  int owner;       /* number of the client's server; -1 if unknown */
  int64_t expires; /* when the session expires, always a tick */
};

struct tracker {
  struct tracked *list; /* sorted by id */
  int count, room;
  int64_t tick, phase; /* sessions expire only at phase + n * tick */
};

struct tracked *tracker_find(const struct tracker *tracker, int64_t id);
/* Adds a session. If the table already has a session with this id, extends it
 * instead. Returns the session. */
struct tracked *tracker_add(struct tracker *tracker, int64_t id,
                            int32_t timeout_ms, int64_t now);
void tracker_remove(struct tracker *tracker, int64_t id);
/* Sets the timeout of a session, and extends the session. It then expires at
 * the first tick after `now` plus the timeout. */
void tracker_touch(const struct tracker *tracker, struct tracked *session,
                   int32_t timeout_ms, int64_t now);
/* Returns the time when the next session expires, or NEVER. */
int64_t tracker_next(const struct tracker *tracker);
void tracker_clear(struct tracker *tracker);

#pragma GCC visibility pop

#endif
