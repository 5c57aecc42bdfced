/* Deadlines in a pairing heap: intrusive, so arming one cannot fail.
 * Source: Fredman, Sedgewick, Sleator, Tarjan, "The pairing heap", 1986. */
#ifndef ZKLOCK_TIMER_H
#define ZKLOCK_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define NEVER INT64_MAX

struct timer {
  int64_t due;         /* NEVER: not armed */
  struct timer *child; /* first of those that are due later */
  struct timer *next;  /* sibling */
  struct timer **link; /* what points at this one; NULL: in no heap */
};

struct timers {
  struct timer *root;
};

void timer_init(struct timer *timer);
/* Moves the timer to `due`; NEVER takes it out. */
void timer_set(struct timers *timers, struct timer *timer, int64_t due);
/* The earliest timer if it is due by `now`, taken out of the heap; or NULL. */
struct timer *timer_pop(struct timers *timers, int64_t now);
int64_t timers_due(const struct timers *timers);

#pragma GCC visibility pop

#endif
