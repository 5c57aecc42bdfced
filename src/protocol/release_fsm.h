/* The last states of a contender: a refusal, a release or a loss, and then the
 * deletion of its node. The delete is repeated until a server confirms it.
 * acquire_fsm.c describes all states, and calls the functions at the end of
 * this file. */
#ifndef ZKLOCK_RELEASE_FSM_H
#define ZKLOCK_RELEASE_FSM_H

#include "contender.h"

#pragma GCC visibility push(hidden)

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

#pragma GCC visibility pop

#endif
