/* The life of a contender, for every way of waiting; life_leaving.h has its
 * end.  These functions neither free a contender nor remove it from its queue:
 * that happens at the end of the step. */
#ifndef ZKLOCK_LIFE_H
#define ZKLOCK_LIFE_H

#include "life_leaving.h"

#pragma GCC visibility push(hidden)

void life_begin(struct contender *c, struct queue *queue,
                const struct way *way);
/* Creates the node of a PARKED contender that was admitted. */
void life_enter(struct contender *c);
/* Submits the request that the state of `c` needs; idempotent. */
void life_drive(struct contender *c);

/* Grants the lock to `c`, because no node is ahead of it, or waits for a
 * lasting lease. */
void life_be_first(struct contender *c);
/* Continues when the lease is valid again. */
void life_proved(struct contender *c);

/* Begins again at the tail of the queue: the node of `c` does not exist. */
void life_start_over(struct contender *c);
/* Does the same when a list does not show the node, which may exist anyway. */
void life_miss_node(struct contender *c);
/* Looks for another node that may belong to `c`: the one of its name
 * (NODE_MADE) is gone or another session's. */
void life_refute(struct contender *c);

/* Ends `c` if it is GONE.  Its memory goes back to the owner once no reply can
 * come and its gate has ended.  Called at the end of a step. */
void life_settle(struct contender *c);

/* Notes a request to release the lock that the data of the node contain. */
void life_hear_revocation(struct contender *c);
/* Watches a holder's own node.  Called late, so that short holds need no
 * request. */
void life_watch_own(struct contender *c);

void life_due(struct contender *c);
void life_directory_failed(struct contender *c, const char *what, int rc);

#pragma GCC visibility pop

#endif
