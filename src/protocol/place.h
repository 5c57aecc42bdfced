/* The place of a node in the order of the numbers: what a list tells of it, and
 * what is done about it. */
#ifndef ZKLOCK_PLACE_H
#define ZKLOCK_PLACE_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* A list that was sent after its create. */
void place_listed(struct contender *c, const struct listing *listing);
/* All is known that a list can tell: it is first, or has to watch. */
void place_act(struct contender *c);
/* The node ahead of one that waits was read, or may not be. */
void place_predecessor_read(struct contender *c);
/* Its own node is to be watched from now on. */
void place_watch_own(struct contender *c);

/* What a list tells of the node of one that waits or leaves: `found` is called if
 * it waits, and the list has its node; else it begins again, or is gone. */
void place_find(struct contender *c, const struct listing *listing,
                void (*found)(struct contender *c,
                              const struct listing *listing,
                              const struct entry *own));

#pragma GCC visibility pop

#endif
