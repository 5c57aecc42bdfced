/* Chores: deferred work, run when no other function is in the middle of its
 * own.
 *
 * A function of the protocol never frees its arguments.  An object that has
 * ended adds a chore instead, and the chore frees it later.  There are two
 * lists of chores.
 *
 * The step list runs at the end of each step; a step is one call of session.h,
 * or a part of session_run.  It holds the ends of contenders and watches, and
 * changes of semaphore gates.  So a semaphore learns of a lost gate before the
 * next reply can grant a permit.
 *
 * The batch list runs at the end of a batch of calls.  It holds the requests of
 * each queue, so that one list request serves all contenders of the batch.
 *
 * A chore is a field of the object that it serves, and names an object to check
 * rather than an event.  So adding a chore twice is harmless. */
#ifndef ZKLOCK_CHORE_H
#define ZKLOCK_CHORE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct chore {
  struct chore *next; /* itself: the last in the list; NULL: in no list */
  void (*run)(struct chore *chore); /* may free the chore itself */
};

struct chores {
  struct chore *first, **end;
};

void chores_init(struct chores *chores);
void chore_add(struct chores *chores, struct chore *chore);
/* Runs chores until the list is empty, including those added meanwhile. */
void chores_do(struct chores *chores);

/* Returns whether the chore is in a list. */
static inline bool chore_waits(const struct chore *chore) {
  return chore->next;
}

static inline void chores_run(struct chores *chores) {
  if (chores->first) chores_do(chores);
}

#pragma GCC visibility pop

#endif
