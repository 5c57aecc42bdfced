/* The state machine of a contender (one acquisition of a lock), for every way
 * of waiting (struct wait_ops). The functions of release_fsm.c refuse a contender or
 * end its hold, and then delete its node. Only
 * acquire_fsm_settle, which runs at the end of a step, removes a contender from
 * its queue. It also returns the contender's memory to its owner. */
#ifndef ZKLOCK_ACQUIRE_FSM_H
#define ZKLOCK_ACQUIRE_FSM_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* A way of waiting: the functions in which the kinds of locks differ, except
 * their rules (rule.h). Each function is called at a fixed point of an
 * acquisition. */
struct wait_ops {
  /* Called when the queue admits a PARKED contender. Must call
   * acquire_fsm_enter, at once or later. */
  void (*enter)(struct contender *c);
  /* on_sent is called after the create was sent, on_created after its reply. */
  void (*on_sent)(struct contender *c);
  void (*on_created)(struct contender *c);
  /* Grants the lock if the contender has a node and is first in the queue.
   * Otherwise sends the requests that are needed to find this out. */
  void (*check)(struct contender *c);
  /* Does the same as `check`, but does not rely on earlier results: requests
   * them again. Called in QUEUED when the lease is valid again, or when the
   * timer fires before the deadline. */
  void (*check_again)(struct contender *c);
  /* Returns whether a LEAVING contender can now delete its node by its name. If
   * this is not known, sends the requests that show it. NULL: it always can. */
  bool (*may_remove)(struct contender *c);
  /* Called with each list of the directory that was requested after the
   * contender's create. */
  void (*on_listed)(struct contender *c, const struct listing *listing);
  /* Receives the news of the watches of the contender. */
  watch_handler *on_news;
  /* Stores in `c->blocker` the node that blocks the contender, for the
   * refusal's message. NULL: none. */
  void (*store_blocker)(struct contender *c);
  /* Called at the end of a step in which contender_settle_later was called.
   * Completes the work of the step for this way of waiting, then calls
   * acquire_fsm_settle. NULL: acquire_fsm_settle. */
  void (*settle)(struct contender *c);
};

/* The ways of waiting. queued_wait_ops: contenders are served in the order of
 * their nodes' sequence numbers. semaphore_wait_ops: permits, for which the
 * caller must set `gate` of struct contender. unfair_wait_ops: the contender
 * that creates the node `holder` has the lock. barrier_enter_wait_ops: the
 * members of a double barrier. */
extern const struct wait_ops queued_wait_ops, semaphore_wait_ops,
    unfair_wait_ops, barrier_enter_wait_ops;

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
 * (conflict.c), `c` waits for that. */
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

/* Functions of release_fsm.c: */

/* Deletes the node of `c`, if there is one, and then ends `c`. But if `c` was
 * neither granted the lock nor refused, it then begins again with another
 * node. */
void acquire_fsm_leave(struct contender *c);
/* Deletes the node of `c`, which is LEAVING, or ends `c` if it has no node.
 * Called when a reply or a list has shown whether `c` has a node. */
void acquire_fsm_continue_leaving(struct contender *c);

/* Refuses `c`. Does nothing if `c` was granted the lock or refused before. The
 * functions below that end a hold do nothing if the hold has ended. */
void acquire_fsm_refuse(struct contender *c, enum refusal_code why, int reason);
/* Refuses `c` because the operation `what` failed with `rc`. The message shows
 * the first `length` bytes of the directory's path (struct denial). */
void acquire_fsm_deny(struct contender *c, const char *what, size_t length,
                      int rc);
/* Refuses `c` because the ACL of its node forbids reading. Then zklock cannot
 * find out whether the node still belongs to `c`. */
void acquire_fsm_deny_hidden(struct contender *c);
/* Does the same as acquire_fsm_deny. But if `rc` is transient, a patient
 * contender waits instead. */
void acquire_fsm_fail(struct contender *c, const char *what, size_t length,
                      int rc);
/* Refuses `c` because its deadline has passed. */
void acquire_fsm_time_out(struct contender *c);
/* Ends a hold, and deletes its node. */
void acquire_fsm_release(struct contender *c);
/* Ends a hold as lost, reports NEWS_LOST, and deletes its node. */
void acquire_fsm_lose(struct contender *c, enum loss why);
/* Ends a hold as lost, because its lease or its maximum time is over. */
void acquire_fsm_lose_overdue(struct contender *c);
/* Ends a hold whose node was deleted. */
void acquire_fsm_lose_node(struct contender *c);
/* Decrements the number of nodes ahead in the views of this session's waiters
 * behind `c`, whose node was just deleted. */
void acquire_fsm_count_down(struct contender *c);

/* Called for each contender: acquire_fsm_disconnected when the connection is
 * lost, acquire_fsm_session_ended when the ZooKeeper session ends,
 * acquire_fsm_close when the user closes the session. */
void acquire_fsm_disconnected(struct contender *c);
void acquire_fsm_session_ended(struct contender *c);
void acquire_fsm_close(struct contender *c);

/* Called only by acquire_fsm.c: */

/* Sends the request that `c` needs in LEAVING: to find its node, to check its
 * owner, or to delete it. Sends nothing if that request is in flight. */
void acquire_fsm_try_to_leave(struct contender *c);
/* Continues LEAVING after the reply to OP_PING (which reads the owner) or
 * OP_REMOVE: deletes the node, tries again later, or ends `c`. */
void release_fsm_on_reply(struct contender *c, enum op_kind asked_for,
                          const struct reply *reply);
/* Sets the timer of `c` to `pause` from now, or to the deadline of `c` if that
 * is earlier. */
void acquire_fsm_retry_in(struct contender *c, int64_t pause);
/* Called when the node of `c` is gone. Ends `c`. But if `c` was neither granted
 * the lock nor refused, makes it begin again. */
void acquire_fsm_finish(struct contender *c);

/* Conflicts (conflict.c): locks of different kinds on one path do not exclude
 * each other. So a contender is refused if a lock of another kind is in use on
 * its path. zklock checks each contender once, before it is granted the lock.
 * The check never ends a hold. */

/* Returns true if `listing` shows no sign of a lock of another kind. `own` is
 * the contender's entry in that list, which was requested after its create.
 * Otherwise returns false, and reads the owners of the suspect nodes: without a
 * live owner, a node is no conflict. The contender waits in QUEUED for the
 * replies. Then it is refused, or continues. */
bool conflict_is_excluded(struct contender *c, const struct listing *listing,
                          const struct entry *own);
/* Returns whether `c` can be granted the lock now. Makes the same check for
 * unfair locks and semaphores, whose own lists cannot show nodes of other
 * kinds. So it lists the path and returns false, unless this session has
 * checked the path within a session timeout. */
bool conflict_permits_grant(struct contender *c);
/* Returns when this session last listed the path for such a check; long ago, if
 * it does not remember. */
int64_t conflict_checked_at(const struct contenders *all, const char *path);
/* Returns whether a node of another kind was seen, but not yet for long enough
 * to prove a conflict. Called when the contender's deadline has passed, to
 * choose the refusal code. */
bool conflict_is_suspected(const struct contender *c);

#pragma GCC visibility pop

#endif
