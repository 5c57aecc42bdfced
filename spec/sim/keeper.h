/* Who sets barriers, and lifts them. */
#ifndef SIM_KEEPER_H
#define SIM_KEEPER_H

struct world;

void keepers_reset(struct world *w);
void keeper_acts(struct world *w, int lock);
/* From now on each is lifted once more, for good. */
void keepers_leave(struct world *w);

#endif
