/* What happens to a contender, whatever its way of waiting.  None of these frees
 * it, nor takes it out of its queue: that is done at the end of the step. */
#ifndef ZKLOCK_LIFE_H
#define ZKLOCK_LIFE_H

#include "contender.h"

#pragma GCC visibility push(hidden)

void life_begin(struct contender *c, struct queue *queue,
                const struct way *way);
/* PARKED, and it has its place: makes its node. */
void life_enter(struct contender *c);
/* Submits whatever the state calls for; idempotent. */
void life_drive(struct contender *c);

/* Nobody is ahead: it is granted, or has to wait for the lease. */
void life_be_first(struct contender *c);
/* The lease stands again. */
void life_proved(struct contender *c);
/* It is granted the node that another has held. */
void life_take_over(struct contender *c, struct contender *from);

/* Its node does not exist: it begins again at the tail. */
void life_start_over(struct contender *c);
/* Its node must go, if there is one: to begin again if nothing is decided. */
void life_leave(struct contender *c);
/* LEAVING, and it is known now whether there is a node. */
void life_go_on_leaving(struct contender *c);

/* Each is nothing if it comes too late. */
void life_refuse(struct contender *c, enum verdict why, int reason);
/* Because of `rc`, which we have met when we did `what` to so much of its
 * directory's path (struct denial). */
void life_deny(struct contender *c, const char *what, size_t length, int rc);
void life_release(struct contender *c);
void life_lose(struct contender *c, enum loss why);
/* The same, when the node is known to be gone. */
void life_lose_node(struct contender *c);

/* Its own node, or what may be it, was read: do the data ask it to let go? */
void life_hear_revocation(struct contender *c, const struct reply *reply);
/* A holder's own watch, armed late: an uncontended lock pays nothing. */
void life_watch_own(struct contender *c);

/* What happens to all of them. */
void life_due(struct contender *c);
void life_directory_failed(struct contender *c, const char *what, int rc);
void life_disconnected(struct contender *c);
void life_session_ended(struct contender *c);
void life_close(struct contender *c);

#pragma GCC visibility pop

#endif
