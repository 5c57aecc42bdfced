/* A node's position in the order of numbers: what a list shows of it, and what
 * follows. */
#ifndef ZKLOCK_PLACE_H
#define ZKLOCK_PLACE_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Handles a list that was sent after the contender's create. */
void place_listed(struct contender *c, const struct listing *listing);
/* Acts on what the list has shown: the contender is first, or sets watches. */
void place_act(struct contender *c);
/* Handles a read of the node ahead of a waiter, or its denial. */
void place_predecessor_read(struct contender *c);
/* Watches the contender's own node from now on. */
void place_watch_own(struct contender *c);

/* Looks in a list for the node of a contender that waits or leaves.  Calls
 * `found` if it waits and the list has its node.  Otherwise the contender
 * begins again, or is gone. */
void place_find(struct contender *c, const struct listing *listing,
                void (*found)(struct contender *c,
                              const struct listing *listing,
                              const struct entry *own));

#pragma GCC visibility pop

#endif
