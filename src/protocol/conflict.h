/* Conflicts: locks of different kinds on one path do not exclude each other.  So a
 * contender is refused where a lock of another kind is in use: at its own enqueue,
 * and never later. */
#ifndef ZKLOCK_CONFLICT_H
#define ZKLOCK_CONFLICT_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* `listing` was sent after the contender's create and shows its node, `own`.
 * False: nodes in it may be another kind's.  Their owners are read, and the
 * contender waits for that, QUEUED. */
bool conflict_clears(struct contender *c, const struct listing *listing,
                     const struct entry *own);
/* The same for a contender that is about to be granted and whose kind lists no
 * directory that other kinds use. */
bool conflict_permits(struct contender *c);
/* Its time is over before it is certain: another kind has been seen. */
bool conflict_is_suspected(const struct contender *c);

#pragma GCC visibility pop

#endif
