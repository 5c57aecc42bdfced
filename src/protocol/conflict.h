/* Conflicts: locks of different kinds on one path do not exclude each other.
 * So a contender is refused if a lock of another kind is in use on its path.
 * The check happens once, when the contender enqueues, and never later. */
#ifndef ZKLOCK_CONFLICT_H
#define ZKLOCK_CONFLICT_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Returns true if `listing` shows no node of another kind. The list was
 * requested after the contender's create, and `own` is its node there.
 * Otherwise reads the owners of the suspect nodes and returns false; the
 * contender waits, QUEUED. */
bool conflict_clears(struct contender *c, const struct listing *listing,
                     const struct entry *own);
/* Does the same check just before a grant, for the kinds whose own lists cannot
 * show nodes of other kinds. */
bool conflict_permits(struct contender *c);
/* Returns whether a node of another kind was seen, but not yet for long enough
 * to prove a conflict.  Called when the contender's deadline has passed. */
bool conflict_is_suspected(const struct contender *c);

#pragma GCC visibility pop

#endif
