/* Those who were inside a double barrier and leave it together. */
#ifndef SIM_PARTINGS_H
#define SIM_PARTINGS_H

#include "history.h"
#include "protocol/session.h"

struct world;
struct process;

enum { PARTINGS_MAX = 96 };

struct parting {
  struct barrier_leave barrier_leave;
  struct process *process;
  int acquisition;
  char own[NAME_MAX_OWN];
  /* The nodes of the others that were there when it began. */
  uint64_t members[NODES_MAX / 64];
  int64_t begun_at;
  bool cancelled, ended, forgotten;
};

/* False: there is room for no more. */
bool parting_begins(struct world *w, struct process *p, int acquisition);
/* The user's side of it, in a batch. */
void parting_is_cancelled(struct world *w, struct process *p, int parting);
bool partings_are_over(const struct world *w, const struct process *p);

#endif
