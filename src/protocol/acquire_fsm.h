/* The state machine of a contender, for every way of waiting. release_fsm.h has
 * its last states. No function here frees a contender or removes it from its
 * queue, except acquire_fsm_settle at the end of the step. */
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
/* Continues an acquisition: the lease is valid again. */
void acquire_fsm_proved(struct contender *c);

/* Makes `c` begin again at the end of the queue: its node does not exist. */
void acquire_fsm_start_over(struct contender *c);
/* Makes `c` begin again: a list does not show its node, which may exist
 * anyway. */
void acquire_fsm_miss_node(struct contender *c);
/* Looks for another node that may belong to `c`: the node with its name
 * (NODE_MADE) is gone, or belongs to another session. */
void acquire_fsm_refute(struct contender *c);

/* Ends `c` if it is GONE. Returns its memory to the owner once no reply can
 * arrive for it and its gate has ended. Called at the end of a step. */
void acquire_fsm_settle(struct contender *c);

/* Notes that the data of the node ask the holder to release the lock. */
void acquire_fsm_hear_revocation(struct contender *c);
/* Watches a holder's own node. Called only after some time, so that a short
 * hold costs no such request. */
void acquire_fsm_watch_own(struct contender *c);

void acquire_fsm_due(struct contender *c);
void acquire_fsm_directory_failed(struct contender *c, const char *what,
                                  int rc);

#pragma GCC visibility pop

#endif
