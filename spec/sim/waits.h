/* Those who contend for nothing, and wait for what becomes of a node: users at
 * a barrier; and onlookers, who want to hear when whoever stands first in a
 * queue goes, when there are more contenders, or fewer, when a directory is
 * made. */
#ifndef SIM_WAITS_H
#define SIM_WAITS_H

#include "history.h"
#include "protocol/session.h"

struct world;
struct process;

enum { WAITS_MAX = 192 };

struct wait {
  struct node_wait node_wait;
  struct process *process;
  int number;
  int user; /* NOBODY: an onlooker */
  int path;
  int since; /* so much was committed when it began, */
  int seen;  /* and of that its server had shown so much */
  int64_t begun_at;
  bool cancelled, ended;
};

/* False: there is room for no more. */
bool wait_at_barrier(struct world *w, struct process *p, int user, int lock);
void onlooker_acts(struct world *w, struct process *p, int);
/* The user's side of it, in a batch. */
void wait_is_cancelled(struct world *w, struct process *p, int wait);
bool waits_are_over(const struct world *w, const struct process *p);

/* Is what it waits for so, as of this view? */
bool wait_is_met(struct world *w, const struct wait *wait, int view);

/* Those who were inside a double barrier and leave it together. */
enum { LEAVINGS_MAX = 96 };

struct leaving {
  struct barrier_leave barrier_leave;
  struct process *process;
  int number, acquisition;
  char own[NAME_MAX_OWN];
  /* The nodes of the others that were there when it began. */
  uint64_t members[NODES_MAX / 64];
  int64_t begun_at;
  bool cancelled, ended, forgotten;
};

/* False: there is room for no more. */
bool leaving_begins(struct world *w, struct process *p, int acquisition);
/* The user's side of it, in a batch. */
void leaving_is_cancelled(struct world *w, struct process *p, int leaving);
bool leavings_are_over(const struct world *w, const struct process *p);

#endif
