/* What must be true, whatever happens. */
#ifndef SIM_INVARIANTS_H
#define SIM_INVARIANTS_H

#include "protocol/session.h"

struct world;
struct process;
struct acquisition;
struct wait;
struct parting;

/* News, before it changes the acquisition. */
void invariants_told(struct world *w, const struct acquisition *a,
                     enum news news, enum refusal_code why);
/* A session's state, before `shown` is changed. */
void invariants_shown(struct world *w, const struct process *p,
                      enum session_state state);
/* After the news of a grant. */
void invariants_granted(struct world *w, struct acquisition *a);
/* A process has finished a batch. */
/* A batch begins: is it the first that could have been after a lease was
 * over? */
void invariants_on_time(struct world *w, const struct process *p);
void invariants_after_batch(struct world *w, struct process *p);
/* The part of that which is about what the session has written down
 * (books.c). */
void invariants_books(struct world *w, const struct process *p);
/* A round of this process has been answered. */
void invariants_proved(struct world *w, const struct process *p);
/* A hold has ended with its lease. */
void invariants_lease_over(struct world *w, const struct acquisition *a);
/* The leader is about to expire a session. */
void invariants_expiring(struct world *w, int session);
/* A foreign client holds a lock; of a semaphore, so many of them do. */
void invariants_foreign(struct world *w, int lock, bool reads, int permits);
/* The leader is about to delete a node at the wish of a client of ours. */
void invariants_deleting(struct world *w, int node);
/* One of our clients is about to delete what is another's, and could know. */
void invariants_anothers(struct world *w, int node);
/* A node has been removed at the wish of a client. */
void invariants_removed(struct world *w, int node);
/* Those who contend for nothing, and the members of a double barrier
 * (moments.c).  A wait has ended; a barrier leave has. */
void invariants_waited(struct world *w, const struct wait *wait, bool met);
void invariants_departed(struct world *w, const struct parting *parting,
                         bool all);
/* A member is let in; it is not, for it would not wait, or not any longer. */
void invariants_gathered(struct world *w, const struct acquisition *a);
void invariants_not_gathered(struct world *w, const struct acquisition *a,
                             enum refusal_code why);
/* The node that it has, as its process knows; NO_NODE: none. */
int invariants_own_node(struct world *w, const struct acquisition *a);
/* This double barrier's `ready` is made. */
void invariants_invited(struct world *w, int ready);
/* The part of invariants_after_batch that is about these. */
void invariants_moments(struct world *w, const struct process *p);
/* Everybody has finished. */
void invariants_at_end(struct world *w);

#endif
