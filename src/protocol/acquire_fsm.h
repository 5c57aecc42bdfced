/* The state machine of a contender, for every way of waiting (wait_ops.h).
 * release_fsm.h has its last states, from the decision to the end. Only
 * acquire_fsm_settle, at the end of a step, can remove a contender from its
 * queue and return its memory. */
#ifndef ZKLOCK_ACQUIRE_FSM_H
#define ZKLOCK_ACQUIRE_FSM_H

#include "release_fsm.h"

#pragma GCC visibility push(hidden)

/* Appends `c` to the queue as PARKED, and sets its timer to the deadline. */
void acquire_fsm_begin(struct contender *c, struct queue *queue,
                       const struct wait_ops *wait_ops);
/* Sends the create for the node of `c`, which is PARKED and was admitted by its
 * queue. */
void acquire_fsm_enter(struct contender *c);
/* Sends the request that `c` needs in its state, unless that request is in
 * flight or there is no connection. Can be called at any time. */
void acquire_fsm_drive(struct contender *c);

/* Grants the lock to `c`, because no node is ahead of it. If the lease would
 * end too soon (lease_lasts), `c` waits until the lease is renewed. */
void acquire_fsm_be_first(struct contender *c);
/* Called when the lease was renewed. If `c` waited only for the lease, makes
 * `c` check its position in the queue again. */
void acquire_fsm_lease_renewed(struct contender *c);

/* Makes `c` create another node, at the end of the queue, because its node does
 * not exist. */
void acquire_fsm_start_over(struct contender *c);
/* Makes `c` create another node, because a list does not show its node. A
 * server may still have the old node. So if a server has returned its name, the
 * old node is deleted. */
void acquire_fsm_miss_node(struct contender *c);
/* Makes `c` search lists for another node with its id. The node that a list
 * showed by that id (NODE_MADE) is gone or belongs to another session. */
void acquire_fsm_refute(struct contender *c);

/* Called at the end of a step. Returns the memory of `c` to its owner
 * (NEWS_FORGOTTEN) if three conditions hold: `c` is GONE, no reply can arrive
 * for it, and its gate has ended. */
void acquire_fsm_settle(struct contender *c);

/* If the node's data ask the holder to release, reports this to the owner once
 * the lock is held. */
void acquire_fsm_check_revocation(struct contender *c);
/* Watches the node of the holder `c`, to learn when the node is deleted. Called
 * only after some time, so that a short hold costs no such request. */
void acquire_fsm_watch_own(struct contender *c);

/* Called when the timer of `c` has fired. Ends the wait or the hold, or repeats
 * a request. */
void acquire_fsm_on_timer(struct contender *c);
/* Refuses `c` if it needs the missing directory for its node. The operation
 * `what`, which creates the directory, has failed with `rc`. */
void acquire_fsm_directory_failed(struct contender *c, const char *what,
                                  int rc);

#pragma GCC visibility pop

#endif
