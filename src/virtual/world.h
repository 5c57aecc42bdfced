/* The ensembles that the clients of this process can reach. All of them use the
 * scheduler's clock. */
#ifndef ZKLOCK_VIRTUAL_WORLD_H
#define ZKLOCK_VIRTUAL_WORLD_H

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* Adds an ensemble, which exists until world_remove is called. Returns NULL if
 * there are too many ensembles. */
struct ensemble *world_add(const struct ensemble_settings *settings,
                           uint64_t seed);
/* Frees an ensemble. If clients are connected to it, keeps it and returns
 * false. */
bool world_remove(struct ensemble *ensemble);
/* Returns the ensemble that has a link with this address, or NULL. */
struct ensemble *world_find(const char *address);
/* Sets a function that is called each time after the ensembles have performed
 * the actions that were due. */
void world_call(void (*function)(void));

#pragma GCC visibility pop

#endif
