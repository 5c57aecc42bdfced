/* Conflicts: locks of different kinds on one path do not exclude each other. So
 * a contender is refused if a lock of another kind is in use on its path. The
 * check happens once, when the contender enqueues, and never later. */
#ifndef ZKLOCK_CONFLICT_H
#define ZKLOCK_CONFLICT_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Returns true if `listing` shows no sign of a lock of another kind. `own` is
 * the contender's entry in that list, which was requested after its create.
 * Otherwise returns false, and sends reads of the owners of the suspect nodes:
 * a node without a live owner is no conflict. The contender waits in QUEUED for
 * the replies, which refuse it or let it continue. */
bool conflict_is_excluded(struct contender *c, const struct listing *listing,
                          const struct entry *own);
/* Does the same check just before a grant, for unfair locks and semaphores.
 * Their own lists cannot show nodes of other kinds. So this function lists the
 * path, unless this session has done so within a session timeout. */
bool conflict_permits_grant(struct contender *c);
/* Returns whether a node of another kind was seen, but not yet for long enough
 * to prove a conflict. Called when the contender's deadline has passed, to
 * choose the refusal code. */
bool conflict_is_suspected(const struct contender *c);

#pragma GCC visibility pop

#endif
