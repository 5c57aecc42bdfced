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

#endif
