/* Fast requeue: a contender that returns to a queue waits for the queue's last
 * known node, and sends no list at first. */
#ifndef ZKLOCK_FAST_REQUEUE_H
#define ZKLOCK_FAST_REQUEUE_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* fast_requeue_begin is called after the create was sent, fast_requeue_go_on
 * after its reply. Both return false if a list is needed to find the node's
 * position. */
bool fast_requeue_begin(struct contender *c);
bool fast_requeue_go_on(struct contender *c);
/* Called between fast_requeue_begin and fast_requeue_go_on when the tail is
 * gone. */
void fast_requeue_lose(struct contender *c);

/* Records the last node behind `own` as the tail.  `listing` shows the
 * contender's node. */
void fast_requeue_note_tail(const struct contender *c,
                            const struct listing *listing,
                            const struct entry *own);
/* Returns whether the last list showed a node behind the holder's. */
bool fast_requeue_knows_tail(const struct contender *c);
/* Returns whether the delete or create of `c` may share a transaction with that
 * of another contender. The reply to such a create does not name the node's
 * owner. */
bool fast_requeue_joins(const struct contender *c);

#pragma GCC visibility pop

#endif
