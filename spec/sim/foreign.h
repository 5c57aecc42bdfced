/* Foreign clients: they contend by Apache Curator's rules, look at the tree as
 * the leader has it, and have no guard: they die, give up, downgrade. */
#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#include <stdint.h>

#include "protocol/name.h"

struct world;

enum { FOREIGNERS_MAX = 2 };

enum foreign_state {
  FOREIGN_IDLE,
  FOREIGN_OUTSIDE, /* a semaphore: waits for the inner mutex */
  FOREIGN_WAITING,
  FOREIGN_HOLDING,
  FOREIGN_LEAVING,  /* a double barrier: waits for the others to leave, */
  FOREIGN_SHUTTING, /* and takes `ready` away */
};

struct foreigner {
  enum foreign_state state;
  int session; /* NOBODY: none */
  int lock;
  int left;         /* acquisitions yet to begin */
  int node, gate;   /* NO_NODE: none */
  int64_t patience; /* until then it waits, */
  int64_t holds;    /* and holds */
};

void foreign_reset(struct world *w);
void foreign_acts(struct world *w, int number);

/* A impostor: makes nodes that no session owns, and that are spelled like
 * contenders, with numbers of its choice; deletes them, puts others in their
 * place, and puts some in the place of contenders' own.  Such nodes are waited
 * for, and nobody may be let in because of one that was there. */
enum { IMPOSTOR_NODES = 8 };

struct impostor {
  int left;                  /* acts yet to come */
  int session;               /* of what it makes that is owned; NOBODY: none */
  int nodes[IMPOSTOR_NODES]; /* that it has made; NO_NODE: none */
};

void impostor_reset(struct world *w);
void impostor_acts(struct world *w);
/* From now on it does nothing; what it has made, it takes away. */
void impostor_leaves(struct world *w);

/* Who sets barriers, and lifts them. */
void barriers_reset(struct world *w);
void barrier_acts(struct world *w, int lock);
/* From now on each is lifted once more, for good. */
void barriers_leave(struct world *w);

#endif
