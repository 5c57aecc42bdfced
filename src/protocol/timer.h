/* Timers, sorted by their deadlines in a pairing heap. A timer is a field of
 * its owner, so arming it cannot fail. Source: Fredman, Sedgewick, Sleator,
 * Tarjan, "The pairing heap", 1986. */
#ifndef ZKLOCK_TIMER_H
#define ZKLOCK_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define NEVER INT64_MAX

static inline int64_t earliest(int64_t a, int64_t b) { return a < b ? a : b; }

struct timer {
  int64_t due;         /* NEVER: not armed */
  struct timer *child; /* the first child; no child is due earlier */
  struct timer *next;  /* the next sibling */
  struct timer **link; /* the pointer to this timer; NULL: in no heap */
};

struct timers {
  struct timer *root;
};

void timer_init(struct timer *timer);
/* Sets the timer to `due`. If `due` is NEVER, removes the timer. */
void timer_set(struct timers *timers, struct timer *timer, int64_t due);
/* Removes and returns the earliest timer if it is due at `now`; otherwise
 * returns NULL. */
struct timer *timer_pop(struct timers *timers, int64_t now);
/* Returns when the earliest timer is due; NEVER: there is none. */
int64_t timers_due(const struct timers *timers);

#pragma GCC visibility pop

#endif
