/* A stranger: makes nodes that no session owns, and that are spelled like
 * contenders, with numbers of its choice; deletes them, puts others in their
 * place, and puts some in the place of contenders' own.  Such nodes are waited
 * for, and nobody may be let in because of one that was there. */
#ifndef SIM_STRANGER_H
#define SIM_STRANGER_H

struct world;

enum { STRANGER_NODES = 8 };

struct stranger {
  int left;                  /* acts yet to come */
  int session;               /* of what it makes that is owned; NOBODY: none */
  int nodes[STRANGER_NODES]; /* that it has made; NO_NODE: none */
};

void stranger_reset(struct world *w);
void stranger_acts(struct world *w);
/* From now on it does nothing; what it has made, it takes away. */
void stranger_leaves(struct world *w);

#endif
