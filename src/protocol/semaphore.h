/* The semaphore: permits, behind a gate. */
#ifndef ZKLOCK_SEMAPHORE_H
#define ZKLOCK_SEMAPHORE_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* A permit's: its contender has memory for another, `gate`. */
extern const struct way semaphore_way;

#pragma GCC visibility pop

#endif
