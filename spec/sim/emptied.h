/* The ensemble comes back without its data. */
#ifndef SIM_EMPTIED_H
#define SIM_EMPTIED_H

struct world;

void emptied_plan(struct world *w);

/* Happenings.  `early`: not as the runbook says. */
void emptied_servers_end(struct world *w, int early);
void emptied_servers_begin(struct world *w, int early);

#endif
