/* The state machine of a contender, for every way of waiting (wait_ops.h).
 * release_fsm.h declares the functions of its last states, from the decision
 * until the contender is removed. Only acquire_fsm_settle removes a contender
 * from its queue and returns the contender's memory to its owner. It runs at
 * the end of a step. */
#ifndef ZKLOCK_ACQUIRE_FSM_H
#define ZKLOCK_ACQUIRE_FSM_H

#include "release_fsm.h"

#pragma GCC visibility push(hidden)

/* Appends `c`, in the state PARKED, to `queue`, and sets its timer to its
 * deadline. `wait_ops`: the way in which `c` waits. */
void acquire_fsm_begin(struct contender *c, struct queue *queue,
                       const struct wait_ops *wait_ops);
/* Sends the request that creates the node of `c`. Called when the queue has
 * admitted `c`, which is PARKED until then. */
void acquire_fsm_enter(struct contender *c);
/* Sends the request that `c` needs in its state, unless that request is in
 * flight or there is no connection. Can be called at any time. */
void acquire_fsm_drive(struct contender *c);

/* Grants the lock to `c`, because no node is ahead of it. But `c` first waits
 * if the lease must be renewed (lease_lasts), or a conflict must be excluded
 * (conflict.h). */
void acquire_fsm_be_first(struct contender *c);
/* Called when the lease was renewed. If `c` waited only for the lease, makes
 * `c` check its position in the queue again. */
void acquire_fsm_lease_renewed(struct contender *c);

/* Makes `c` create a new node, at the end of the queue, because its node does
 * not exist. */
void acquire_fsm_start_over(struct contender *c);
/* Makes `c` create a new node, because its node is missing from a list of
 * children. The old node may still exist on a server. If zklock knows the old
 * node's name, it deletes that node. */
void acquire_fsm_miss_node(struct contender *c);
/* Called when the node that `c` has found by its name (NODE_MADE) is gone or
 * belongs to another session. Makes `c` search lists for another node with its
 * id. */
void acquire_fsm_refute(struct contender *c);

/* Called at the end of a step. Returns the memory of `c` to its owner
 * (NEWS_FORGOTTEN) if three conditions hold: `c` is GONE, no reply to it is
 * outstanding, and its gate, if it has one, has ended. */
void acquire_fsm_settle(struct contender *c);

/* If the data of the node of `c` ask the holder to release the lock, reports
 * NEWS_REVOKED to the owner. If `c` does not hold the lock yet, the grant
 * reports it. */
void acquire_fsm_check_revocation(struct contender *c);
/* Watches the node of the holder `c`, to learn when the node is deleted.
 * Usually called only when the hold has lasted for a while. So a short hold
 * costs no request for the watch. */
void acquire_fsm_watch_own(struct contender *c);

/* Called when the timer of `c` has fired. Ends the wait or the hold, or repeats
 * a request. */
void acquire_fsm_on_timer(struct contender *c);
/* Called when the directory is missing and creating it failed: the operation
 * `what` with the code `rc`. Refuses `c` if it needs the directory for its node
 * (acquire_fsm_fail). */
void acquire_fsm_directory_failed(struct contender *c, const char *what,
                                  int rc);

#pragma GCC visibility pop

#endif
