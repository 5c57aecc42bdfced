/* A contender's position in the queue. A list shows the nodes ahead of the
 * contender. If no node is ahead, zklock grants the lock; otherwise the
 * contender watches nodes ahead. */
#ifndef ZKLOCK_QUEUE_POSITION_H
#define ZKLOCK_QUEUE_POSITION_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Finds the contender's node in a list, which was requested after its create,
 * and acts on its position: grants, waits or refuses. */
void queue_position_listed(struct contender *c, const struct listing *listing);
/* Grants the lock if the last list showed no node ahead. Otherwise watches the
 * contender's own node and the nodes ahead. */
void queue_position_proceed(struct contender *c);
/* If the ACL of the node ahead forbids reading, makes `c` watch or list the
 * directory's children instead. A server need not report the deletion of such a
 * node. Called after each read of the node ahead. */
void queue_position_predecessor_read(struct contender *c);
/* Watches the contender's own node from now on. */
void queue_position_watch_own(struct contender *c);

/* Looks in a list for the node of a contender that waits or leaves. If the list
 * shows the node of a waiter, calls `found`; otherwise the waiter creates
 * another node. A contender that leaves deletes its node, or ends if the list
 * does not show it. */
void queue_position_find(struct contender *c, const struct listing *listing,
                         void (*found)(struct contender *c,
                                       const struct listing *listing,
                                       const struct entry *own));

#pragma GCC visibility pop

#endif
