/* The end of a contender's life: refusal, release and loss, and then the
 * deletion of its node.  The delete is repeated until a server confirms it.
 * life.c has the states, and calls the functions at the end of this file. */
#ifndef ZKLOCK_LIFE_LEAVING_H
#define ZKLOCK_LIFE_LEAVING_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Deletes the node of `c`, if there is one.  A contender without a decision
 * begins again afterwards. */
void life_leave(struct contender *c);
/* LEAVING: continues once it is known whether there is a node. */
void life_go_on_leaving(struct contender *c);

/* Each of these does nothing if it comes too late. */
void life_refuse(struct contender *c, enum verdict why, int reason);
/* Refuses `c` because of `rc`: `what` failed for the first `length` bytes of
 * its directory's path (struct denial). */
void life_deny(struct contender *c, const char *what, size_t length, int rc);
/* Refuses `c` because the ACL of its node forbids reading.  No server would
 * tell whether the node still belongs to it. */
void life_deny_hidden(struct contender *c);
/* Does as life_deny.  But a patient contender waits if `rc` is transient. */
void life_fail(struct contender *c, const char *what, size_t length, int rc);
/* Refuses `c` because its deadline has passed. */
void life_time_out(struct contender *c);
void life_release(struct contender *c);
void life_lose(struct contender *c, enum loss why);
/* Ends a hold whose lease has run out. */
void life_lose_overdue(struct contender *c);
/* Ends a hold whose node is known to be gone. */
void life_lose_node(struct contender *c);
/* Decrements the counts of this session's waiters behind a node of `c` that was
 * just deleted. */
void life_count_down(struct contender *c);

/* Called for each contender: after a lost connection, at the end of the
 * ZooKeeper session, and at close. */
void life_disconnected(struct contender *c);
void life_session_ended(struct contender *c);
void life_close(struct contender *c);

/* ---- For life.c ---------------------------------------------------------- */

/* Submits the request that LEAVING needs; idempotent. */
void life_try_to_leave(struct contender *c);
/* LEAVING: handles the reply to OP_PING or OP_REMOVE. */
void life_leaving_answered(struct contender *c, enum op_kind asked_for,
                           const struct reply *reply);
/* Sets the timer of `c` to `pause` from now, or to its deadline if that is
 * earlier. */
void life_look_in(struct contender *c, int64_t pause);
/* Ends `c`: its node is gone. */
void life_finish(struct contender *c);

#pragma GCC visibility pop

#endif
