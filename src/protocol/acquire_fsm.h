/* The state machine of a contender, for every way of waiting; release_fsm.h has its
 * end.  These functions neither free a contender nor remove it from its queue:
 * that happens at the end of the step. */
#ifndef ZKLOCK_ACQUIRE_FSM_H
#define ZKLOCK_ACQUIRE_FSM_H

#include "release_fsm.h"

#pragma GCC visibility push(hidden)

void acquire_fsm_begin(struct contender *c, struct queue *queue,
                       const struct wait_ops *wait_ops);
/* Creates the node of a PARKED contender that was admitted. */
void acquire_fsm_enter(struct contender *c);
/* Submits the request that the state of `c` needs; idempotent. */
void acquire_fsm_drive(struct contender *c);

/* Grants the lock to `c`, because no node is ahead of it, or waits for a
 * lasting lease. */
void acquire_fsm_be_first(struct contender *c);
/* Continues when the lease is valid again. */
void acquire_fsm_proved(struct contender *c);

/* Begins again at the tail of the queue: the node of `c` does not exist. */
void acquire_fsm_start_over(struct contender *c);
/* Does the same when a list does not show the node, which may exist anyway. */
void acquire_fsm_miss_node(struct contender *c);
/* Looks for another node that may belong to `c`: the one of its name
 * (NODE_MADE) is gone or another session's. */
void acquire_fsm_refute(struct contender *c);

/* Ends `c` if it is GONE.  Its memory goes back to the owner once no reply can
 * come and its gate has ended.  Called at the end of a step. */
void acquire_fsm_settle(struct contender *c);

/* Notes a request to release the lock that the data of the node contain. */
void acquire_fsm_hear_revocation(struct contender *c);
/* Watches a holder's own node.  Called late, so that short holds need no
 * request. */
void acquire_fsm_watch_own(struct contender *c);

void acquire_fsm_due(struct contender *c);
void acquire_fsm_directory_failed(struct contender *c, const char *what,
                                  int rc);

#pragma GCC visibility pop

#endif
