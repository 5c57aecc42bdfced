/* The state machine of a contender (one acquisition of a lock), for every way
 * of waiting (wait_ops.h). release_fsm.h declares the functions that refuse a
 * contender or end its hold, and that then delete its node. Only
 * acquire_fsm_settle, which runs at the end of a step, removes a contender from
 * its queue. It also returns the contender's memory to its owner. */
#ifndef ZKLOCK_ACQUIRE_FSM_H
#define ZKLOCK_ACQUIRE_FSM_H

#include "release_fsm.h"

#pragma GCC visibility push(hidden)

/* Begins an acquisition: appends `c`, in the state PARKED, to `queue`, and sets
 * its timer to its deadline. `wait_ops`: the functions for the kind of its
 * lock. */
void acquire_fsm_begin(struct contender *c, struct queue *queue,
                       const struct wait_ops *wait_ops);
/* Called when the queue admits `c`, which is PARKED until then. Sends the
 * request that creates the node of `c`. */
void acquire_fsm_enter(struct contender *c);
/* Sends the request that `c` needs in its state, unless that request is in
 * flight or there is no connection. Can be called at any time. */
void acquire_fsm_drive(struct contender *c);

/* Called when no node is ahead of `c`. Grants the lock to `c`. But if the lease
 * must be renewed first (lease_lasts), or a conflict must be excluded
 * (conflict.h), `c` waits for that. */
void acquire_fsm_be_first(struct contender *c);
/* Called when the lease was renewed. If `c` waited only for the lease, makes
 * `c` check its position in the queue again. */
void acquire_fsm_lease_renewed(struct contender *c);

/* Makes `c` create a new node at the end of the queue, because its old node
 * does not exist. */
void acquire_fsm_start_over(struct contender *c);
/* Makes `c` create a new node, because its node is missing from a list of
 * children. The old node may still exist on a server. If zklock knows the old
 * node's name, it deletes that node. */
void acquire_fsm_miss_node(struct contender *c);
/* Called when the node that `c` has found by its name (NODE_MADE) turns out to
 * be gone or another session's. Makes `c` search lists for another node with
 * its id. */
void acquire_fsm_refute(struct contender *c);

/* Called at the end of a step. Returns the memory of `c` to its owner
 * (NEWS_FORGOTTEN) if three conditions hold: `c` is GONE, no reply to it is
 * outstanding, and its gate, if it has one, has ended. */
void acquire_fsm_settle(struct contender *c);

/* Checks whether the data of the contender's node ask the holder to release the
 * lock. If so, reports NEWS_REVOKED to the owner. If `c` does not hold the lock
 * yet, reports it after the grant. */
void acquire_fsm_check_revocation(struct contender *c);
/* Watches the node of the holder `c`, to learn when the node is deleted.
 * Usually called only when the hold has lasted for a while. So a short hold
 * needs no request for the watch. */
void acquire_fsm_watch_own(struct contender *c);

/* Called when the timer of `c` has fired. Ends the wait or the hold, or repeats
 * a request. */
void acquire_fsm_on_timer(struct contender *c);
/* Called when zklock could not create the missing directory: the operation
 * `what` failed with the code `rc`. If `c` still needs the directory, calls
 * acquire_fsm_fail, which refuses `c` or lets it wait. */
void acquire_fsm_directory_failed(struct contender *c, const char *what,
                                  int rc);

#pragma GCC visibility pop

#endif
