/* Fast requeue: a contender that returns to a queue waits for the queue's last
 * known node, and sends no list at first. */
#ifndef ZKLOCK_FAST_REQUEUE_H
#define ZKLOCK_FAST_REQUEUE_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Make a returning contender watch the last known node instead of listing. The
 * first is called after its create was sent, the second after the reply, which
 * has the number of its node. Both return false if a list is needed to find the
 * node's position. */
bool fast_requeue_begin(struct contender *c);
bool fast_requeue_created(struct contender *c);
/* Makes the contender list after all, because the node that it watches is gone.
 * Called between fast_requeue_begin and fast_requeue_created. */
void fast_requeue_give_up(struct contender *c);

/* Stores the last nodes behind `own` as the tail (queue_tail.h). `listing`
 * shows the contender's node. */
void fast_requeue_store_tail(const struct contender *c,
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
