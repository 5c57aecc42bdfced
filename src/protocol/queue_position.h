/* A contender's position in the queue: computes it from a list, and acts on
 * it. */
#ifndef ZKLOCK_QUEUE_POSITION_H
#define ZKLOCK_QUEUE_POSITION_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Handles a list that was requested after the contender's create. */
void queue_position_listed(struct contender *c, const struct listing *listing);
/* Acts on what the list has shown: the contender is first, or sets watches. */
void queue_position_act(struct contender *c);
/* Handles a read of the node ahead of a waiter, or its denial. */
void queue_position_predecessor_read(struct contender *c);
/* Watches the contender's own node from now on. */
void queue_position_watch_own(struct contender *c);

/* Looks in a list for the node of a contender that waits or leaves.  Calls
 * `found` if it waits and the list has its node.  Otherwise the contender
 * begins again, or is gone. */
void queue_position_find(struct contender *c, const struct listing *listing,
                         void (*found)(struct contender *c,
                                       const struct listing *listing,
                                       const struct entry *own));

#pragma GCC visibility pop

#endif
