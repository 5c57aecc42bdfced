/* What happens to a contender, whatever its way of waiting; how it leaves, is in
 * life_leaving.h.  None of these frees it, nor takes it out of its queue: that is
 * done at the end of the step. */
#ifndef ZKLOCK_LIFE_H
#define ZKLOCK_LIFE_H

#include "life_leaving.h"

#pragma GCC visibility push(hidden)

void life_begin(struct contender *c, struct queue *queue,
                const struct way *way);
/* PARKED, and it has its place: makes its node. */
void life_enter(struct contender *c);
/* Submits whatever the state calls for; idempotent. */
void life_drive(struct contender *c);

/* Nobody is ahead: it is granted, or has to wait for the lease. */
void life_be_first(struct contender *c);
/* The lease stands again. */
void life_proved(struct contender *c);

/* Its node does not exist: it begins again at the tail. */
void life_start_over(struct contender *c);
/* The same, but its node was not in a list: it may be there all the same. */
void life_miss_node(struct contender *c);
/* The one that has its name (NODE_MADE) is not ours, or is gone: another that
 * may be ours is looked for. */
void life_refute(struct contender *c);

/* At the end of a step.  Its memory goes back once no reply can come any more, and
 * its gate's has come back. */
void life_settle(struct contender *c);

/* Its own node, or what may be it, was read: do the data ask it to let go? */
void life_hear_revocation(struct contender *c);
/* A holder's own watch, armed late: an uncontended lock pays nothing. */
void life_watch_own(struct contender *c);

void life_due(struct contender *c);
void life_directory_failed(struct contender *c, const char *what, int rc);

#pragma GCC visibility pop

#endif
