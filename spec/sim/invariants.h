/* What must be true, whatever happens. */
#ifndef SIM_INVARIANTS_H
#define SIM_INVARIANTS_H

#include "protocol/session.h"

struct world;
struct process;
struct acquisition;
struct wait;
struct leaving;

/* News, and a session's state, before they change what is known. */
void invariants_told(struct world *w, const struct acquisition *a,
                     enum news news, enum refusal_code why);
void invariants_shown(struct world *w, const struct process *p,
                      enum session_state state);
/* After the news of a grant, and of a hold that ended with its lease. */
void invariants_granted(struct world *w, struct acquisition *a);
void invariants_lease_over(struct world *w, const struct acquisition *a);
/* A batch begins: is it the first that could have been after a lease was over?
 * It has ended; invariants_counts.c and invariants_waits.c have parts of
 * that. */
void invariants_on_time(struct world *w, const struct process *p);
void invariants_after_batch(struct world *w, struct process *p);
void invariants_counts(struct world *w, const struct process *p);
void invariants_waits(struct world *w, const struct process *p);
/* A renewal of this process has been answered. */
void invariants_proved(struct world *w, const struct process *p);
/* The leader is about to expire a session, or to delete a node at the wish of a
 * client of ours: one that is another's, and the client could know; it has. */
void invariants_expiring(struct world *w, int session);
void invariants_deleting(struct world *w, int node);
void invariants_anothers(struct world *w, int node);
void invariants_removed(struct world *w, int node);
/* A foreign client holds a lock; of a semaphore, so many of them do. */
void invariants_foreign(struct world *w, int lock, bool reads, int permits);
/* A wait has ended; a barrier leave has. */
void invariants_waited(struct world *w, const struct wait *wait, bool met);
void invariants_departed(struct world *w, const struct leaving *leaving,
                         bool all);
/* This double barrier's `ready` is made.  A member is let in; it is not. */
void invariants_invited(struct world *w, int ready);
void invariants_gathered(struct world *w, const struct acquisition *a);
void invariants_not_gathered(struct world *w, const struct acquisition *a,
                             enum refusal_code why);
/* The node that it has, as its process knows; NO_NODE: none. */
int invariants_own_node(struct world *w, const struct acquisition *a);
/* Everybody has finished. */
void invariants_at_end(struct world *w);

#endif
