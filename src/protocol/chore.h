/* Chores: what is to be done when nobody is in the middle of something.
 *
 * Nobody's memory goes back inside a step, so no function of the protocol frees
 * what it was given: whoever is over says so by a chore.  There are two lists.
 * The first is done at the end of each step, which is a call of session.h or a
 * part of session_run: the ends of contenders and watches, and what a semaphore
 * has heard of its gate.  (So a gate that is lost is heard of before the next
 * reply, which may grant.)  The second is done at the end of a batch of calls:
 * what each queue asks for, so that one list serves all who have come.
 *
 * A chore is a slot inside its owner, and says what to look at rather than what
 * has happened: adding it twice does no harm. */
#ifndef ZKLOCK_CHORE_H
#define ZKLOCK_CHORE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct chore {
  struct chore *next; /* the last one's: itself; NULL: it is in no list */
  void (*run)(struct chore *chore); /* its memory may be gone afterwards */
};

struct chores {
  struct chore *first, **end;
};

void chores_init(struct chores *chores);
void chore_add(struct chores *chores, struct chore *chore);
/* Until none is left, those that are added meanwhile included. */
void chores_do(struct chores *chores);

/* Is it in a list? */
static inline bool chore_waits(const struct chore *chore) {
  return chore->next;
}

static inline void chores_run(struct chores *chores) {
  if (chores->first) chores_do(chores);
}

#pragma GCC visibility pop

#endif
