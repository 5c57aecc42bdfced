/* The ways out of a contender's life: it is refused, it releases, it loses; and
 * then its node goes, which is asked for until a server says that it is gone.
 * life.c has the states, and calls what stands below the line. */
#ifndef ZKLOCK_LIFE_LEAVING_H
#define ZKLOCK_LIFE_LEAVING_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Its node must go, if there is one: to begin again if nothing is decided. */
void life_leave(struct contender *c);
/* LEAVING, and it is known now whether there is a node. */
void life_go_on_leaving(struct contender *c);

/* Each is nothing if it comes too late. */
void life_refuse(struct contender *c, enum verdict why, int reason);
/* Because of `rc`, which we have met when we did `what` to so much of its
 * directory's path (struct denial). */
void life_deny(struct contender *c, const char *what, size_t length, int rc);
/* Because its node's ACL does not let us read it: no server tells us whether it
 * is ours still. */
void life_deny_hidden(struct contender *c);
/* The same, but where that may pass a patient one waits until it does. */
void life_fail(struct contender *c, const char *what, size_t length, int rc);
/* Its deadline is over. */
void life_time_out(struct contender *c);
void life_release(struct contender *c);
void life_lose(struct contender *c, enum loss why);
/* The same, when the lease is over. */
void life_lose_overdue(struct contender *c);
/* The same, when the node is known to be gone. */
void life_lose_node(struct contender *c);
/* Its node was deleted, by nobody else.  Those ahead of others of this session are
 * counted down as its own nodes go. */
void life_count_down(struct contender *c);

/* What happens to all of them. */
void life_disconnected(struct contender *c);
void life_session_ended(struct contender *c);
void life_close(struct contender *c);

/* ---- For life.c ---------------------------------------------------------- */

/* LEAVING: submits what that calls for; idempotent. */
void life_try_to_leave(struct contender *c);
/* LEAVING: what it has asked for (OP_PING, OP_REMOVE) was answered. */
void life_leaving_answered(struct contender *c, enum op_kind asked_for,
                           const struct reply *reply);
/* Its timer is due so much later, or at its deadline if it has one still. */
void life_look_in(struct contender *c, int64_t pause);
/* Nothing of it is left. */
void life_finish(struct contender *c);

#pragma GCC visibility pop

#endif
