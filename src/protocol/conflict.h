/* Conflicts: locks of different kinds on one path do not exclude each other. So
 * a contender is refused if a lock of another kind is in use on its path.
 * zklock checks each contender once, before it is granted the lock. The check
 * never ends a hold. */
#ifndef ZKLOCK_CONFLICT_H
#define ZKLOCK_CONFLICT_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Returns true if `listing` shows no sign of a lock of another kind. `own` is
 * the contender's entry in that list, which was requested after its create.
 * Otherwise returns false, and reads the owners of the suspect nodes: without a
 * live owner, a node is no conflict. The contender waits in QUEUED for the
 * replies. Then it is refused, or continues. */
bool conflict_is_excluded(struct contender *c, const struct listing *listing,
                          const struct entry *own);
/* Returns whether `c` can be granted the lock now. Makes the same check for
 * unfair locks and semaphores, whose own lists cannot show nodes of other
 * kinds. So it lists the path and returns false, unless this session has
 * checked the path within a session timeout. */
bool conflict_permits_grant(struct contender *c);
/* Returns when this session last listed the path for such a check; long ago, if
 * it does not remember. */
int64_t conflict_checked_at(const struct contenders *all, const char *path);
/* Returns whether a node of another kind was seen, but not yet for long enough
 * to prove a conflict. Called when the contender's deadline has passed, to
 * choose the refusal code. */
bool conflict_is_suspected(const struct contender *c);

#pragma GCC visibility pop

#endif
