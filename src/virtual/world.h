/* The world of this process: the ensembles that its clients can reach, all on the
 * scheduler's clock. */
#ifndef ZKLOCK_VIRTUAL_WORLD_H
#define ZKLOCK_VIRTUAL_WORLD_H

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* Stays until world_remove.  NULL: no memory, or too many. */
struct ensemble *world_add(const struct ensemble_settings *settings,
                           uint64_t seed);
/* Frees it.  False: clients are connected to it, and it stays. */
bool world_remove(struct ensemble *ensemble);
/* The one that has a link with this address; NULL: none has. */
struct ensemble *world_find(const char *address);
/* Calls this whenever an ensemble has done what was due. */
void world_call(void (*function)(void));

#pragma GCC visibility pop

#endif
